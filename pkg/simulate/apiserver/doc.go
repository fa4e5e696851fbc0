// Package apiserver is a kube-apiserver without a network and without a store of its own:
// a [Server] has the API server's own handlers of custom resources and of the built-in
// kinds, and answers each request for the world that its transport belongs to.
//
//	request -> Transport -> the handler of custom resources -> registry.Store -> storage
//	                             \-> builtin.Kinds -----------------^
//
// A definition is read when its resource is first asked for. A Server is not for ever: it
// leaves nothing behind that is not collected with it.
//
// # Differences
//
// Known differences from kube-apiserver 1.37, besides those of the package builtin:
//
//   - A [Server] accepts definitions that a real one would refuse for less than that it
//     cannot serve them. [Refused] tells what a real one says of them, but for those that
//     would take too long to check.
//   - Conversion webhooks are not asked: all versions of a resource have the same fields.
//     Nor are any other webhooks, or policies.
//   - There is no discovery, and nothing can be watched. Lists have no pages.
//   - Namespaces need not exist.
//   - Generated names of custom resources are random; the engine generates its own.
//   - A Pod whose grace is shortened, but not to zero, gets the shortest grace there is.
package apiserver

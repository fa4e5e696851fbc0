// Package informer keeps caches of what rules watch and read: one informer for each (GVR, namespace, label
// selector, field selector), each with a context of its own, so that one can be stopped without the others. The client-go
// factory cannot do that (kubernetes#79610, #138800).
//
//	Want(keys)             the informers that run
//	Deny(keys)             those that must not run, until they are not denied any more
//	Handler.Changed        an object of a cache has changed: its name, and what it was and is
//	View(key, name)        what the cache has of an object
//	Version(key)           the resourceVersion up to which the cache is complete
//	Read(question)         the objects that answer, by indexes that are added when first asked for
//
// The informers of one API server, of one set or several, have a [Shared]: the turns of first lists, the objects that several
// caches hold, and what is known of the health of the API server.
//
// It does not know rules, and it never writes.
package informer

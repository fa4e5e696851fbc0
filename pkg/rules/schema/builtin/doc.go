// Package builtin knows the resources that Kubernetes itself serves, without a
// cluster. What it knows is generated from Kubernetes' own documents and code by
// test/cluster/builtin, for which see `make generate`: all versions that the
// Kubernetes of test/cluster/go.mod serves, alpha ones included, with the fields
// behind feature gates.
//
// Beyond OpenAPI, fields say whether defaulting or the encoding of Go put them into
// every object, and whether their zero value is kept. What admission adds, such as
// the clusterIP of a Service, counts as absent where nobody writes it.
package builtin

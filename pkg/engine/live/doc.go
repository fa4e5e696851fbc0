// Package live reads objects from the API server itself, past every cache.
//
// It answers where a cache cannot be trusted: whether a named object is really absent, before something is deleted or created
// because of that, and which objects have marks or finalizers of rules that are gone. A question is a [plan.Read], as it is to
// a cache, and the answer is that of a complete cache.
//
// A read that the API server refuses until later fails at once, and its error says when to come back
// (apierrors.SuggestsClientDelay). client-go would wait within the worker that reads, up to ten times, and one overloaded
// resource would hold up all workers. The engine's queue does the waiting, as it does for writes.
package live

// Package live reads objects from the API server itself, past every cache.
//
// It is for what a cache cannot be trusted with: that a named object is not there,
// before something is deleted or made because of that, and what carries marks or
// finalizers of rules that nobody watches any more. A question is a [plan.Read], as
// it is to a cache, and the answer is that of a cache that has seen everything.
//
// Nothing is read twice because the API server said so: a read that is told to come
// back later fails at once, and its error says when (apierrors.SuggestsClientDelay).
// client-go would wait within the worker that reads, up to ten times, and one
// resource that is overloaded would hold up all workers. The engine's queue does the
// waiting, as it does for writes.
package live

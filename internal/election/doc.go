// Package election chooses one of several processes by a Lease, and keeps one
// that is not chosen any more from writing.
//
// The Lease says what k8s.io/client-go/tools/leaderelection writes, so that both can
// compete for one. That package links the typed clients of all of Kubernetes, and leaves
// three things to others:
//
//   - Who waits follows the Lease by a watch, and asks for it at the moment at
//     which it expires or is released, rather than at the next of its attempts.
//     From the last write of a leader that was killed to the first of the next
//     thus pass the lease duration and some milliseconds, with few renewals.
//   - A leader that ends goes on renewing the lease until its work has returned,
//     and releases it then.
//   - The [Fence] bounds writes by the renew deadline. A leader that could not
//     renew the lease, or that was stopped and does not know how much time went
//     by, sends none any more.
//
// The fence compares two readings of the clock right before something is sent.
// It does not rely on timers: a process that goes on after SIGSTOP finds all of
// them due at once, in an order that nobody promises. What a fence cannot prevent
// is that a process is stopped between the comparison and the system call behind
// it, and that a request lies about on its way. Hence it is one of two: every
// write carries the uid and the resourceVersion of what it was decided by, and
// the API server refuses it once the next leader has changed the object.
package election

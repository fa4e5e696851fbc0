// Package write turns the operations of a plan into guarded requests, sends
// them, and says in one word what the answer means.
//
// Every change and deletion carries the uid and the resourceVersion of the object
// that the plan was made from: neither alone is enough (a status patch of a custom
// resource with a wrong uid and no resourceVersion is written). A create, and an
// apply to what has no uid, can only make an object. Nothing is ever repeated here:
// an answer other than success means that the plan is out of date or cannot be
// carried out, and both are for the engine to judge. An operation is one request,
// but for an apply that leaves fields behind, which are given up first.
//
// What the caches must show of a write before the engine goes on is its [Echo].
//
// Look-ups that an operation wants confirmed ([plan.Operation.Confirm]) are not
// this package's business: the engine has confirmed them.
//
// A dry run is another writer, not a branch in this one: see [NewServerDryRun]
// and [ClientDryRun].
package write

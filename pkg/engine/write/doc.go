// Package write turns the operations of a plan into guarded requests, sends
// them, and says in one word what the answer means.
//
//	client.go   Client.Write: operation -> Request: the body with the guards; sends it, reads what the caches have missed
//	            -> Echo: what the caches must show before the engine goes on
//	answer.go   Classify: error -> Class; Error: its text without values
//	events.go   Recorder: Events
//
// Every change and deletion carries the uid and the resourceVersion of the object
// that the plan was made from. Neither alone is enough: a status patch of a custom
// resource with a wrong uid and no resourceVersion is written. A create, and an
// apply to a target without a uid, can only make an object. Nothing is ever repeated here:
// an answer other than success means that the plan is out of date or cannot be
// carried out, and the engine decides what to do. An operation is one request. Only
// an apply that leaves fields behind has a patch before it, which gives them up.
//
// Look-ups that an operation wants confirmed ([plan.Operation.ToConfirm]) are confirmed by the engine.
//
// A dry run is another writer, not a branch in this one: see [Client.DryRun]
// and [ClientDryRun].
package write

// Package write turns the operations of a plan into guarded requests, sends
// them, and says in one word what the answer means.
//
// Every request carries the uid and the resourceVersion of the object that the
// plan was made from: neither alone is enough (a status patch of a custom
// resource with a wrong uid and no resourceVersion is written). Nothing is
// ever repeated here: an answer other than success means that the plan is out
// of date or cannot be carried out, and both are for the engine to judge.
//
// A dry run is another writer, not a branch in this one: see [NewServerDryRun]
// and [ClientDryRun].
package write

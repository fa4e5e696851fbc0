// Package plan is what a set of rules wants done to objects, as plain data.
//
// Rules turn a snapshot into wishes, one for each action and object. [Build]
// turns the wishes into operations:
//
//	wishes -> conflicts withheld -> joined per object -> no-ops removed -> operations
//
// An operation becomes one request: a patch of what is there, with the fields
// of several rules and their finalizers, an apply of one rule, a new object, or
// a deletion. A [Read] is a question about other objects that led there.
//
// Nothing here reads a clock, a cluster or a log: the same wishes always give
// the same plan, in the same order. Nothing here sends a request either, or
// guards one with the version of the object.
package plan

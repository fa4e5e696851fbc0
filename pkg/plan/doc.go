// Package plan is what a set of rules wants done to objects, as plain data.
//
// Rules turn a snapshot into wishes, one for each action. [Build] turns the
// wishes into operations:
//
//	wishes -> conflicts withheld -> joined per object -> no-ops removed -> operations
//
// An operation becomes one request. Nothing here reads a clock, a cluster or a
// log: the same wishes always give the same plan, in the same order.
package plan

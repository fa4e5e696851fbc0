// Package priorityqueue orders what waits for a worker: what has just changed goes before what
// is looked at once more.
//
// A start, a change of the rules and a cache that has been listed anew queue every
// object there is, and what failed is tried again and again. Somebody who changes one
// object meanwhile does not wait for all that. Nor does the rest wait for ever: every
// [Turns]th turn is its own for as long as there is any.
package priorityqueue

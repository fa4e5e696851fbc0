// Package workers keeps a few workers at work although some of them wait for answers that do not come.
//
// A pool has so many places to work. A worker that waits longer than a [Moment] for an answer of the API server gives its place
// to a substitute, and works on when the answer is there; for a while there is one more then. So a resource that is slow, or
// whose webhook is, costs no place.
//
// Nor may it cost substitutes without end: of those that wait, only so many may do so for the same resource and rule, or for
// the same resource. Who asks beyond that is told at once that it is [ErrCrowded], and comes back later.
package workers

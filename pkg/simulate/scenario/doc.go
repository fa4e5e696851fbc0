// Package scenario runs rules on a simulated cluster, and tells what they do there: the
// engine of the controller, with a queue that is always in the same order, on a clock
// that goes on only where it is told to.
//
//	objects, rules -> Start -> Settle -> Phase: decisions, writes, Events, changed objects
//	                     ^-- Advance, Next, Apply, Patch, Delete --/
package scenario

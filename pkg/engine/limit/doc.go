// Package limit holds rules to their blast radius: it counts for how many objects a rule has written within its sliding window,
// and pauses a rule that is about to pass its limit.
//
//	Follow -> Admit -> a write -> Observe
//
// A pause outlives the process: the inventory keeps what Store returns, of which the next one learns. So does what was
// counted, but for a tenth of the limit.
package limit

// Package guard is what may hold back the writes of rules. Inventory, conflicts, the circuit breaker, capacity and limits
// are guards, each in a package of its own. The loop of the engine asks them in the order of one list, and does not know
// which there are:
//
//	Begin -> (Admit -> the operation is sent, or not -> Observe)... -> Finish
//
// A new guard is a type that implements [Guard], and a row in the list.
package guard

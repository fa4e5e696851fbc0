// Package rules is the rule language: it reads rule sets, compiles them, and
// evaluates them on snapshots of objects.
//
//	document.File -> Load -> Set (immutable) -> Evaluate(Snapshot) -> plan.Plan
//
// It is pure: no clock, no network, no file, no log. The same snapshot always
// gives the same plan. Carrying the plan out is the engine's work.
package rules

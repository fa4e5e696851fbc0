// Package setstatus keeps the statuses of set objects true: what a status says, and
// writing it.
//
//	engine -> Tally (one for each engine): matched, writes, errors of each rule
//	Input (what is known of a set) -> Compose -> v1alpha1.Status
//	Writer.Run: Nudge or time -> []Update -> merge patch of /status, where it differs
//
// The conditions follow kstatus: Ready is always there, Reconciling and Stalled only
// while they are true. The inventory in a status belongs to somebody else, and is
// neither composed nor written here.
package setstatus

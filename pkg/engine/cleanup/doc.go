// Package cleanup takes away what rules that are gone have left in the cluster.
//
//	leftovers -> lists, live -> plan.Leftover.CleanUp -> guarded writes -> lists again -> nothing left
//
// It decides neither what is left over, which the inventory does, nor what of an
// object that is, which [plan.Leftover.CleanUp] does.
//
// Two things are the caller's. Nothing that still evaluates the old rules may be
// writing. And the rules that there are now must have been evaluated on all objects
// that they watch: a rule that has got another name takes the children of the old
// one over then, and they would be deleted under it otherwise.
package cleanup

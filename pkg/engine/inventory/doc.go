// Package inventory records what sets of rules may have left in the cluster, so
// that it can be cleaned up when a rule is gone, even one that went while the
// process was down.
//
//	rules.Set.Leftovers -> Book.With -> Part      before the first write
//	Part -> Book.Stale -> cleanup.Sweep -> Book.Without -> Part
//
// A book is stored in parts, a ConfigMap and the status of each set that is an object. A part is read together with what
// replaces it, and Join makes one of them:
//
//	Join(Object for each set, Scope(ConfigMap, of one account))
//
// A book only grows until something has been cleaned up. It does not say what is
// on which object: that is found by looking.
package inventory

// Package inventory records what sets of rules may have left in the cluster, so
// that it can be cleaned up when a rule is gone, even one that went while the
// process was down.
//
//	rules.Set.Leftovers -> Book.With -> Store     before the first write
//	Store -> Book.Stale -> cleanup.Sweep -> Book.Without -> Store
//
// A book is stored in parts, a ConfigMap and the status of each set that is an object. A part is read together with what
// replaces it, and Join makes one store of them:
//
//	Join(Object for each set, Scope(ConfigMap, of one account))
//
// A book only grows until something has been cleaned up. It does not say what is
// on which object: that is found by looking.
package inventory

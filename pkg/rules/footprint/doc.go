// Package footprint holds what rules read and write, as data: trees of fields,
// and for each resource the trees and the verbs. It is filled from compiled rules
// alone, before any object is seen, and errs only by naming too much.
//
//	expression, body, action -> Tree.Add, Access.Allow -> Footprint
//	Footprint -> cache (Access.Kept), event filter, RBAC, warnings, explain
//
// A tree says of a field how strongly it is read:
//
//	exists(spec.pd)       whether it is there, and what kind of value it is
//	len(spec.pods)        how many elements a list has, which keys a map has
//	spec.pd.replicas      its value, with all that is below
//	spec.pods[*].name     a field of every element of a list, [0] of the first
//	data.*                the value of every key of a map
//	*                     the whole object
//
// The package does not know expressions. While one is analysed, a [Shape] tells
// which fields its values can be, or are made of:
//
//	Object(tree).Key("spec") -> Shape -> Read(Value) -> Tree.Add
package footprint

// Package shape follows values through expressions without evaluating them: a
// [Shape] says which parts of which objects a value can be, or be built of.
//
//	Object(tree) -> Key, Items, ... -> Shape -> Read(strength) -> tree
//
// Going through a shape records that its kind matters, as going through a value of
// another kind is an error. Nothing else is recorded before it is read: a map that
// an expression builds and of which it takes one key reads only what is under that
// key. Where shapes grow too large to follow they are read as a whole, which is
// always safe.
package shape

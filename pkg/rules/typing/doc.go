// Package typing says what the values of expressions can be, before there are any.
//
//	Object(schema), Constant(v), ... -> Field, Items, ... -> Type -> Kinds, CanBeNil, ...
//	a condition that holds -> Facts -> Apply -> Type
//
// A [Type] follows a schema as far as there is one and what expressions build as far
// as they build it. Beyond, it is unknown: nothing is certain of it, and whoever
// checks has to be silent. Types that grow too large to follow keep no more than
// their kinds.
package typing

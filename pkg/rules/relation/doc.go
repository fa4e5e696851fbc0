// Package relation compiles the entries of `with` and answers them: which other
// objects a rule reads beside the one it watches.
//
//	document.Node -> Compile -> Relation -> Query -> plan.Read
//	                                    \-> Evaluate -> object or list
//	                                          Reader -> Source
//
// A [Relation] turns what was written into a question, a [plan.Read]. A [Reader]
// asks it on behalf of one evaluation, remembers it, and keeps for every object
// where it came from. A [Source] knows the objects.
//
// The package watches nothing and reads no cluster: whoever implements Source
// says which objects there are, and whether that is known at all. It does not
// order the names of a rule either; [Relation.Uses] says what must come first.
package relation

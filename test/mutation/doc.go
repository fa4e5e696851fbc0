// Package mutation asks whether the tests of the example rules would notice a mistake in the rules.
//
//	rule file -> Mutants: one operator, constant or field changed each -> simulate.Run -> Verdict
//
// [Mutants] changes the rules, [Example.Try] runs the cases of an example on what came out. A mutant that no case tells from
// the rules as they are has survived: a case is missing, or the change means nothing.
//
// Nothing here knows the grammar of expressions beyond their tokens. A change that makes no sense does not compile, and
// does not count.
package mutation

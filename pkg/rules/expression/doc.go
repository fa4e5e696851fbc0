// Package expression compiles and evaluates the expressions and templates of
// rules.
//
// The language is expr's, and package syntax reads it with expr's lexer and parser,
// so that what users know of expr holds. The evaluator is ours, because the contract differs
// from expr's virtual machine nearly everywhere: strict booleans, exact integers,
// what absent values mean, maps in order, and a budget that every operator and
// function draws on. ADR 0003 has the reasons.
//
//	text -> syntax.Tree -> expr's tree -> compiler -> Program: one Node for each part
//	Node -> evaluation, explanation (a recorder beside it), footprint (Shape), types (package check)
//	Evaluation{Names, Budget} -> Program.Eval -> value or *Error with its place
//
// Values are plain: nil, bool, int64, float64, string, []any and map[string]any.
// Input is never changed and results may share parts of it: filter, find, sortBy
// and take give the very maps they were given, so that whoever handed them in can
// recognise them.
//
// Where the language leaves a choice, it is made thus:
//
//   - A missing key and an index out of range are nil; reading on from nil is an
//     error, except after ?., which ends the whole path, and to the left of ??.
//   - spec, status, metadata.labels and metadata.annotations read as empty maps where
//     a path leads there from something with apiVersion and kind; in a pod
//     template, which has neither, they are nil like any other absent key.
//   - An empty list does not equal nil, though both are empty to every function.
//   - Integers divide to floats, and to integers with div; a power of integers is
//     an integer unless the exponent is negative.
//   - Lengths, indexes and slices of strings count characters.
//   - ceil, floor and round give integers.
//   - A let hides nothing: a name that is visible cannot be defined again.
//
// The package does not know rules, YAML, schemas or time. What is wrong with a value
// is found when it is evaluated; package check finds what can be told before.
package expression

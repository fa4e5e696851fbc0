// Package check finds the mistakes in an expression that can be told before there is
// an object: fields that a schema lacks, operands of the wrong kind, what may be
// absent where nothing can be, and comparisons that are never true.
//
//	Program, Names (types), Facts (what is present) -> Type of the result, errors
//
// It follows the values through the tree as the evaluator would, with types instead
// of values, and takes every branch. A mistake is reported only where it is certain:
// what nothing is known of is never complained about.
//
// Beside its type, every node tells what is known where it is true and where it is
// false, so that in x != nil && x.y > 1 the right side knows of x. What is known of a
// path also holds for a name that stands for it, and the other way round.
package check

// Package function is the table of functions that an expression may call, each a
// row with its parameters, its meaning, an example and its implementation. The
// compiler, the reference and the tests all read this one table.
//
// To add a function, write a row in table.go, among those of its subject, and its
// implementation in the file of its family. To the footprint it then reads all of
// its arguments; where it reads less of them, or gives parts of them, a flow in its
// row says so (flow.go). To the checker its result is any value of the kinds in its
// row; where more is known, its types say so (types.go).
//
// Functions are pure and deterministic: the same arguments give the same result,
// maps are visited in key order, no argument is changed. What takes time or memory
// in proportion to an argument is paid for from the budget before it is done.
package function

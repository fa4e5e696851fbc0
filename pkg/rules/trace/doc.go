// Package trace says how a rule came to what it decided about an object: what it asked,
// what it read, what it wants, and when it looks again.
//
// A [Trace] is plain data, the same for `explain`, for tests and for what a controller
// remembers. Its JSON is stable: fields are added, never renamed. Whoever fills it in has
// masked the values of Secrets, and bounds what is large; [Trace.Tree] is for people.
//
// The package is pure.
package trace

// Package printable keeps texts of others, such as names of files, values of objects and answers of an API server, from doing
// anything at a terminal or in a CI system but being read.
//
// [Line] and [Sprintf] make such a text part of a line. [Writer] is for all that a command writes: it lets nothing
// through that a terminal obeys, nor that a CI system takes for a command. What is escaped is escaped as in JSON, so that JSON
// stays JSON.
//
// The package is pure.
package printable

// Package hostile is the corpus of input that wants to exhaust the process: expressions, templates and rule documents,
// some of them checked against large schemas, and beside them heavy input that is legitimate. Each must be refused or stopped, or pass, within bounds of CPU time and
// memory; its test measures that in a child process, the program in probe, which has no race detector and Go's default
// settings, as a user's process has.
//
// A file that is refused, by a limit or for its mistakes, is refused within the bounds of hostile input. A file that is
// accepted has cost what any legitimate one of its size may; what its rules then do is stopped within the bounds.
//
// The cases are in testdata, one archive for each topic. A case is a text/template with the delimiters « and », so that
// 100,000 brackets are one short line; "repeat" writes a text many times, range takes a number, "add" adds two, and
// "head" begins a file of rules.
//
//	go test ./test/hostile -v            # the table of figures
//	go run ./test/hostile/probe NAME     # one case
package hostile

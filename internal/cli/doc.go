// Package cli is the command line: one file for each command.
//
//	Process -> Run -> command -> exit code
//
// A command is a thin shell: it turns flags into arguments of the packages
// below, and what they return into text and an exit code. Results go to the
// standard output, progress and logs to the standard error. Nothing here is
// global, so that a test can run any number of commands in one process.
package cli

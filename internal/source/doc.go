// Package source is where rules come from, and what is known of the objects they
// are about: files, directories, standard input.
//
//	paths -> Files.Load -> one whole, compiled rules.Set
//	          \-> Files.Watch: a change -> all is read again -> a Set, or why not
//	paths -> ReadCRDs -> the definitions of custom resources
//
// There are no half measures: a set is made of everything that the paths name,
// or not at all. A path that is empty or cannot be read is an error and never
// means that its rules were removed.
//
// What becomes of a new set, or of a bad one, is the caller's business.
package source

// Package source reads rules from files, directories, standard input and the cluster, and CRDs from files.
//
//	paths -> Files.Load -> one whole, compiled rules.Set
//	          \-> Files.Watch: a change -> all is read again -> a Set, or an error
//	paths -> ReadCRDs -> the definitions of custom resources
//	cluster -> Objects.List -> RuleSets and ClusterRuleSets as documents
//
// A set is made of everything that the paths name,
// or not at all. A path that is empty or cannot be read is an error and never
// means that its rules were removed.
//
// The caller decides what to do with a new set, or with an error.
package source

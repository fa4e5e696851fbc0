// Package spec is rule sets as they were written: documents of kind RuleSet and
// ClusterRuleSet, read strictly, every part with its place.
//
//	document.File -> Parse -> Set
//
// It knows which fields there are and what they may hold. What expressions mean,
// and whether names are known, is found by compiling.
package spec

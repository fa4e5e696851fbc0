// Package golden writes results as YAML that is the same every time and reads
// well, and reads it again, to be compared:
//
//	result -> Encode -> bytes of a file -> Parse \
//	                                              compare.Diff
//	result -> Tree ------------------------------/
//
// The comparison is of values: a golden may be reformatted and commented by
// hand. The package does no input or output and knows nothing of rules.
package golden

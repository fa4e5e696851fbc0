// Package golden reads results that are written as YAML, to be compared:
//
//	result -> compare.YAML -> bytes of a file -> Parse \
//	                                                    compare.Diff
//	result -> Tree ------------------------------------/
//
// The comparison is of values: a golden may be reformatted and commented by
// hand. The package does no input or output and knows nothing of rules.
package golden

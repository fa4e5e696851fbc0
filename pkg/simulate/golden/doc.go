// Package golden writes results as YAML that is the same every time and reads
// well, and says field by field how two of them differ.
//
//	result -> Encode -> bytes of a file
//	result -> Tree  \
//	                 Diff -> "writes[0].body.spec.replicas: want 4, have 6"
//	file   -> Parse /
//
// The comparison is of values: a golden may be reformatted and commented by
// hand. The package does no input or output and knows nothing of rules.
package golden

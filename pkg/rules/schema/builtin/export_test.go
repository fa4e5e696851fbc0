package builtin

import "github.com/dyncontroller/dyncontroller/pkg/rules/schema"

// Files are the embedded files.
var Files = data

// Fresh returns a source that has decoded nothing yet.
func Fresh() schema.Source { return load() }

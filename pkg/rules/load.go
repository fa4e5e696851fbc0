package rules

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Options are what a document leaves to where it is used.
type Options struct {
	// DefaultNamespace is that of a RuleSet that names none.
	DefaultNamespace string
	// Params replace constants of the sets.
	Params []Param
	// Sensitive reports whether rules may write a kind of [SensitiveKinds]; those that
	// write another one are refused. Nil allows all and has a note of each, as for
	// checking alone.
	Sensitive func(kind string) bool
	// Schemas say what the objects look like. Nil knows nothing, so nothing is checked
	// that needs it.
	Schemas *schema.Catalog
}

// Load parses and compiles files of rules into one set. It finds all errors of
// all files; of a file that is not YAML, the first. Documents of kind RuleTest
// are passed over, so that a folder may hold both. Comments may have warnings left out:
// see [document.Ignore].
func Load(files []document.File, options Options) (*Set, document.Errors) {
	sets, errs := spec.Parse(files, options.DefaultNamespace)
	if len(errs) > 0 {
		options.Params = nil // Whether a set that cannot be read has them is not known.
	}
	if errs.Enough() {
		return nil, errs.Sorted() // What was not read any more would seem to be missing.
	}
	compiled, compileErrs := Compile(sets, options)
	errs = append(errs, compileErrs...)
	if compiled == nil || len(errs.Of(document.Mistake)) > 0 {
		return nil, document.Ignore(files, errs)
	}
	compiled.warnings = document.Ignore(files, compiled.warnings)
	return compiled, nil
}

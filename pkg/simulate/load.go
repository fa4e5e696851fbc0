package simulate

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// defaultNamespace is that of a RuleSet under test that names none.
const defaultNamespace = "default"

// Load reads the RuleTests in a file and compiles their rules, without schemas. It
// finds all errors of all files that they name, but for objects and goldens,
// which are for the cases to read. A file that holds only rule sets has no
// tests, which is no error.
func Load(path string, files Files) ([]*Test, document.Errors) { return load(path, files, nil) }

func load(path string, files Files, schemas *schema.Catalog) ([]*Test, document.Errors) {
	data, err := files.ReadFile(path)
	if err != nil {
		return nil, document.Errors{{File: path, Message: "cannot read the file: " + cause(err).Error()}}
	}
	tests, errs := parse(document.File{Name: path, Data: data})
	for _, test := range tests {
		errs = append(errs, test.loadRules(files, schemas)...)
	}
	if len(errs) > 0 {
		return nil, errs.Sorted()
	}
	return tests, nil
}

func (t *Test) loadRules(files Files, schemas *schema.Catalog) document.Errors {
	var all []document.File
	var errs document.Errors
	for _, named := range t.rules {
		found, wrong := named.readAll(files)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		all = append(all, found...)
	}
	set, rulesErrs := rules.Load(all, rules.Options{DefaultNamespace: defaultNamespace, Carries: Carries, Runner: Runner, Schemas: schemas})
	t.set = set
	return append(errs, rulesErrs.Of(document.Mistake)...)
}

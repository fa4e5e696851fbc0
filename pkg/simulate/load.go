package simulate

import (
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// defaultNamespace is that of a RuleSet under test that names none.
const defaultNamespace = "default"

// Load reads the RuleTests in a file and compiles their rules, with the definitions of
// custom resources that they name. It finds all errors of all files that they name, but
// for objects and goldens, which are for the cases to read. The tests are those without
// any: one that is broken does not keep the others from being run. A file that holds only
// rule sets has no tests, which is no error.
func Load(path string, files Files) ([]*Test, document.Errors) { return load(path, files, nil) }

func load(path string, files Files, given []*crd.Definition) ([]*Test, document.Errors) {
	data, err := files.ReadFile(path)
	if err != nil {
		return nil, document.Errors{{File: path, Message: "cannot read the file: " + cause(err).Error()}}
	}
	all, errs := parse(document.File{Name: path, Data: data})
	var tests []*Test
	for _, test := range all {
		wrong := test.load(files, given)
		errs = append(errs, wrong...)
		if !test.broken && len(wrong) == 0 {
			tests = append(tests, test)
		}
	}
	return tests, errs.Sorted()
}

// load reads what the test names but for what its cases do.
func (t *Test) load(files Files, given []*crd.Definition) document.Errors {
	own, errs := t.readCRDs(files)
	t.defined = slices.Concat(own, without(own, given))
	var all []document.File
	for _, named := range t.rules {
		found, wrong := named.readAll(files)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		all = append(all, found...)
	}
	t.known = schema.NewCatalog(crd.NewSource(t.defined), builtin.Source())
	options := rules.Options{DefaultNamespace: defaultNamespace}
	sets, wrong := spec.Parse(all, defaultNamespace)
	if len(wrong) == 0 { // What is wrong with them is told where they are compiled.
		var unresolved document.Errors
		options.Params, unresolved = t.resolve(sets)
		errs = append(errs, unresolved...)
	}
	guesser := guesser{t.known, t.objects(files)}
	options.Schemas = schema.NewCatalog(crd.NewSource(t.defined), builtin.Source(), guesser)
	set, rulesErrs := rules.Load(all, options)
	if t.set = set; set != nil {
		t.guesses = guesser.among(set)
		errs = append(errs, t.oneIdentity(set)...)
	}
	return append(errs, rulesErrs.Of(document.Mistake)...)
}

// oneIdentity refuses rules that are not evaluated together where they run: a test has
// one engine.
func (t *Test) oneIdentity(set *rules.Set) document.Errors {
	if len(set.Identities()) < 2 {
		return nil
	}
	return document.Errors{t.rules[len(t.rules)-1].node.Errorf("make a test of each",
		"the rules of the test act as several ServiceAccounts, and each acts on its own")}
}

// without leaves out what the test itself defines: which of two definitions is meant must
// be the same wherever they are used.
func without(own, given []*crd.Definition) []*crd.Definition {
	return slices.DeleteFunc(slices.Clone(given), func(d *crd.Definition) bool {
		return slices.ContainsFunc(own, func(of *crd.Definition) bool { return resourceDefined(of) == resourceDefined(d) })
	})
}

func resourceDefined(d *crd.Definition) apischema.GroupResource {
	return apischema.GroupResource{Group: d.Group, Resource: d.Plural}
}

package simulate

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
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
		found, wrong := named.readAll(files, false)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		all = append(all, found...)
	}
	options := rules.Options{DefaultNamespace: defaultNamespace}
	sets, wrong := spec.Parse(all, defaultNamespace)
	if len(wrong) == 0 { // What is wrong with them is told where they are compiled.
		var unresolved document.Errors
		options.Params, unresolved = t.resolve(sets)
		errs = append(errs, unresolved...)
	}
	guesser := newGuesser(t.defined, t.objects(files))
	t.known, options.Schemas = guesser.known, guesser.catalog()
	set, rulesErrs := rules.Load(all, options)
	if t.set = set; set != nil {
		t.guesses = guesser.among(set)
		for i, g := range t.guesses {
			t.guesses[i].status = g.status || t.writesStatus(g)
		}
		if len(set.Identities()) > 1 { // They are not evaluated together where they run: a test has one engine.
			errs = append(errs, t.rules[len(t.rules)-1].node.Errorf("make a test of each",
				"the rules of the test act as several ServiceAccounts, and each acts on its own"))
		}
	}
	return append(errs, rulesErrs.Of(document.Mistake)...)
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

// Set are the rules of the test. It is for who plays its cases on another cluster.
func (t *Test) Set() *rules.Set { return t.set }

// Now is the instant at which the cases begin.
func (t *Test) Now() time.Time { return t.now }

// Definitions are those of custom resources that the cluster of a case has, with those
// that are guessed.
func (t *Test) Definitions() []*crd.Definition { return withGuesses(t.defined, t.guesses) }

// Objects reads those that are in the cluster when the case begins, as they are stored.
func (c *Case) Objects(files Files) ([]map[string]any, document.Errors) {
	found, errs := readObjects(c.objects, files)
	return contents(found), errs
}

// Files is the file system that tests live in. Paths are those of the caller,
// and what a test names joined with them, which may lead up through "..", or be absolute: where tests
// may be those of a stranger, an implementation must refuse what it is not meant for. Its methods are
// those of package os.
type Files interface {
	ReadFile(path string) ([]byte, error)
	// ReadDir lists a directory by name; it is an error for anything else.
	ReadDir(path string) ([]fs.DirEntry, error)
	// WriteFile makes the directory if there is none.
	WriteFile(path string, data []byte) error
}

// place is a path as a test names it, and where it does.
type place struct {
	path string
	node *document.Node
}

// beside resolves a path that a file names.
func beside(file, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(file), path)
}

func (p place) read(files Files) (document.File, *document.Error) {
	data, err := files.ReadFile(p.path)
	if err != nil {
		return document.File{}, p.node.Errorf("paths are relative to the file that names them", "cannot read %q: %v", p.path, cause(err))
	}
	return document.File{Name: p.path, Data: data}, nil
}

// readAll reads the file, or the YAML files in the directory, and where it is deep in all below it.
func (p place) readAll(files Files, deep bool) ([]document.File, *document.Error) {
	names, directory := yamlFiles(files, p.path, deep)
	var out []document.File
	for _, name := range names {
		file, wrong := place{path: name, node: p.node}.read(files)
		if wrong != nil {
			return nil, wrong
		}
		out = append(out, file)
	}
	if directory && !deep && len(out) == 0 {
		return nil, p.node.Errorf("", "there is no YAML file in the directory %q", p.path)
	}
	return out, nil
}

// yamlFiles lists the YAML files in a directory in order, and where it is deep in all its folders but hidden
// ones. What is no directory, or cannot be listed, is returned as it is: reading it says what is wrong with it.
func yamlFiles(files Files, path string, deep bool) (found []string, directory bool) {
	entries, err := files.ReadDir(path)
	if err != nil {
		return []string{path}, false
	}
	for _, entry := range entries {
		below := filepath.Join(path, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir() && deep:
			more, _ := yamlFiles(files, below, true)
			found = append(found, more...)
		case !entry.IsDir() && isYAML(entry.Name()):
			found = append(found, below)
		}
	}
	return found, true
}

// isYAML goes by the name of a file. JSON is YAML.
func isYAML(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// cause leaves out the path, which messages name already.
func cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return cmp.Or(failed.Err, err)
	}
	return err
}

// readCRDs reads the files that the test names, and those in the directories that
// it names, with all their folders but hidden ones. Each place must hold a
// CustomResourceDefinition, which an API server takes.
func (t *Test) readCRDs(files Files) ([]*crd.Definition, document.Errors) {
	var out []*crd.Definition
	var errs document.Errors
	first := map[apischema.GroupResource]string{} // the file that defines it
	for _, named := range t.crds {
		found, wrong := named.readAll(files, true)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		before := len(out)
		for _, file := range found {
			definitions, err := crd.Read(file.Name, file.Data, apiserver.Refused)
			if mistakes, are := errors.AsType[document.Errors](err); are {
				errs = append(errs, mistakes...)
			} else if err != nil {
				errs = append(errs, named.node.Errorf("", "%v", err))
			}
			for _, d := range definitions {
				resource := resourceDefined(d)
				if before, defined := first[resource]; defined { // A cluster has one definition of a resource.
					errs = append(errs, named.node.Errorf("keep one of them", "%s is defined twice, in %s and in %s", resource.String(), before, file.Name))
					continue
				}
				first[resource] = file.Name
			}
			out = append(out, definitions...)
		}
		if len(out) == before && len(errs) == 0 {
			errs = append(errs, named.node.Errorf("", "%s holds no CustomResourceDefinition", named.path))
		}
	}
	return out, errs
}

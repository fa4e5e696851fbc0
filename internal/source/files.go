package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Stdin is the path of standard input.
const Stdin = "-"

// Files are rules in files. It is not for concurrent use.
type Files struct {
	paths   []string
	stdin   io.Reader
	options rules.Options
	// kept is what could be read only once: standard input and pipes.
	kept map[string][]byte
	// seen is what the last load was made of, and sound whether rules came of it.
	seen  digest
	sound bool
	// schemas may know more than options do, nil where nobody does.
	schemas Schemas
}

// Schemas is asked what the objects look like, before rules are compiled and while
// they are watched.
type Schemas interface {
	// Ask returns what is known of resources, and whether it is something else than the
	// last time. It returns soon, also where it learns nothing.
	Ask(ctx context.Context, wanted []apischema.GroupVersionResource) (known *schema.Catalog, news bool)
}

// New returns the files that the paths name, read from by nobody yet. A path is
// a file, a directory, or "-" for stdin. Of a directory, the files named
// *.yaml, *.yml and *.json belong to it, but not its folders, nor names that
// start with a dot.
func New(paths []string, stdin io.Reader, options rules.Options) *Files {
	f := &Files{stdin: stdin, options: options, kept: map[string][]byte{}}
	for _, path := range paths {
		if path != "" {
			path = filepath.Clean(path)
		}
		if !slices.Contains(f.paths, path) {
			f.paths = append(f.paths, path)
		}
	}
	return f
}

// Error is everything that kept rules from being loaded.
type Error struct {
	// Unusable are the paths that could not be read or hold no rules.
	Unusable []error
	// Mistakes are those in the files that could be read.
	Mistakes document.Errors
}

// Error implements error, with one line for each cause.
func (e *Error) Error() string {
	var lines []string
	for _, err := range e.Unwrap() {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each cause.
func (e *Error) Unwrap() []error { return append(slices.Clone(e.Unusable), e.Mistakes.Unwrap()...) }

// Load reads all files and compiles their rules. Its errors are of type
// [*Error].
func (f *Files) Load() (*rules.Set, error) { return f.load(f.read(), f.options.Schemas) }

// LoadAsking is like [Files.Load], by what schemas know rather than by the options.
// They are asked again by [Files.Watch].
func (f *Files) LoadAsking(ctx context.Context, schemas Schemas) (*rules.Set, error) {
	f.schemas = schemas
	contents := f.read()
	known, _ := schemas.Ask(ctx, f.named(contents))
	return f.load(contents, known)
}

func (f *Files) load(contents []content, known *schema.Catalog) (*rules.Set, error) {
	f.seen = digestOf(contents)
	set, err := f.compile(contents, known)
	f.sound = err == nil
	return set, err
}

// Sets returns as much of the sets as can be read, whether the rules are right or not:
// who is writing them needs to know what they name. Its errors are of type [*Error],
// and come beside the sets.
func (f *Files) Sets() ([]*spec.Set, error) {
	files, failed := f.usable(f.read())
	sets, mistakes := spec.Parse(files, f.options.DefaultNamespace)
	if failed.Mistakes = mistakes; len(failed.Unusable)+len(mistakes) > 0 {
		return sets, failed
	}
	return sets, nil
}

// Named lists the resources that the rules name, each once, as far as the files can
// be read: [Files.Load] says what is wrong with them.
func (f *Files) Named() []apischema.GroupVersionResource { return f.named(f.read()) }

func (f *Files) named(contents []content) []apischema.GroupVersionResource {
	var named []apischema.GroupVersionResource
	files, _ := f.usable(contents)
	sets, _ := spec.Parse(files, f.options.DefaultNamespace)
	for _, set := range sets {
		for _, resource := range set.Resources {
			if !slices.Contains(named, resource.GVR) {
				named = append(named, resource.GVR)
			}
		}
	}
	return named
}

// SetSchemas says what the objects look like from the next load on.
func (f *Files) SetSchemas(schemas *schema.Catalog) { f.options.Schemas = schemas }

func (f *Files) compile(contents []content, known *schema.Catalog) (*rules.Set, error) {
	all, failed := f.usable(contents)
	options := f.options
	options.Schemas = known
	set, mistakes := rules.Load(all, options)
	failed.Mistakes = mistakes
	if len(failed.Unusable)+len(failed.Mistakes) > 0 {
		return nil, failed
	}
	return set, nil
}

// usable lists the files that could be read, each once, and what could not or holds no
// rules.
func (f *Files) usable(contents []content) ([]document.File, *Error) {
	failed := &Error{}
	var all []document.File
	for _, c := range contents {
		failed.Unusable = append(failed.Unusable, c.errs...)
		if len(c.errs) == 0 && f.holdsNothing(c.files) {
			failed.Unusable = append(failed.Unusable, fmt.Errorf("%s holds no RuleSet and no ClusterRuleSet", c))
		}
		for _, file := range c.files {
			// A directory and a file in it may both be named.
			if !slices.ContainsFunc(all, func(have document.File) bool { return have.Name == file.Name }) {
				all = append(all, file)
			}
		}
	}
	return all, failed
}

// holdsNothing reports whether there is no rule set in files, and no mistake
// that might be one.
func (f *Files) holdsNothing(files []document.File) bool {
	sets, mistakes := spec.Parse(files, f.options.DefaultNamespace)
	return len(sets)+len(mistakes) == 0
}

// errNoName is what an unset variable in a script leads to.
var errNoName = errors.New(`a path is ""`)

package source

import (
	"context"
	"errors"
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
	// last is what was last found in the contents, nil before.
	last *outline
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
	known, _ := schemas.Ask(ctx, f.outlined(contents).named)
	return f.load(contents, known)
}

func (f *Files) load(contents []content, known *schema.Catalog) (*rules.Set, error) {
	f.seen = f.outlined(contents).of
	set, err := f.compile(contents, known)
	f.sound = err == nil
	return set, err
}

// Sets returns as much of the sets as can be read, whether the rules are right or not:
// who is writing them needs to know what they name. Its errors are of type [*Error],
// and come beside the sets.
func (f *Files) Sets() ([]*spec.Set, error) {
	found := f.outlined(f.read())
	sets, mistakes := spec.Parse(found.files, f.options.DefaultNamespace)
	if len(found.unusable)+len(mistakes) > 0 {
		return sets, &Error{Unusable: found.unusable, Mistakes: mistakes}
	}
	return sets, nil
}

// Named lists the resources that the rules name, each once, as far as the files can
// be read: [Files.Load] says what is wrong with them.
func (f *Files) Named() []apischema.GroupVersionResource { return f.outlined(f.read()).named }

// Tests counts the tests among the rules that were last loaded. They are passed over, as
// they are no rules.
func (f *Files) Tests() int {
	if f.last == nil {
		return 0
	}
	return f.last.tests
}

// SetSchemas says what the objects look like from the next load on.
func (f *Files) SetSchemas(schemas *schema.Catalog) { f.options.Schemas = schemas }

func (f *Files) compile(contents []content, known *schema.Catalog) (*rules.Set, error) {
	found, options := f.outlined(contents), f.options
	options.Schemas = known
	set, mistakes := rules.Load(found.files, options)
	if len(found.unusable)+len(mistakes) > 0 {
		return nil, &Error{Unusable: found.unusable, Mistakes: mistakes}
	}
	return set, nil
}

// errNoName is what an unset variable in a script leads to.
var errNoName = errors.New(`a path is ""`)

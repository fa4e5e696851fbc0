package source

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
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
	// seen is what the last load was made of.
	seen digest
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
func (f *Files) Load() (*rules.Set, error) {
	contents := f.read()
	f.seen = digestOf(contents)
	return f.compile(contents)
}

func (f *Files) compile(contents []content) (*rules.Set, error) {
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
	set, mistakes := rules.Load(all, f.options)
	failed.Mistakes = mistakes
	if len(failed.Unusable)+len(failed.Mistakes) > 0 {
		return nil, failed
	}
	return set, nil
}

// holdsNothing reports whether there is no rule set in files, and no mistake
// that might be one.
func (f *Files) holdsNothing(files []document.File) bool {
	sets, mistakes := spec.Parse(files, f.options.DefaultNamespace)
	return len(sets)+len(mistakes) == 0
}

// errNoName is what an unset variable in a script leads to.
var errNoName = errors.New(`a path is ""`)

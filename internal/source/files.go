package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

const (
	// Stdin is the path of standard input.
	Stdin = "-"
	// MaxFile is far above what the parser accepts. It ends a file without end.
	MaxFile = 4 << 20
)

// Files are rules in files. It is not for concurrent use.
type Files struct {
	paths   []string
	stdin   io.Reader
	options rules.Options
	schemas Schemas // may know more than options do; nil for none
	polled  bool    // changes are not notified
	// kept is what could be read only once: standard input and pipes.
	kept map[string][]byte
	// parsed is the result of the last read, loaded that of the last load, and good that of the last load
	// without errors: the rules in effect.
	parsed, loaded, good *parsed
}

// Schemas answers what the objects look like, before rules are compiled and while
// they are watched.
type Schemas interface {
	// Ask returns what is known of resources, and whether it has changed since the
	// last call. It returns soon, also where it learns nothing.
	Ask(ctx context.Context, wanted []apischema.GroupVersionResource) (known *schema.Catalog, changed bool)
	// Changed has a value when it should be asked at once. Without one it is asked now and then.
	Changed() <-chan struct{}
}

// New returns the files that the paths name. It reads nothing yet. A path is
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

// Poll has the files read every ten seconds, without notifications of the kernel: a virtual clock stands still while a goroutine waits for
// those.
func (f *Files) Poll() { f.polled = true }

// Error is everything that kept rules from being loaded.
type Error struct {
	// Unusable are the paths that could not be read or hold no rules.
	Unusable []error
	// Mistakes are those in the files that could be read.
	Mistakes document.Errors
	// Unfit means that the files are those of the rules in effect, which do not fit the schemas any more.
	Unfit bool
}

// Error implements error, with one line for each cause.
func (e *Error) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns each cause.
func (e *Error) Unwrap() []error { return append(slices.Clone(e.Unusable), e.Mistakes.Unwrap()...) }

// Load reads all files and compiles their rules. Its errors are of type
// [*Error].
func (f *Files) Load() (*rules.Set, error) { return f.load(f.parse(f.read()), f.options.Schemas) }

// LoadAsking is like [Files.Load], with what schemas know instead of the options.
// [Files.Watch] asks them again.
func (f *Files) LoadAsking(ctx context.Context, schemas Schemas) (*rules.Set, error) {
	f.schemas = schemas
	found := f.parse(f.read())
	known, _ := schemas.Ask(ctx, found.resources)
	return f.load(found, known)
}

func (f *Files) load(found *parsed, known *schema.Catalog) (*rules.Set, error) {
	f.loaded = found
	options := f.options
	options.Schemas = known
	set, mistakes := rules.Load(found.files, options)
	if err := found.err(mistakes); err != nil {
		return nil, err
	}
	f.good = found
	return set, nil
}

// Sets returns as much of the sets as can be read, whether the rules are right or not:
// an author needs to know what unfinished rules name. Its errors are of type [*Error],
// and come beside the sets.
func (f *Files) Sets() ([]*spec.Set, error) {
	found := f.parse(f.read())
	sets, mistakes := spec.Parse(found.files, f.options.DefaultNamespace)
	return sets, found.err(mistakes)
}

// Named lists the resources that the rules name, each once, as far as the files can
// be read. [Files.Load] returns the errors.
func (f *Files) Named() []apischema.GroupVersionResource { return f.parse(f.read()).resources }

// Tests counts the tests in the files that were last read. They are not loaded, as
// they are no rules.
func (f *Files) Tests() int {
	if f.parsed == nil {
		return 0
	}
	return f.parsed.tests
}

// SetSchemas sets what the objects look like, from the next load on.
func (f *Files) SetSchemas(schemas *schema.Catalog) { f.options.Schemas = schemas }

// content is what a path holds at the moment.
type content struct {
	path      string
	directory bool
	files     []document.File
	errs      []error
}

func (c content) equal(other content) bool {
	return c.path == other.path &&
		slices.EqualFunc(c.files, other.files, func(a, b document.File) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }) &&
		slices.EqualFunc(c.errs, other.errs, func(a, b error) bool { return a.Error() == b.Error() })
}

// pathName names a path in messages.
func pathName(path string) string {
	if path == Stdin {
		return "standard input"
	}
	return path
}

func (f *Files) read() []content {
	out := make([]content, len(f.paths))
	for i, path := range f.paths {
		c := &out[i]
		c.path = path
		info, err := os.Stat(path)
		if c.directory = path != Stdin && err == nil && info.IsDir(); !c.directory {
			f.add(c, path, os.Open)
			continue
		}
		tree, err := NewTree(path)
		if err != nil {
			c.errs = []error{fmt.Errorf("reading rules: %w", err)}
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			c.errs = []error{fmt.Errorf("reading rules: %w", err)}
			continue
		}
		folders := ""
		for _, entry := range entries {
			name := filepath.Join(path, entry.Name())
			if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
				folders = "; the directories in it are not searched, so name them"
			}
			if isRuleFile(entry.Name()) && isRegular(name) {
				f.add(c, name, tree.Open)
			}
		}
		if len(c.files)+len(c.errs) == 0 {
			c.errs = []error{fmt.Errorf("reading rules: no *.yaml, *.yml or *.json file in %s%s", path, folders)}
		}
	}
	return out
}

// isRuleFile passes over the hidden files that editors and mounted ConfigMaps
// leave in a directory.
func isRuleFile(name string) bool {
	return !strings.HasPrefix(name, ".") && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// isRegular passes over pipes, and links to directories. What cannot be read is an error later.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

func (f *Files) add(c *content, path string, open func(string) (*os.File, error)) {
	data, err := f.readFile(path, MaxFile, open)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("reading rules: %w", err))
		return
	}
	c.files = append(c.files, document.File{Name: path, Data: data})
}

// readFile keeps what cannot be read again: standard input and pipes.
func (f *Files) readFile(path string, limit int64, open func(string) (*os.File, error)) ([]byte, error) {
	if path == "" {
		return nil, errors.New(`a path is ""`) // As of an unset variable in a script.
	}
	if data, ok := f.kept[path]; ok {
		return data, nil
	}
	from, once := f.stdin, true
	if path != Stdin {
		file, err := open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		info, err := file.Stat()
		from, once = file, err == nil && !info.Mode().IsRegular()
	}
	data, err := io.ReadAll(io.LimitReader(from, limit))
	if err == nil && once {
		f.kept[path] = data
	}
	return data, err
}

// ReadFile reads a file that a user names and that holds no rules, or standard input.
func ReadFile(path string, stdin io.Reader) (document.File, error) {
	data, err := New(nil, stdin, rules.Options{}).readFile(path, MaxFile, os.Open)
	if err != nil {
		return document.File{}, fmt.Errorf("reading %s: %w", pathName(path), err)
	}
	return document.File{Name: path, Data: data}, nil
}

// parsed is what the contents hold, before rules are compiled.
type parsed struct {
	contents []content
	// files are those that could be read, each once. Unusable are the paths that could not, or that hold no rules.
	files    []document.File
	unusable []error
	// resources are those that the rules name, each once, as far as the files can be read.
	resources []apischema.GroupVersionResource
	tests     int
}

func (p *parsed) err(mistakes document.Errors) error {
	if len(p.unusable)+len(mistakes) == 0 {
		return nil
	}
	return &Error{Unusable: p.unusable, Mistakes: mistakes}
}

// parse returns the same result for the same contents: mostly nothing has
// changed when files are read again.
func (f *Files) parse(contents []content) *parsed {
	for _, known := range []*parsed{f.parsed, f.loaded} {
		if known != nil && slices.EqualFunc(known.contents, contents, content.equal) {
			f.parsed = known
			return known
		}
	}
	out := &parsed{contents: contents}
	for _, c := range contents {
		out.unusable = append(out.unusable, c.errs...)
		hasRules := false
		for _, file := range c.files {
			sets, mistakes := spec.Parse([]document.File{file}, f.options.DefaultNamespace)
			hasRules = hasRules || len(sets)+len(mistakes) > 0 // A mistake may be one in a rule set.
			// A directory and a file in it may both be named.
			if slices.ContainsFunc(out.files, func(have document.File) bool { return have.Name == file.Name }) {
				continue
			}
			out.files = append(out.files, file)
			out.resources = appendResources(out.resources, sets)
			if !bytes.Contains(file.Data, []byte(spec.KindRuleTest)) {
				continue
			}
			documents, _ := document.Parse(file)
			for _, n := range documents {
				if n.Get("kind").Text() == spec.KindRuleTest {
					out.tests++
				}
			}
		}
		if len(c.errs) == 0 && !hasRules {
			out.unusable = append(out.unusable, fmt.Errorf("%s holds no RuleSet and no ClusterRuleSet", pathName(c.path)))
		}
	}
	f.parsed = out
	return out
}

// appendResources adds the resources that sets name, each once.
func appendResources(to []apischema.GroupVersionResource, sets []*spec.Set) []apischema.GroupVersionResource {
	for _, set := range sets {
		for _, resource := range set.Resources {
			if !slices.Contains(to, resource.GVR) {
				to = append(to, resource.GVR)
			}
		}
	}
	return to
}

// maxDefinitions is above what the reader of CRDs accepts, so that its error names what is
// too large. It ends a file without end.
const maxDefinitions = 17 << 20

// ReadCRDs reads the CustomResourceDefinitions that the paths name, in their order.
// A path is a file, a directory or "-" for stdin. Of a directory, the files named
// *.yaml, *.yml and *.json belong to it, and those of its folders, but no names that
// start with a dot. Objects of other kinds are passed over. A path without any
// definition is an error, and so is what a check finds in a definition. It finds all
// errors, which are joined.
func ReadCRDs(paths []string, stdin io.Reader, checks ...crd.Check) ([]*crd.Definition, error) {
	var all []*crd.Definition
	var errs []error
	files := New(nil, stdin, rules.Options{})
	fail := func(err error) { errs = append(errs, fmt.Errorf("reading CRDs: %w", err)) }
	read := func(path string, open func(string) (*os.File, error)) {
		data, err := files.readFile(path, maxDefinitions, open)
		if err != nil {
			fail(err)
			return
		}
		found, err := crd.Read(path, data, checks...)
		all = append(all, found...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, root := range paths {
		before := len(all) + len(errs)
		info, err := os.Stat(root)
		switch {
		case root == "" || root == Stdin:
			read(root, os.Open)
		case err != nil:
			fail(err)
		case !info.IsDir():
			read(root, os.Open)
		default:
			tree, err := NewTree(root)
			if err != nil {
				fail(err)
				continue
			}
			// It reads on after an error. A link to a directory is not followed, since it may lead back.
			_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil:
					fail(err)
				case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
					return fs.SkipDir
				case !entry.IsDir() && isRuleFile(entry.Name()) && isRegular(path):
					read(path, tree.Open)
				}
				return nil
			})
		}
		if len(all)+len(errs) == before {
			errs = append(errs, fmt.Errorf("%s holds no CustomResourceDefinition", pathName(root)))
		}
	}
	return all, errors.Join(errs...)
}

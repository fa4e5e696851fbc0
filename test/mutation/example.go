package mutation

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// Verdict is what the cases of an example say to a mutant.
type Verdict int

const (
	// Survived means that every case passes.
	Survived Verdict = iota
	// Caught means that a case fails because the rules decide, write or say something else, or cannot be judged.
	Caught
	// Refused means that the mutant does not compile.
	Refused
)

// Example is a folder with rules and their tests. It is safe for concurrent use.
type Example struct {
	// Rules are its files of rules, in order, and CRDs those in its folder crds.
	Rules, CRDs []string
	files       fstest.MapFS
	tests       map[string][]string // by the files of rules that they name
}

// Read reads an example. Its paths are those in the file system.
func Read(from fs.FS) (*Example, error) {
	e := &Example{files: fstest.MapFS{}, tests: map[string][]string{}}
	err := fs.WalkDir(from, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		if err != nil {
			return fmt.Errorf("reading an example: %w", err)
		}
		e.files[path] = &fstest.MapFile{Data: data}
		if strings.HasPrefix(path, "crds/") {
			e.CRDs = append(e.CRDs, path)
		}
		documents, _ := document.Parse(document.File{Name: path, Data: data})
		if slices.ContainsFunc(documents, isRules) {
			e.Rules = append(e.Rules, path)
		}
		e.testedBy(path, documents)
		return nil
	})
	return e, err
}

// testedBy notes which files of rules the tests in a file name.
func (e *Example) testedBy(file string, documents []*document.Node) {
	for _, d := range documents {
		if d.Get("kind").Text() != spec.KindRuleTest {
			continue
		}
		for _, rules := range d.Get("spec").Get("rules").Elements() {
			at := path.Join(path.Dir(file), rules.Text())
			e.tests[at] = append(e.tests[at], file)
		}
	}
}

func isRules(n *document.Node) bool {
	kind := n.Get("kind").Text()
	return kind == spec.KindRuleSet || kind == spec.KindClusterRuleSet
}

// File is a file of the example.
func (e *Example) File(path string) document.File {
	return document.File{Name: path, Data: e.files[path].Data}
}

// Run runs the cases of the example with one of its files replaced.
func (e *Example) Run(ctx context.Context, path string, data []byte) (simulate.Report, error) {
	report, err := simulate.Run(ctx, []string{"."}, simulate.Options{Files: e.with(path, data, nil)})
	if err != nil {
		return report, fmt.Errorf("running the cases: %w", err)
	}
	return report, nil
}

// Try runs the cases of the example with a mutant in the place of a file, until one of them catches it.
func (e *Example) Try(ctx context.Context, path string, m Mutant) (Verdict, error) {
	ctx, caught := context.WithCancel(ctx)
	defer caught()
	tests := e.tests[path]
	if len(tests) == 0 { // They name its folder.
		tests = []string{"."}
	}
	report, err := simulate.Run(ctx, tests, simulate.Options{Files: e.with(path, m.Data, caught), Update: true})
	if err != nil {
		return Survived, fmt.Errorf("running the cases on the mutant %s: %w", m, err)
	}
	verdict := Survived
	for _, result := range report.Results {
		switch {
		case result.Status == simulate.Error && result.Name == "":
			return Refused, nil
		case result.Status == simulate.Error || result.Updated:
			verdict = Caught
		}
	}
	return verdict, nil
}

func (e *Example) with(path string, data []byte, written func()) overlay {
	out := overlay{maps.Clone(e.files), written}
	if path != "" {
		out.MapFS[path] = &fstest.MapFile{Data: data}
	}
	return out
}

// overlay implements [simulate.Files] in memory. It forgets what is written.
type overlay struct {
	fstest.MapFS
	written func() // called for each file that would be written; nil where none is
}

func (o overlay) ReadDir(path string) ([]fs.DirEntry, error) {
	return o.MapFS.ReadDir(strings.TrimSuffix(path, "/"))
}

func (o overlay) WriteFile(string, []byte) error {
	o.written()
	return nil
}

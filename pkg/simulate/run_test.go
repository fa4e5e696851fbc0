package simulate_test

import (
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

var update = flag.Bool("update", false, "write the expected reports anew")

// memory is a file system in memory that notes what is written. Several cases use it at
// the same time.
type memory struct {
	fstest.MapFS
	mu    sync.Mutex
	wrote map[string]string
}

func (m *memory) ReadFile(path string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.MapFS.ReadFile(path)
}

func (m *memory) ReadDir(path string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.MapFS.ReadDir(path)
}

func newMemory(files map[string]string) *memory {
	m := &memory{MapFS: fstest.MapFS{}, wrote: map[string]string{}}
	for name, data := range files {
		m.MapFS[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return m
}

func (m *memory) WriteFile(path string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.MapFS[path] = &fstest.MapFile{Data: data}
	m.wrote[path] = string(data)
	return nil
}

// TestRun runs the archives in testdata. The comment of each says why it is
// there, and how to run it: `paths: a b`, `only: RE`, `flags: update verbose`.
// The report, the error and what is written are at its end.
func TestRun(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 20 {
		t.Fatalf("found %d archives, err %v", len(archives), err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files, want := map[string]string{}, map[string]string{}
			for _, file := range archive.Files {
				if isExpected(file.Name) {
					want[file.Name] = string(file.Data)
				} else {
					files[file.Name] = string(file.Data)
				}
			}
			got := runArchive(t, string(archive.Comment), newMemory(files))
			if *update {
				writeArchive(t, path, archive, got)
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s(-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

func isExpected(name string) bool {
	return name == "report" || name == "error" || strings.HasPrefix(name, "wrote/")
}

func runArchive(t *testing.T, comment string, files *memory) map[string]string {
	t.Helper()
	settings := map[string]string{"paths": "test.yaml"}
	for line := range strings.Lines(comment) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
			settings[key] = value
		}
	}
	options := simulate.Options{Files: files, Update: strings.Contains(settings["flags"], "update")}
	if settings["only"] != "" {
		options.Only = regexp.MustCompile(settings["only"])
	}
	report, err := simulate.Run(t.Context(), strings.Fields(settings["paths"]), options)
	got := map[string]string{}
	if err != nil {
		got["error"] = err.Error() + "\n"
	}
	if len(report.Results) > 0 {
		got["report"] = report.Text(strings.Contains(settings["flags"], "verbose"))
	}
	for path, data := range files.wrote {
		got["wrote/"+path] = data
	}
	return got
}

func writeArchive(t *testing.T, path string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("expected reports are not written in CI")
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(file txtar.File) bool { return isExpected(file.Name) })
	for _, name := range slices.Sorted(maps.Keys(got)) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got[name])})
	}
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestUpdatedGoldensPass says that what --update writes is accepted at once,
// whatever is in it.
func TestUpdatedGoldensPass(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range archives {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := newMemory(nil)
			for _, file := range archive.Files {
				files.MapFS[file.Name] = &fstest.MapFile{Data: file.Data}
			}
			first, _ := simulate.Run(t.Context(), []string{"."}, simulate.Options{Files: files, Update: true})
			wrote := maps.Clone(files.wrote)
			second, _ := simulate.Run(t.Context(), []string{"."}, simulate.Options{Files: files})
			differs := false
			for i, result := range second.Results {
				differs = differs || result.Diff != "" && first.Results[i].Status != simulate.Error // As where a file is no golden.
			}
			if differs || second.Count(simulate.Pass) != first.Count(simulate.Pass) {
				t.Errorf("after an update: %s, then: %s", first.Summary(), second.Summary())
			}
			_, _ = simulate.Run(t.Context(), []string{"."}, simulate.Options{Files: files, Update: true})
			if diff := cmp.Diff(wrote, files.wrote); diff != "" {
				t.Errorf("a second update writes something else (-first +second):\n%s", diff)
			}
		})
	}
}

func TestUpdateIsRefusedInCI(t *testing.T) {
	files := newMemory(map[string]string{"test.yaml": ""})
	_, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: files, Update: true, CI: true})
	if !errors.Is(err, simulate.ErrUpdateInCI) {
		t.Errorf("have %v", err)
	}
}

// denied fails where its map says so.
type denied struct {
	*memory
	read, write string
}

func (d denied) ReadFile(path string) ([]byte, error) {
	if path == d.read {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return d.memory.ReadFile(path)
}

func (d denied) WriteFile(path string, data []byte) error {
	if path == d.write {
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return d.memory.WriteFile(path, data)
}

// passing is the archive of passing cases, without one of its goldens.
func passing(t *testing.T) *memory {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/pass.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := newMemory(nil)
	for _, file := range archive.Files {
		files.MapFS[file.Name] = &fstest.MapFile{Data: file.Data}
	}
	delete(files.MapFS, "golden/an-odd-pd-stays.yaml")
	return files
}

func TestFilesThatCannotBeUsedAreErrors(t *testing.T) {
	const even, odd = "golden/an-even-pd-becomes-odd.yaml", "golden/an-odd-pd-stays.yaml"
	tests := map[string]struct {
		reason string
		files  denied
		update bool
		want   string
	}{
		"test": {
			reason: "a test that cannot be read is not a test that passed",
			files:  denied{read: "test.yaml"}, want: "test.yaml: cannot read the file: permission denied",
		},
		"golden": {
			reason: "an unreadable golden is not a missing one",
			files:  denied{read: even}, want: `cannot read the golden "` + even + `": permission denied`,
		},
		"locked": {
			reason: "an unreadable golden is not overwritten",
			files:  denied{read: even}, update: true, want: `cannot read the golden "` + even + `": permission denied`,
		},
		"write": {
			reason: "a golden that could not be written is not updated",
			files:  denied{write: odd}, update: true, want: `cannot write the golden "` + odd + `": permission denied`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.files.memory = passing(t)
			report, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: test.files, Update: test.update})
			if err != nil {
				t.Fatal(err)
			}
			var messages []string
			for _, result := range report.Results {
				messages = append(messages, result.Errors.Error())
			}
			if report.Passed() || !strings.Contains(strings.Join(messages, "\n"), test.want) {
				t.Errorf("%s: want %q, have %q", test.reason, test.want, messages)
			}
		})
	}
}

func TestDirectoriesThatCannotBeReadAreErrors(t *testing.T) {
	files := denied{memory: passing(t), read: "rules.yaml"}
	if _, err := simulate.Run(t.Context(), []string{"."}, simulate.Options{Files: files}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("have %v", err)
	}
}

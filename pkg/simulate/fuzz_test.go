package simulate_test

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// FuzzRun says that no test, rule, object or golden makes the runner panic or hang, that
// every result is explained, and that what an update writes is accepted.
func FuzzRun(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(txtar.Format(archive))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files := newMemory(nil)
		for _, file := range txtar.Parse(data).Files {
			files.MapFS[filepath.Clean(file.Name)] = &fstest.MapFile{Data: file.Data}
		}
		report, _ := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: files})
		for _, result := range report.Results {
			explained := map[simulate.Status]bool{
				simulate.Pass:  len(result.Errors)+len(result.Differences) == 0,
				simulate.Fail:  len(result.Differences) > 0,
				simulate.Error: len(result.Errors) > 0,
			}
			if !explained[result.Status] {
				t.Errorf("not explained: %+v", result)
			}
		}
		updated, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: files, Update: true})
		if err != nil {
			return
		}
		second, _ := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: files})
		for i, result := range second.Results {
			if result.Diff != "" && updated.Results[i].Status != simulate.Error { // As where a file is no golden.
				t.Errorf("fails after an update: %+v", result)
			}
		}
	})
}

// FuzzParseObjects says that a file is read as objects, or that it is told why not.
func FuzzParseObjects(f *testing.F) {
	f.Add([]byte(cluster))
	f.Add([]byte("{apiVersion: v1, kind: Secret, metadata: {name: login}, data: {password: aHVudGVyMg==}}"))
	f.Add([]byte("{apiVersion: v1, kind: List, items: [{apiVersion: a/b, kind: B, metadata: {name: c, labels: {d: null}}}]}"))
	f.Add([]byte("{apiVersion: v1, kind: PodList, items: [{metadata: {name: c, labels: []}}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, errs := simulate.ParseObjects(document.File{Name: "o.yaml", Data: data})
		if len(objects) == 0 && len(errs) == 0 {
			t.Fatal("nothing and no error")
		}
	})
}

package mutation_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/corpus"
	"github.com/dyncontroller/dyncontroller/test/mutation"
)

// realDefinition is the whole of the definition in a file of an example, or nil if none of these projects has one of that name. An
// example has only the part that it needs, so that its tests need nothing else.
func realDefinition(t *testing.T, path string) []byte {
	t.Helper()
	folders := map[string]string{
		"tidb-operator":    "manifests/crd/v1/pingcap.com_",
		"cert-manager":     "deploy/crds/cert-manager.io_",
		"external-secrets": "config/crds/bases/external-secrets.io_",
	}
	for _, project := range corpus.Projects() {
		folder, is := folders[project.Name]
		if !is {
			continue
		}
		dir, err := controlplane.PinnedModuleDir(t.Context(), project.Module, project.Sum)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(folder)+filepath.Base(path)))
		if err == nil {
			return data
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return nil
}

// excerpts are the files of an example that have a part of a real definition, with the whole of it.
func excerpts(t *testing.T, example *mutation.Example) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, path := range example.CRDs {
		if whole := realDefinition(t, path); whole != nil {
			out[path] = whole
		}
	}
	return out
}

// TestRealDefinition says that the cases come out the same with the real definition in
// the place of the excerpt.
func TestRealDefinition(t *testing.T) {
	tried := 0
	for name, example := range examples(t) {
		for path, definition := range excerpts(t, example) {
			tried++
			t.Run(name+"/"+path, func(t *testing.T) {
				report, err := example.Run(t.Context(), path, definition)
				if err != nil {
					t.Fatal(err)
				}
				for _, result := range report.Results {
					if result.Status != simulate.Pass {
						t.Errorf("%s: %s\n%v\n%s", result.Name, result.Status, result.Errors, result.Diff)
					}
				}
			})
		}
	}
	if tried < 3 {
		t.Errorf("tried %d definitions", tried)
	}
}

// TestExcerpts says that whatever the excerpts say, the real definition says.
func TestExcerpts(t *testing.T) {
	for name, example := range examples(t) {
		for path, definition := range excerpts(t, example) {
			var part, whole any
			if err := yaml.Unmarshal(definition, &whole); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(example.File(path).Data, &part); err != nil {
				t.Fatal(err)
			}
			for _, line := range beyond("", part, whole) {
				t.Errorf("%s/%s: %s", name, path, line)
			}
		}
	}
}

// beyond lists what a tree has that another one does not. Lists must have the same
// elements, or those of the other as far as they go.
func beyond(path string, part, whole any) []string {
	var out []string
	switch p := part.(type) {
	case map[string]any:
		w, is := whole.(map[string]any)
		if !is {
			return []string{path + " is something else"}
		}
		for key, value := range p {
			out = append(out, beyond(path+"."+key, value, w[key])...)
		}
		return out
	case []any:
		w, is := whole.([]any)
		if !is || len(w) != len(p) {
			return []string{path + " is another list"}
		}
		for i := range p {
			out = append(out, beyond(fmt.Sprintf("%s[%d]", path, i), p[i], w[i])...)
		}
		return out
	default:
		if !reflect.DeepEqual(part, whole) {
			return []string{fmt.Sprintf("%s is %v, have %v", path, whole, part)}
		}
		return nil
	}
}

func TestBeyond(t *testing.T) {
	tests := map[string]struct {
		reason, part, whole string
		want                int
	}{
		"less":          {"an excerpt leaves out", "{a: {b: 1}}", "{a: {b: 1, c: 2}, d: 3}", 0},
		"another value": {"a default that is not that", "{a: {default: 1}}", "{a: {default: 2}}", 1},
		"more":          {"a field that there is not", "{a: 1, b: {c: 2}}", "{a: 1}", 1},
		"another type":  {"a list is no map", "{a: {b: 1}, c: [1]}", "{a: [1], c: {b: 1}}", 2},
		"longer list":   {"what is required is all that is", "{required: [a]}", "{required: [a, b]}", 1},
		"other element": {"element by element", "[{a: 1}, {b: 1}]", "[{a: 1}, {b: 2}]", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var part, whole any
			if err := yaml.Unmarshal([]byte(test.part), &part); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(test.whole), &whole); err != nil {
				t.Fatal(err)
			}
			if got := beyond("", part, whole); len(got) != test.want {
				t.Errorf("%s: want %d, have %q", test.reason, test.want, got)
			}
		})
	}
}

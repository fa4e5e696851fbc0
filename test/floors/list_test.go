package floors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/test/floors"
)

func TestList(t *testing.T) {
	tests := map[string]struct {
		reason string
		files  map[string]string
		want   floors.Graph
		// wantErr is a part of the error: what the go command said.
		wantErr string
	}{
		"own, standard, tests": {
			reason: "Own packages are named by folder, at the root by a dot; what only tests import does not count.",
			files: map[string]string{
				"go.mod":      "module example.org/m\n",
				"m.go":        "package m\n\nimport _ \"example.org/m/a\"\n",
				"a/a.go":      "package a\n\nimport (\n\t_ \"example.org/m/a/b\"\n\t_ \"unsafe\"\n)\n",
				"a/a_test.go": "package a\n\nimport _ \"os\"\n",
				"a/b/b.go":    "package b\n",
				"c/c_test.go": "package c_test\n\nimport _ \"example.org/m\"\n",
			},
			want: floors.Graph{".": {"./a"}, "./a": {"./a/b", "unsafe"}, "./a/b": {}, "./c": {}, "unsafe": {}},
		},
		"unreadable": {
			reason:  "Half a graph would hide imports.",
			files:   map[string]string{"go.mod": "module example.org/m\n", "a/a.go": "package a\n\nimport _ \"example.org/m/none\"\n"},
			wantErr: "example.org/m/none",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := floors.List(t.Context(), write(t, test.files))
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("%s Want an error with %q, have %v", test.reason, test.wantErr, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", test.reason, diff)
			}
		})
	}
}

// write returns a folder with files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

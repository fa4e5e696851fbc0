package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBinary(t *testing.T) {
	module := t.TempDir()
	deep := filepath.Join(module, "test", "e2e")
	built := filepath.Join(module, "bin", "cluster")
	for _, dir := range []string{deep, filepath.Dir(built)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(module, "go.mod"), built} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unbuilt := t.TempDir()
	if err := os.WriteFile(filepath.Join(unbuilt, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason, workingDir, variable string
		want, wantError              string
	}{
		"from a package":    {"Tests run in their package's folder.", deep, "", built, ""},
		"from the root":     {"Programs run anywhere in the module.", module, "", built, ""},
		"by the variable":   {"Elsewhere the variable says it.", "/", built, built, ""},
		"not built":         {"The reader must learn what to do.", unbuilt, "", "", `run "make cluster"`},
		"variable is wrong": {"It does not fall back to another one silently.", deep, "/nonexistent/cluster", "", "/nonexistent/cluster"},
		"no module":         {"There is nothing to look in.", "/", "", "", "set DYNCONTROLLER_CLUSTER"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(tc.workingDir)
			t.Setenv(binaryVariable, tc.variable)
			got, err := Binary()
			if got != tc.want {
				t.Errorf("%s\ngot %q, %v; want %q", tc.reason, got, err, tc.want)
			}
			if (err != nil) != (tc.wantError != "") || err != nil && !strings.Contains(err.Error(), tc.wantError) {
				t.Errorf("%s\ngot error %v, want one with %q", tc.reason, err, tc.wantError)
			}
		})
	}
}

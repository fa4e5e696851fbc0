package controlplane

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(canceled, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a start that nobody waits for: %v", err)
	}
	_, err := Start(t.Context(), Options{APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("got %v, want the end of the API server's log", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "dyncontroller-cluster-*")); len(left) > 0 {
		t.Errorf("directories are left: %v", left)
	}
}

func TestDirKeepsItsDataForTheNext(t *testing.T) {
	t.Parallel()
	o := Options{Dir: filepath.Join(t.TempDir(), "kept")}
	first := start(t, o)
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "in use by another") {
		t.Fatalf("two control planes share a directory: %v", err)
	}
	uid := create(t, first, configmaps(), "default", configMap("kept").Object).GetUID()
	for range 2 {
		if err := first.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	second := start(t, o)
	got, err := second.dynamic.Resource(configmaps()).Namespace("default").Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil || got.GetUID() != uid {
		t.Errorf("the object of the first control plane: %v, %v", got, err)
	}
}

func TestMainKeepsTheLogsOfAFailure(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	tests := map[string]struct {
		reason string
		code   int
		kept   bool
	}{
		"success": {"Nothing must be left.", 0, false},
		"failure": {"The logs may explain it; the data is large and does not.", 3, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var kept string
			code := Main(Options{}, func(c *ControlPlane) int {
				kept = c.Dir()
				return tc.code
			})
			if code != tc.code {
				t.Errorf("code = %d, want %d", code, tc.code)
			}
			if _, err := os.Stat(filepath.Join(kept, "kube-apiserver", "log")); (err == nil) != tc.kept {
				t.Errorf("%s\nthe log: %v", tc.reason, err)
			}
			if _, err := os.Stat(filepath.Join(kept, "etcd", "data")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s\nthe data: %v", tc.reason, err)
			}
		})
	}
	broken := func(c *ControlPlane) int {
		_ = c.child.cmd.Process.Kill()
		<-c.child.exited
		return 0
	}
	if code := Main(Options{}, broken); code != 1 {
		t.Errorf("code = %d though the control plane has failed, want 1", code)
	}
	t.Setenv(binaryVariable, "/nonexistent/cluster")
	if code := Main(Options{}, func(*ControlPlane) int { return 0 }); code != 1 {
		t.Errorf("code = %d without a binary, want 1", code)
	}
}

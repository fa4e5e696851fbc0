package up

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func newTestLayout(t *testing.T, o Options) *layout {
	t.Helper()
	o.Dir = t.TempDir()
	l, err := newLayout(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.release)
	return l
}

func TestComponents(t *testing.T) {
	tests := map[string]struct {
		reason        string
		options       Options
		names         []string
		flags, absent map[string]string
	}{
		"plain": {
			reason:  "Without service account controller every Pod would be refused.",
			names:   []string{"etcd", "kube-apiserver"},
			flags:   map[string]string{"kube-apiserver": "--disable-admission-plugins=ServiceAccount"},
			absent:  map[string]string{"kube-apiserver": "--feature-gates"},
			options: Options{},
		},
		"controller manager": {
			reason:  "With it, admission is as in any cluster.",
			options: Options{ControllerManager: true},
			names:   []string{"etcd", "kube-apiserver", "kube-controller-manager"},
			flags:   map[string]string{"kube-controller-manager": "--leader-elect=false"},
			absent:  map[string]string{"kube-apiserver": "--disable-admission-plugins=ServiceAccount"},
		},
		"feature gates": {
			reason:  "Both components read them.",
			options: Options{ControllerManager: true, FeatureGates: []string{"A=true", "B=false"}},
			names:   []string{"etcd", "kube-apiserver", "kube-controller-manager"},
			flags: map[string]string{
				"kube-apiserver": "--feature-gates=A=true,B=false", "kube-controller-manager": "--feature-gates=A=true,B=false",
			},
			absent: map[string]string{"etcd": "--feature-gates"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := newTestLayout(t, tc.options)
			var names []string
			for _, c := range l.components() {
				names = append(names, c.Name)
				line := strings.Join(c.Command, "\n") + "\n"
				if flag, ok := tc.flags[c.Name]; ok && !strings.Contains(line, "\n"+flag+"\n") {
					t.Errorf("%s\n%s lacks %s:\n%s", tc.reason, c.Name, flag, line)
				}
				if flag, ok := tc.absent[c.Name]; ok && strings.Contains(line, "\n"+flag) {
					t.Errorf("%s\n%s has %s:\n%s", tc.reason, c.Name, flag, line)
				}
			}
			if !slices.Equal(names, tc.names) {
				t.Errorf("%s\ngot %v, want %v", tc.reason, names, tc.names)
			}
		})
	}
}

func TestExtraFlagsComeLast(t *testing.T) {
	l := newTestLayout(t, Options{
		ControllerManager:     true,
		APIServerArgs:         []string{"--v=1", "--authorization-mode=AlwaysAllow"},
		ControllerManagerArgs: []string{"--v=2"},
	})
	want := map[string][]string{
		"kube-apiserver":          {"--v=1", "--authorization-mode=AlwaysAllow"},
		"kube-controller-manager": {"--v=2"},
	}
	for _, c := range l.components() {
		extra := want[c.Name]
		if end := c.Command[len(c.Command)-len(extra):]; !slices.Equal(end, extra) {
			t.Errorf("%s ends with %v, want %v, so that a flag given overrides ours", c.Name, end, extra)
		}
	}
}

func TestCredentialFilesExistAndAreOurs(t *testing.T) {
	l := newTestLayout(t, Options{ControllerManager: true})
	for _, c := range l.components() {
		for _, word := range c.Command[1:] {
			_, value, _ := strings.Cut(word, "=")
			if !strings.Contains(value, "/credentials/") {
				continue
			}
			info, err := os.Stat(value)
			if err != nil {
				t.Errorf("%s: %v", word, err)
			} else if info.Mode().Perm() != 0o600 {
				t.Errorf("%s can be read by others: %s", value, info.Mode())
			}
		}
	}
}

// The old kubeconfig must be gone before anything starts, or a waiting test would take it for the new one.
func TestLayoutRemovesAnOldKubeconfig(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := newLayout(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.release()
	if _, err := os.Stat(old); err == nil {
		t.Error("the old kubeconfig is still there")
	}
	if err := l.writeKubeconfig(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(old)
	if err != nil || !strings.Contains(string(data), l.ports.apiServer.URL("https")) {
		t.Errorf("kubeconfig = %q, %v", data, err)
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	held, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(dir); err == nil || !strings.Contains(err.Error(), "in use by another control plane") {
		t.Fatalf("a second control plane got the directory: %v", err)
	}
	// A component that inherited the lock keeps it, as after kill -9 of "up".
	component := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read line")
	component.ExtraFiles = []*os.File{held}
	stdin, err := component.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(component.Start(), held.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := lock(dir); err == nil {
		t.Error("the directory was free while a component of it lived")
	}
	_ = stdin.Close()
	_ = component.Wait()
	again, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

func TestIgnoreStop(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		reason    string
		canceled  bool
		err, want error
	}{
		{"A stop during the start is no failure.", true, context.Canceled, nil},
		{"A failure stays one.", false, broken, broken},
		{"A failure stays one even if we are told to stop as well.", true, broken, broken},
	}
	for _, tc := range tests {
		if got := ignoreStop(contextFor(t, tc.canceled), tc.err); !errors.Is(got, tc.want) || (got == nil) != (tc.want == nil) {
			t.Errorf("%s\ngot %v, want %v", tc.reason, got, tc.want)
		}
	}
}

func contextFor(t *testing.T, canceled bool) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	if canceled {
		cancel()
	}
	return ctx
}

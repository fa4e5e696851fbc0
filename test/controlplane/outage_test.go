package controlplane

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bare is a control plane without anything optional.
type bare struct{ *ControlPlane }

func TestBareControlPlane(t *testing.T) {
	t.Parallel()
	b := bare{start(t, Options{})}
	t.Run("Pods without accounts", b.podsWithoutAccounts)
	t.Run("CRD errors", b.crdErrors)
	t.Run("killed from elsewhere", b.killedFromElsewhere)
	t.Run("restart in any order", b.restartInAnyOrder)
	t.Run("use after Stop", b.useAfterStop)
}

// Without a controller manager nobody makes ServiceAccounts; Pods must be possible all the same.
func (s bare) podsWithoutAccounts(t *testing.T) {
	create(t, s.ControlPlane, pods(), s.Namespace(t), map[string]any{
		"apiVersion": "v1",
		"kind":       "Pod",
		"metadata":   map[string]any{"name": "alone"},
		"spec":       map[string]any{"containers": []any{map[string]any{"name": "c", "image": "c:1"}}},
	})
	if err := s.Kill(t.Context(), ControllerManager); err == nil || !strings.Contains(err.Error(), "not part of") {
		t.Errorf("killing what does not run: %v", err)
	}
}

func (s bare) crdErrors(t *testing.T) {
	dir := t.TempDir()
	invalid := filepath.Join(dir, "invalid.yaml")
	if err := os.WriteFile(invalid, []byte(twoCRDs), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ reason, file, want string }{
		"missing": {"The path is the first suspect.", filepath.Join(dir, "missing.yaml"), "missing.yaml"},
		"invalid": {"The server's words say what is wrong.", invalid, `"widgets.example.com"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := s.InstallCRDs(t.Context(), tc.file); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ngot %v, want an error with %q", tc.reason, err, tc.want)
			}
		})
	}
}

// kill -9 from elsewhere, as a user would try it by hand, heals without anybody's help.
func (s bare) killedFromElsewhere(t *testing.T) {
	for _, component := range []Component{APIServer, Etcd} {
		pid := pidOf(t, s.ControlPlane, component)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		err := s.poll(t.Context(), func() bool { return pidOf(t, s.ControlPlane, component) != pid && s.serves(t.Context()) })
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (s bare) restartInAnyOrder(t *testing.T) {
	if err := s.Kill(t.Context(), Etcd, APIServer); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context(), APIServer); err != nil {
		t.Fatalf("the API server may start before its store: %v", err)
	}
	if err := s.Restart(t.Context(), Etcd); err != nil {
		t.Fatal(err)
	}
	create(t, s.ControlPlane, configmaps(), "default", configMap("after").Object)
}

// A control plane that has ended must be said to have, instead of letting a test wait.
func (s bare) useAfterStop(t *testing.T) {
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.poll(t.Context(), func() bool { return false }); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("waiting for a stopped control plane: %v", err)
	}
	if _, err := s.Requests(t.Context()); err == nil {
		t.Error("a stopped control plane answers")
	}
	if err := s.Kill(t.Context(), Etcd); err == nil {
		t.Error("a component of a stopped control plane was killed")
	}
}

func pidOf(t *testing.T, c *ControlPlane, component Component) int {
	t.Helper()
	var pid int
	err := c.poll(t.Context(), func() bool {
		data, err := os.ReadFile(c.file(component, "pid"))
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestOutages(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ControllerManager: true})
	installTidb(t, c)
	namespace := c.Namespace(t)
	uid := create(t, c, tidbclusters(), namespace, tidbCluster("basic")).GetUID()
	kubeconfig, err := os.ReadFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, reason string
		components   []Component
	}{
		{"server", "Clients see refused connections.", []Component{APIServer}},
		{"store", "Clients see errors and timeouts.", []Component{Etcd}},
		{"both", "As when a machine dies.", []Component{APIServer, Etcd}},
		{"all", "The controller manager comes back as well.", []Component{ControllerManager, APIServer, Etcd}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			killAndRestart(t, c, tc.components)
			got, err := c.dynamic.Resource(tidbclusters()).Namespace(namespace).Get(t.Context(), "basic", metav1.GetOptions{})
			if err != nil || got.GetUID() != uid {
				t.Errorf("%s\nafter the outage the object is %v, %v", tc.reason, got, err)
			}
			create(t, c, configmaps(), namespace, configMap(tc.name).Object)
		})
	}
	if after, err := os.ReadFile(c.Kubeconfig()); err != nil || string(after) != string(kubeconfig) {
		t.Errorf("the kubeconfig has changed: %v", err)
	}
	if err := c.Restart(t.Context(), Etcd); err == nil || !strings.Contains(err.Error(), "not down") {
		t.Errorf("restarting what is not down: %v", err)
	}
}

func killAndRestart(t *testing.T, c *ControlPlane, components []Component) {
	t.Helper()
	before := map[Component]int{}
	for _, component := range components {
		before[component] = pidOf(t, c, component)
	}
	if err := c.Kill(t.Context(), components...); err != nil {
		t.Fatal(err)
	}
	if c.serves(t.Context()) {
		t.Errorf("it still serves after Kill(%v)", components)
	}
	if err := c.Restart(t.Context(), components...); err != nil {
		t.Fatal(err)
	}
	for _, component := range components {
		if pidOf(t, c, component) == before[component] {
			t.Errorf("%s was not killed", component)
		}
	}
}

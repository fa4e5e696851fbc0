package cli

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
)

// TestOnceWithoutCRDs holds that it is told what to do where the cluster has no sets.
func TestOnceWithoutCRDs(t *testing.T) {
	t.Parallel()
	a := newAPIServer(t)
	code, stdout, stderr := invoke(t, "run", "--rules-from-cluster", "--once", "--kubeconfig", a.kubeconfig())
	const want = "the CRDs are not installed (deploy/crds)"
	if code != exitInternal || stdout != "" || !strings.Contains(stderr, want) {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	if sent := a.changes(); len(sent) > 0 {
		t.Errorf("sent %q", sent)
	}
}

// TestRunWithoutCRDs holds that a service waits for them, and runs its files meanwhile.
func TestRunWithoutCRDs(t *testing.T) {
	t.Parallel()
	a := newAPIServer(t)
	a.configMap("a", map[string]any{"color": "red"})
	path := ruleFile(t, strings.Replace(colors("blue"), "    widgets: {group: example.com, version: v1, resource: widgets}\n", "", 1))
	r := start(t, "--rules-from-cluster", "--rules", path, "--kubeconfig", a.kubeconfig())
	r.ready()
	r.says("the CRDs are not installed (deploy/crds)")
	r.eventually("the files are run", func() bool { return cmp.Diff(map[string]any{"color": "blue"}, a.data("a")) == "" })
	if _, body := r.get("health", "/readyz?verbose"); !strings.Contains(body, "rule sets in the cluster") {
		t.Errorf("readyz does not tell of the sets:\n%s", body)
	}
	r.finish()
}

// TestCheckObjects holds what readiness says of set objects.
func TestCheckObjects(t *testing.T) {
	t.Parallel()
	a := newAPIServer(t)
	client, err := dynamic.NewForConfig(&rest.Config{Host: a.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	s := &service{operator: &operator.Operator{}, objects: source.NewObjects(client, slog.New(slog.DiscardHandler))}
	want := telemetry.Check{Name: "rule sets in the cluster", Detail: "listing"}
	if diff := cmp.Diff(want, s.checkObjects()); diff != "" {
		t.Errorf("before anything is known (-want +got):\n%s", diff)
	}
}

// TestCheckElection holds that who waits for the lease is as ready as who has it.
func TestCheckElection(t *testing.T) {
	t.Parallel()
	leading := &service{}
	want := telemetry.Check{Name: "election", State: telemetry.Ready, Detail: "leading"}
	if diff := cmp.Diff(want, leading.checkElection()); diff != "" {
		t.Errorf("without an election (-want +got):\n%s", diff)
	}
	fence := election.NewFence(2 * time.Second)
	candidate, err := election.New(&rest.Config{Host: "http://127.0.0.1:1"}, election.Options{
		Namespace: "default", Name: "x", Lease: 3 * time.Second, Retry: time.Second, Fence: fence, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := &service{election: candidate}
	want.Detail = "waiting for the lease"
	if diff := cmp.Diff(want, waiting.checkElection()); diff != "" {
		t.Errorf("with one (-want +got):\n%s", diff)
	}
}

// TestReadyWithoutCRDs holds that a process is ready whose sets cannot be listed: nothing
// that it could do would change that.
func TestReadyWithoutCRDs(t *testing.T) {
	t.Parallel()
	a := newAPIServer(t)
	r := start(t, "--rules-from-cluster", "--kubeconfig", a.kubeconfig())
	r.says("the CRDs are not installed (deploy/crds)")
	r.ready()
	code, body := r.get("health", "/readyz?verbose")
	if code != http.StatusOK || !strings.Contains(body, "the CRDs are not installed (deploy/crds)") {
		t.Errorf("%d\n%s", code, body)
	}
	r.finish()
}

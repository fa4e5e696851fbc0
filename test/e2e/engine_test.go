package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/proxy"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

var pods = apischema.GroupVersionResource{Version: "v1", Resource: "pods"}

// evaluations counts how often each object was evaluated, by name, where a test has one rule and one kind of watched
// object. It is safe for concurrent use.
type evaluations struct {
	engine.NopObserver
	mu     sync.Mutex
	counts map[string]int
}

// Evaluated implements [engine.Observer]. What was skipped, as before the caches are complete, is no evaluation.
func (e *evaluations) Evaluated(key engine.Key, decision plan.Decision) {
	if decision.Outcome == plan.Skipped {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counts[key.Name]++
}

// since is what came after an earlier count.
func (e *evaluations) since(earlier map[string]int) map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := map[string]int{}
	for name, n := range e.counts {
		if n > earlier[name] {
			out[name] = n - earlier[name]
		}
	}
	return out
}

// runEngine runs rules in an engine of the test's own until the test ends. One worker takes the objects in the order in
// which they were queued, so once an object is evaluated, those that were queued before it have been.
func runEngine(t *testing.T, text string, observer engine.Observer) {
	t.Helper()
	engineOf(t, text, engine.Options{Observer: observer, Pace: engine.Pace{Workers: 1}})
}

// engineOf does the same with options, of which the rest is filled in.
func engineOf(t *testing.T, text string, options engine.Options) *engine.Engine {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	e, running := runEngineUntil(ctx, t, text, options)
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return e
}

// runEngineUntil does the same until the context is done.
func runEngineUntil(ctx context.Context, t *testing.T, text string, options engine.Options) (*engine.Engine, *sync.WaitGroup) {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}},
		rules.Options{Schemas: schema.NewCatalog(builtin.Source())})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	recorder, err := write.NewRecorder(cluster(t).RESTConfig(), "test", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := live.NewReader(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	options.Live, options.Writer, options.Recorder = reader, writer(t), recorder
	options.Caches = func(handler informer.Handler) engine.Caches {
		return informer.NewSet(client(t), handler, slog.New(slog.DiscardHandler), informer.Options{})
	}
	e, running := engine.New(options), &sync.WaitGroup{}
	running.Go(func() { e.Run(ctx) })
	e.SetRules(set)
	return e, running
}

// observe runs rules and counts what they evaluate.
func observe(t *testing.T, text string) *evaluations {
	t.Helper()
	e := &evaluations{counts: map[string]int{}}
	runEngine(t, text, e)
	return e
}

// change is something that a test does, and what that has as a consequence.
type change struct {
	what      string
	concerned []string // are evaluated, and nobody else
	most      int      // times at most; default: once
	do        func()
}

// expect makes a change and holds that it has the wanted evaluations as a consequence. The barrier is another change,
// which concerns the objects that it returns: once they have been evaluated, so has everything that was queued before.
func (e *evaluations) expect(t *testing.T, c change, barrier func() []string) {
	t.Helper()
	before, want := e.since(nil), map[string]int{}
	await := func(names []string) {
		for _, name := range names {
			want[name]++
		}
		eventually(t, c.what+": what is concerned is evaluated", func() bool {
			got := e.since(before)
			return !slices.ContainsFunc(names, func(name string) bool { return got[name] < want[name] })
		})
	}
	c.do()
	await(c.concerned)
	await(barrier())
	for name, n := range e.since(before) {
		if n > want[name] && (n >= want[name]+max(c.most, 1) || !slices.Contains(c.concerned, name)) {
			t.Errorf("%s: %s was evaluated %d times, want %d, with the barrier", c.what, name, n, want[name])
		}
	}
}

// proxied starts a proxy to the test's cluster and returns the arguments by which a process goes through it.
func proxied(t *testing.T, fault proxy.Fault) (*proxy.Proxy, []string) {
	t.Helper()
	p, kubeconfig := virtual.Proxy(t, cluster(t), proxy.Options{Fault: fault})
	return p, []string{"--kubeconfig", kubeconfig}
}

// storing are the requests that ask for a change of what rules are about: Events and leases aside.
func storing(r proxy.Request) bool {
	return r.Writes() && r.Resource != "events" && r.Resource != "leases"
}

// within waits as eventually does, as long as something takes by its nature.
func within(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	if !controlplane.Wait(limit, condition) {
		t.Fatalf("never came true within %s: %s", limit, what)
	}
}

// names lists what a label selector finds, in order.
func names(t *testing.T, gvr apischema.GroupVersionResource, namespace, selector string) []string {
	t.Helper()
	list, err := client(t).Resource(gvr).Namespace(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range list.Items {
		out = append(out, list.Items[i].GetName())
	}
	return out
}

// exists reports whether an object is there, whole or being deleted.
func exists(t *testing.T, gvr apischema.GroupVersionResource, namespace, name string) bool {
	t.Helper()
	return len(find(t, gvr, namespace, name)) > 0
}

// find is the object of a name, or none.
func find(t *testing.T, gvr apischema.GroupVersionResource, namespace, name string) []unstructured.Unstructured {
	t.Helper()
	list, err := client(t).Resource(gvr).Namespace(namespace).
		List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// deleteObject deletes as somebody else would.
func deleteObject(t *testing.T, gvr apischema.GroupVersionResource, namespace, name string) {
	t.Helper()
	if err := client(t).Resource(gvr).Namespace(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// tidbCluster makes a TidbCluster that is right, with labels in YAML.
func tidbCluster(t *testing.T, namespace, name, labels string) *unstructured.Unstructured {
	t.Helper()
	return create(t, tidbclusters, namespace, fmt.Sprintf(`{apiVersion: pingcap.com/v1alpha1, kind: TidbCluster,
		metadata: {name: %s, labels: {%s}}, spec: {version: v8.5.5, tidb: {replicas: 1},
		pd: {replicas: 1, requests: {storage: 1Gi}}, tikv: {replicas: 1, requests: {storage: 1Gi}}}}`, name, labels))
}

// allowPods makes what no Pod is admitted without.
func allowPods(t *testing.T, namespace string) {
	t.Helper()
	create(t, serviceaccounts, namespace, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}`)
}

// pod makes a Pod with further metadata in YAML.
func pod(t *testing.T, namespace, name, metadata string) *unstructured.Unstructured {
	t.Helper()
	return create(t, pods, namespace, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, %s},
		spec: {automountServiceAccountToken: false, containers: [{name: c, image: registry.example/c}]}}`, name, metadata))
}

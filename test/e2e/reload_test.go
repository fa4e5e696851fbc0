package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const (
	changers = 2
	// Each so many reloads another cache is wanted.
	reselects = 20
)

// reloading is a version of a set: each has a parameter of its own, every other one another mode, and now and then one
// has another selector and one more rule. The rule `follow` is in all of them, and watches the same.
func reloading(namespace string, version int) string {
	mode, part, extra := "Enforce", "a", ""
	if version%2 == 1 {
		mode = "Audit"
	}
	if version/reselects%2 == 1 {
		part, extra = "b", "  - {name: more, watch: services, actions: [{event: {reason: Seen, message: seen}}]}\n"
	}
	return fmt.Sprintf(`apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: reloading, namespace: %s}
spec:
  params: {suffix: %d}
  resources:
    configmaps: {version: v1, resource: configmaps}
    chosen: {version: v1, resource: configmaps, labelSelector: part=%s}
    services: {version: v1, resource: services}
  rules:
  - name: follow
    watch: configmaps
    when: object.data?.value != nil
    actions: [{patch: {merge: {data: {follows: "${object.data.value}-${params.suffix}"}}}}]
  - name: choose
    watch: chosen
    mode: %s
    actions: [{patch: {merge: {data: {chosen: %s}}}}]
%s`, namespace, version, part, mode, part, extra)
}

// listings counts the requests that fill a cache of ConfigMaps, by selector. The detector of inconsistencies asks for the
// list of an exact version besides, and fills none.
type listings struct {
	next   http.RoundTripper
	mu     *sync.Mutex
	counts map[string]int
}

// RoundTrip implements [http.RoundTripper].
func (l listings) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	exact := query.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact)
	first := query.Get("watch") == "" && !exact || query.Get("sendInitialEvents") == "true"
	if r.Method == http.MethodGet && first && strings.HasSuffix(r.URL.Path, "/configmaps") {
		l.mu.Lock()
		l.counts[query.Get("labelSelector")]++
		l.mu.Unlock()
	}
	return l.next.RoundTrip(r)
}

// reloader is an operator of files.
type reloader struct {
	*operator.Operator
	t         *testing.T
	namespace string
	lists     listings
}

func newReloader(t *testing.T, namespace string) *reloader {
	t.Helper()
	r := &reloader{t: t, namespace: namespace, lists: listings{mu: &sync.Mutex{}, counts: map[string]int{}}}
	as := cluster(t).RESTConfig()
	asked, err := discovery.NewClient(as)
	if err != nil {
		t.Fatal(err)
	}
	as.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return listings{next: next, mu: r.lists.mu, counts: r.lists.counts}
	})
	r.Operator, err = operator.New(operator.Options{
		Cluster:  operator.Cluster{Config: as, Namespace: namespace, Discovery: asked},
		Settings: config.Config{Rules: []string{"rules.yaml"}, Instance: namespace, Workers: 4, DryRun: config.DryRunNone},
		Instance: "test", Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	running.Go(func() { r.Lead(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return r
}

// reload puts a version into effect, and returns once it is: nothing else is watched then.
func (r *reloader) reload(version int) {
	r.t.Helper()
	text := reloading(r.namespace, version)
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{})
	if len(errs) > 0 {
		r.t.Fatal(errs.Render())
	}
	if err := r.SetFiles(set); err != nil {
		r.t.Fatal(err)
	}
	want := len(set.Selections())
	inEffect := func() bool {
		caches := r.Caches()
		return len(caches) == want && !slices.ContainsFunc(caches, func(c operator.Cache) bool { return !c.Synced })
	}
	if !inEffect() {
		eventually(r.t, fmt.Sprintf("version %d is in effect", version), inEffect)
	}
}

// restless has all objects change, again and again, until the returned function is called, which returns the last value of
// each.
func restless(t *testing.T, namespace string, reloaded int) (stop func() []int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	last := make([]int, reloaded)
	var changing sync.WaitGroup
	objects := client(t).Resource(configmaps).Namespace(namespace)
	for c := range changers {
		changing.Go(func() {
			for value := 1; value == 1 || ctx.Err() == nil; value++ {
				for i := c; i < reloaded && (value == 1 || ctx.Err() == nil); i += changers {
					patch := fmt.Sprintf(`{"metadata": {"labels": {"part": %q}}, "data": {"value": "%d"}}`, []string{"a", "b"}[i%2], value)
					_, err := objects.Patch(t.Context(), "c-"+strconv.Itoa(i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
					if err != nil {
						t.Errorf("changing c-%d: %v", i, err)
						return
					}
					last[i] = value
				}
			}
		})
	}
	return func() []int {
		cancel()
		changing.Wait()
		return last
	}
}

// TestReloads holds that reloads while objects change lose nothing and leave nothing, and that the cache which all of
// them want is filled once. In its long form there are a thousand of both.
func TestReloads(t *testing.T) {
	alongside(t)
	reloads, reloaded := times(200, 1000), times(250, 1000)
	pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels("test", t.Name()))) // Which those that it starts inherit.
	namespace := cluster(t).Namespace(t)
	objects := client(t).Resource(configmaps).Namespace(namespace)
	for i := range reloaded {
		object := &unstructured.Unstructured{Object: decode(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c-%d}}", i))}
		if _, err := objects.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r := newReloader(t, namespace)
	r.reload(0)
	before := goroutines(t)
	began, stop := time.Now(), restless(t, namespace, reloaded)
	for i := range reloads {
		r.reload(i + 1)
	}
	took := time.Since(began)
	last := stop()
	t.Logf("%d reloads in %s", reloads, took)
	eventually(t, "all objects are as the last rules want", func() bool {
		all, err := objects.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, object := range all.Items {
			i, err := strconv.Atoi(strings.TrimPrefix(object.GetName(), "c-"))
			if err == nil && field(&object, "data", "follows") == fmt.Sprintf("%d-%d", last[i], reloads) &&
				(i%2 == 1 || field(&object, "data", "chosen") == "a") {
				done++
			}
		}
		return done == reloaded
	})
	r.lists.mu.Lock()
	defer r.lists.mu.Unlock()
	if n := r.lists.counts[""]; n != 1 {
		t.Errorf("the cache that all want was filled %d times", n)
	}
	for selector, want := range map[string]int{"part=a": reloads/reselects/2 + 1, "part=b": reloads / reselects / 2} {
		if n := r.lists.counts[selector]; n != want {
			t.Errorf("the cache of %s was filled %d times, want %d", selector, n, want)
		}
	}
	const slack = 10 // Connections come and go.
	eventually(t, "no goroutine is left over", func() bool { return goroutines(t) <= before+slack })
	t.Logf("%d goroutines before, %d after", before, goroutines(t))
	if before < 10 {
		t.Error("the goroutines of the test are not those that are counted")
	}
}

var labelled = regexp.MustCompile(`(?m)^(\d+) @.*\n# labels: \{.*"test":"([^"]*)"`)

// goroutines counts those that the test has started, and those that they have.
func goroutines(t *testing.T) (n int) {
	t.Helper()
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	for _, found := range labelled.FindAllStringSubmatch(profile.String(), -1) {
		if found[2] == t.Name() {
			count, err := strconv.Atoi(found[1])
			if err != nil {
				t.Fatal(err)
			}
			n += count
		}
	}
	return n
}

// TestReloadsOfADirectory holds that each version of a file that is put in place takes effect, while others of the
// directory are wrong for a while, come and go.
func TestReloadsOfADirectory(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {value: x}}`)
	directory := t.TempDir()
	put := func(name, text string) { writeFile(t, filepath.Join(directory, name), text) }
	put("r.yaml", reloading(namespace, 0))
	p := start(t, "--rules", directory, "--instance", namespace)
	follows := func(suffix int) {
		t.Helper()
		eventually(t, fmt.Sprintf("the rules with %d are in effect", suffix), func() bool {
			return field(get(t, configmaps, namespace, "c"), "data", "follows") == fmt.Sprintf("x-%d", suffix)
		})
	}
	follows(0)
	began := time.Now()
	for i := 1; i <= 100; i++ {
		put("r.yaml", reloading(namespace, i))
		follows(i)
	}
	t.Logf("100 reloads in %s", time.Since(began))
	put("wrong.yaml", strings.Replace(reloading(namespace, 0), "watch: chosen", "watch: chosn", 1))
	eventually(t, "the mistake is told", func() bool {
		return strings.Contains(p.output.String(), "wrong.yaml:16:") && strings.Contains(p.output.String(), "did not change")
	})
	put("r.yaml", reloading(namespace, 101))
	edit(t, configmaps, namespace, "c", `{"data": {"value": "y"}}`)
	eventually(t, "the rules from before act", func() bool {
		return field(get(t, configmaps, namespace, "c"), "data", "follows") == "y-100"
	})
	put("wrong.yaml", strings.ReplaceAll(reloading(namespace, 0), "reloading", "right")) // Both want another suffix.
	put("r.yaml", strings.Replace(reloading(namespace, 102), "name: follow", "name: follow\n    suspend: true", 1))
	eventually(t, "the rules of both files act", func() bool {
		return field(get(t, configmaps, namespace, "c"), "data", "follows") == "y-0"
	})
}

package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// followsRule writes to each ConfigMap what it wants. The API server refuses that to one that is immutable.
const followsRule = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: follows, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps, labelSelector: follows}
  rules:
  - name: follows
    watch: configmaps
    when: object.data?.wanted != object.data?.seen
    actions:
    - patch: {merge: {data: {seen: "${object.data?.wanted}"}}}
`

// settling notes how long objects took, by name. It is safe for concurrent use.
type settling struct {
	engine.NopObserver
	mu   sync.Mutex
	took map[string]time.Duration
	seen map[string]bool // those that were looked at
}

// Evaluated implements [engine.Observer].
func (s *settling) Evaluated(key engine.Key, _ plan.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[key.Name] = true
}

// looked counts the objects that were looked at.
func (s *settling) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// Settled implements [engine.Observer].
func (s *settling) Settled(key engine.Key, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.took == nil {
		s.took = map[string]time.Duration{}
	}
	s.took[key.Name] = took
}

// taken returns the times since the last call.
func (s *settling) taken() map[string]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.took
	s.took = nil
	return out
}

// forEachOf does something for each number, a few at the same time.
func forEachOf(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var all sync.WaitGroup
	numbers := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range numbers {
				if err := do(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// following makes ConfigMaps for the rule, named by a prefix.
func following(t *testing.T, namespace, prefix string, count int, immutable bool) {
	t.Helper()
	c := client(t).Resource(configmaps).Namespace(namespace)
	forEachOf(t, count, func(i int) error {
		_, err := c.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "immutable": immutable, "data": map[string]any{"wanted": "0"},
			"metadata": map[string]any{"name": fmt.Sprintf("%s-%d", prefix, i), "labels": map[string]any{"follows": ""}},
		}}, metav1.CreateOptions{})
		return err
	})
}

// inQuarantine are the names of objects there.
func inQuarantine(e *engine.Engine) []string {
	out := map[string]bool{}
	for _, q := range e.Quarantined() {
		out[q.Key.Name] = true
	}
	return slices.Sorted(maps.Keys(out))
}

// TestQuarantine holds that objects of which each write is refused are listed, and nothing else, and that each is told of
// once, while others go on.
func TestQuarantine(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		count := times(250, 1000)
		following(t, namespace, "poisoned", count, true)
		following(t, namespace, "good", count, false)
		s := &settling{}
		e := engineOf(t, strings.ReplaceAll(followsRule, "NAMESPACE", namespace), engine.Options{Observer: s})
		within(t, 3*time.Minute, "all are looked at", func() bool {
			return len(e.Quarantined()) >= count && served(t, namespace, "0") == count
		})
		var want []string
		for i := range count {
			want = append(want, fmt.Sprintf("poisoned-%d", i))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, inQuarantine(e)); diff != "" {
			t.Errorf("in quarantine (-want +got):\n%s", diff)
		}
		within(t, time.Minute, "all are told of", func() bool { return len(listEvents(t, namespace)) >= count })
		s.taken()
		changeWanted(t, namespace, "good", 50, "1", 0)
		within(t, time.Minute, "the good go on", func() bool { return served(t, namespace, "1") == 50 })
		for name := range s.taken() {
			if !strings.HasPrefix(name, "good-") {
				t.Errorf("%s is said to have settled", name)
			}
		}
		first := e.Quarantined()[0]
		label := []byte(`{"metadata": {"labels": {"follows": "again"}}}`)
		_, err := client(t).Resource(configmaps).Namespace(namespace).Patch(t.Context(), first.Key.Name, types.MergePatchType, label, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		deleteObject(t, configmaps, namespace, fmt.Sprintf("poisoned-%d", count-1))
		within(t, time.Minute, "a change is followed, and what is gone is not listed", func() bool {
			now := e.Quarantined()
			return len(now) == count-1 && now[0].Key == first.Key && now[0].Attempts > first.Attempts
		})
		if got := len(listEvents(t, namespace)); got != count {
			t.Errorf("%d Events, want one of each of %d objects", got, count)
		}
	})
}

// served counts the objects that have what they want.
func served(t *testing.T, namespace, wanted string) int {
	t.Helper()
	list, err := client(t).Resource(configmaps).Namespace(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "follows"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, item := range list.Items {
		if field(&item, "data", "seen") == wanted {
			n++
		}
	}
	return n
}

// changeWanted changes what objects want, with a pause between two of them.
func changeWanted(t *testing.T, namespace, prefix string, n int, wanted string, pause time.Duration) {
	t.Helper()
	c := client(t).Resource(configmaps).Namespace(namespace)
	patch := fmt.Appendf(nil, `{"data": {"wanted": %q}}`, wanted)
	turn := time.NewTicker(max(pause, time.Microsecond))
	defer turn.Stop()
	for i := range n {
		<-turn.C
		if _, err := c.Patch(t.Context(), fmt.Sprintf("%s-%d", prefix, i), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestQuarantineLatency holds that objects which are refused cost the others no time.
func TestQuarantineLatency(t *testing.T) {
	if !*measure {
		t.Skip("takes measurements: -args -measure")
	}
	planes.Lend(t) // Nothing runs beside it.
	const count, changes, pause = 1000, 500, 20 * time.Millisecond
	namespaces := map[bool]string{false: cluster(t).Namespace(t), true: cluster(t).Namespace(t)}
	for poisoned, namespace := range namespaces {
		following(t, namespace, "good", count, false)
		if poisoned {
			following(t, namespace, "poisoned", count, true)
		}
	}
	round := 0
	compareRuns(t, func(poisoned bool) quantiles {
		round++
		namespace, wanted, s := namespaces[poisoned], fmt.Sprint(round), &settling{}
		ctx, stop := context.WithCancel(t.Context())
		e, running := runEngineUntil(ctx, t, strings.ReplaceAll(followsRule, "NAMESPACE", namespace), engine.Options{Observer: s})
		defer running.Wait()
		defer stop()
		listed := map[bool]int{true: count}[poisoned]
		within(t, 3*time.Minute, "all are looked at", func() bool {
			return len(e.Quarantined()) == listed && s.looked() == count+listed &&
				(round > 2 || served(t, namespace, "0") == count)
		})
		s.taken()
		changeWanted(t, namespace, "good", changes, wanted, pause)
		within(t, time.Minute, "the good go on", func() bool { return served(t, namespace, wanted) == changes })
		var times []time.Duration
		within(t, time.Minute, "all have settled", func() bool {
			for name, took := range s.taken() {
				if strings.HasPrefix(name, "good-") {
					times = append(times, took)
				}
			}
			return len(times) >= changes
		})
		out := quantilesOf(times)
		t.Logf("%d poisoned: p50 %v, p99 %v", listed, out.p50, out.p99)
		return out
	})
}

// TestRefusedAfterAnOutage holds that no rule gets into quarantine because an API server that has just started does not know yet who may
// do what. It refuses whatever is asked, and knows it seconds later.
func TestRefusedAfterAnOutage(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		writes := func(r proxy.Request) bool { return storing(r) && r.Resource == "configmaps" }
		var down, starting atomic.Bool
		way, flags := proxied(t, proxy.All(
			proxy.On(func(proxy.Request) bool { return down.Load() }, proxy.Action{Before: proxy.Break}),
			proxy.On(func(proxy.Request) bool { return starting.Load() }, proxy.Action{Before: proxy.Answer(http.StatusForbidden)}),
		))
		p := start(t, append(flags, "--rules", rulesFile(t, namespace, followsRule))...)
		put := func(name string) {
			create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {follows: ""}}, data: {wanted: "1"}}`, name))
		}
		written := func(name string) func() bool {
			return func() bool { return field(get(t, configmaps, namespace, name), "data", "seen") == "1" }
		}
		put("first")
		eventually(t, "it works", written("first"))

		before := way.Last()
		down.Store(true)
		put("a")
		eventually(t, "a write gets no answer", func() bool { return len(way.Since(before, writes)) > 0 })
		before = way.Last()
		starting.Store(true)
		down.Store(false)
		eventually(t, "a write is refused", func() bool { return len(way.Since(before, writes)) > 0 })
		<-time.After(breaker.Respite) // By then a rule that is refused is tried again.
		starting.Store(false)
		eventually(t, "it is written", written("a"))
		if n := p.lines(0, "keeps failing and is in quarantine"); n > 0 {
			t.Errorf("%d rules were in quarantine", n)
		}
	})
}

package informer

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
)

// TestInterned holds that caches have the same object where the API server has shown them the same, and each its own
// where it has not, though the version is the same.
func TestInterned(t *testing.T) {
	for _, plain := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o := newOutage(t)
			defer o.Stop()
			o.server.mu.Lock()
			o.server.plain = plain
			o.server.mu.Unlock()
			inside := Key{GVR: widgets, Namespace: "a"}
			other := o.among(t, everywhere, inside)
			defer other.Stop()
			shown := func() [3]*compact.Object {
				synctest.Wait()
				return [3]*compact.Object{
					o.View(everywhere, "a", "x").Object, other.View(everywhere, "a", "x").Object, other.View(inside, "a", "x").Object,
				}
			}
			expect := func(reason string, once bool) {
				t.Helper()
				if all := shown(); all[0] == nil || (all[0] == all[1]) != once || all[1] != all[2] {
					t.Errorf("%s They have %p", reason, all)
				}
			}
			expect("All have listed it.", true)
			before := shown()[0]
			o.server.put(widget("a", "x", labelled("color", "red")))
			expect("All have been told of a change.", true)
			if shown()[0] == before {
				t.Error("the change is not shown")
			}
			o.server.reshape(types.NamespacedName{Namespace: "a", Name: "x"}, "shape", "round")
			other.Renew(widgets)
			expect("Those of one set show another schema.", false)
			if got := o.shape(everywhere); got != "" {
				t.Errorf("the other shows the shape %q", got)
			}
			o.Renew(widgets)
			expect("Both do.", true)
		})
	}
}

// TestInternedGone holds that what no cache has any more is forgotten.
func TestInternedGone(t *testing.T) {
	o := NewShared()
	kept := o.share("widgets", compact.New(widget("a", "kept")))
	for i := range 10 * minSweep {
		o.share("widgets", compact.New(widget("a", "x", with(fmt.Sprint(i), "metadata", "resourceVersion"))))
		if i%minSweep == 0 {
			runtime.GC()
		}
	}
	if n := len(o.objects); n > 3*minSweep {
		t.Errorf("%d objects are known", n)
	}
	if again := o.share("widgets", compact.New(widget("a", "kept"))); again != kept {
		t.Error("what is there still is forgotten")
	}
}

// BenchmarkInterned fills the caches of ten identities with the same 2,000 ConfigMaps of 3 KB, and reports what they take: with what they share,
// and as if each was alone.
func BenchmarkInterned(b *testing.B) {
	const identities, count = 10, 2000
	text := strings.Repeat("x", 3000/20)
	list := map[string]any{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": map[string]any{"resourceVersion": "9000"}}
	var items []any
	for i := range count {
		data := map[string]any{}
		for j := range 20 {
			data[fmt.Sprintf("key-%d", j)] = text
		}
		items = append(items, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": map[string]any{
				"namespace": "default", "name": fmt.Sprintf("c-%d", i), "uid": fmt.Sprintf("0f0e%08d-1111-2222-3333-444455556666", i),
				"resourceVersion": fmt.Sprint(i), "creationTimestamp": "2026-01-01T00:00:00Z", "labels": map[string]any{"app": "web"},
			},
		})
	}
	list["items"] = items
	answer, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Query().Get("watch") == "":
			_, _ = w.Write(answer)
		case r.URL.Query().Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
		default:
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		b.Fatal(err)
	}
	all := Key{GVR: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
	for _, form := range []struct {
		name   string
		shared func(common *Shared) *Shared
	}{
		{"shared", func(common *Shared) *Shared { return common }},
		{"apart", func(*Shared) *Shared { return NewShared() }},
	} {
		b.Run(form.name, func(b *testing.B) {
			for b.Loop() {
				before, common := heap(), NewShared()
				var sets []*Set
				var left atomic.Int64
				for range identities {
					handler := deaf{make(chan Key, 1)}
					set := NewSet(client, handler, slog.New(slog.DiscardHandler), Options{Shared: form.shared(common)})
					set.Want([]Key{all}, nil, false)
					<-handler.synced
					sets = append(sets, set)
					left.Add(1)
					runtime.AddCleanup(set, func(n int64) { left.Add(n) }, -1)
				}
				b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
				for _, set := range sets {
					set.Stop()
				}
				sets = nil
				until(b, "the caches are gone", func() bool {
					runtime.GC()
					return left.Load() == 0
				})
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

package tenants

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

const (
	sources = 200
	// changes are made each second.
	changes = 30
)

// load changes objects all the time, and keeps a chronicle of them.
type load struct {
	configmaps dynamic.ResourceInterface
	stop       func() // the changes, not the chronicle

	mu      sync.Mutex
	now     map[string]content // by name; guarded by mu
	written []written          // guarded by mu
}

// content is what matters of an object: what it is to be marked with, what it is, and by
// which version of the rules.
type content struct{ n, seen, rules int }

// written is what rules have made of an object.
type written struct {
	name    string
	version int // the resourceVersion
	content
}

// startLoad makes the objects, and begins to change them.
func startLoad(t *testing.T, f *fleet) *load {
	t.Helper()
	l := &load{configmaps: client(t, f.on).Resource(configmaps).Namespace(f.namespace), now: map[string]content{}}
	list, err := l.configmaps.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	t.Cleanup(working.Wait)
	t.Cleanup(cancel)
	working.Go(func() { follow(ctx, t, l.configmaps, list.GetResourceVersion(), l.note) })
	for i := range sources {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": source200(i), "labels": map[string]any{"role": "source"}},
			"data":     map[string]any{"n": "0"},
		}}
		if _, err := l.configmaps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	changing, stop := context.WithCancel(ctx)
	var changes sync.WaitGroup
	changes.Go(func() { l.change(changing, t) })
	l.stop = func() {
		stop()
		changes.Wait()
	}
	t.Cleanup(l.stop)
	return l
}

func source200(i int) string { return fmt.Sprintf("source-%03d", i%sources) }

// change changes one object after the other.
func (l *load) change(ctx context.Context, t *testing.T) {
	tick := time.NewTicker(time.Second / changes)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		patch := fmt.Sprintf(`{"data":{"n":"%d"}}`, n)
		_, err := l.configmaps.Patch(ctx, source200(n), types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "load"})
		if err != nil && ctx.Err() == nil {
			t.Errorf("changing an object: %v", err)
			return
		}
	}
}

// follow tells of all changes after a version.
func follow(
	ctx context.Context, t *testing.T, of dynamic.ResourceInterface, version string, note func(watch.EventType, *unstructured.Unstructured),
) {
	for ctx.Err() == nil {
		events, err := of.Watch(ctx, metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("watching the objects: %v", err)
			}
			return
		}
		for event := range events.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok || event.Type == watch.Error {
				if ctx.Err() == nil {
					t.Errorf("watching the objects: %v", event.Object)
				}
				events.Stop()
				return
			}
			version = object.GetResourceVersion()
			note(event.Type, object)
		}
	}
}

// note keeps the chronicle.
func (l *load) note(_ watch.EventType, object *unstructured.Unstructured) {
	value := func(key string) int {
		text, _ := field(object, "data", key).(string)
		return number(text)
	}
	next := content{value("n"), value("seen"), value("rules")}
	l.mu.Lock()
	defer l.mu.Unlock()
	name := object.GetName()
	before, known := l.now[name]
	if !known {
		before = content{-1, -1, -1}
	}
	l.now[name] = next
	if before.seen != next.seen || before.rules != next.rules {
		l.written = append(l.written, written{name, number(object.GetResourceVersion()), next})
	}
}

// number is -1 for what is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// count is how often rules have written something.
func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.written)
}

// behind counts the objects that are not by a version of the rules yet.
func (l *load) behind(version int) int {
	return l.wrong(func(source, duplicate content) bool { return source.rules != version || duplicate.rules != version })
}

// unsettled counts the objects that are not as a version of the rules wants them.
func (l *load) unsettled(version int) int {
	return l.wrong(func(source, duplicate content) bool {
		return source != content{source.n, source.n, version} || duplicate != content{-1, source.n, version}
	})
}

func (l *load) wrong(is func(source, duplicate content) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := 0
	for i := range sources {
		name := source200(i)
		if is(l.now[name], l.now[name+"-copy"]) {
			out++
		}
	}
	return out
}

// check holds that whatever rules have written was by the rules that were in the cluster
// at that moment, and by the newest state of the object. Published says with which
// resourceVersion each version of the rules begins: one store counts them all.
func (l *load) check(t *testing.T, published []int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	last := map[string]int{}
	for _, w := range l.written {
		rules := 0
		for rules < len(published) && published[rules] <= w.version {
			rules++
		}
		if w.rules != rules {
			t.Errorf("%s was written by version %d of the rules when there was %d", w.name, w.rules, rules)
		}
		if !strings.HasSuffix(w.name, "-copy") && w.seen != w.n {
			t.Errorf("%s was marked with %d when it was at %d", w.name, w.seen, w.n)
		}
		if w.seen < last[w.name] {
			t.Errorf("%s went back from %d to %d", w.name, last[w.name], w.seen)
		}
		last[w.name] = w.seen
	}
}

package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// cluster is an API server and the caches of it, in memory. It exists to bring
// about what a real one does rarely; what a real one answers is tested on a
// real one.
type cluster struct {
	mu       sync.Mutex
	handler  informer.Handler
	stored   map[types.NamespacedName]map[string]any
	cached   map[types.NamespacedName]map[string]any
	version  int
	unsynced map[informer.Key]bool
	// views replaces what a cache knows of every object.
	views   map[informer.Key]map[string]any
	wanted  []informer.Key
	lagging bool // the caches see nothing of what is written

	writes []plan.Operation
	// answer replaces the answer to a write; nil means to write.
	answer func(operation plan.Operation) *write.Result

	events  []string
	eventOK func() error
	log     bytes.Buffer
	seen    counts
}

// counts implements [engine.Observer].
type counts struct {
	engine.NopObserver
	mu        sync.Mutex
	evaluated int
	audited   int
	views     int // looks at a cache
}

// Evaluated implements [engine.Observer].
func (c *counts) Evaluated(plan.Decision) { c.add(&c.evaluated) }

// Wrote implements [engine.Observer].
func (c *counts) Wrote(_ plan.Operation, class write.Class) {
	if class == write.Audited {
		c.add(&c.audited)
	}
}

func (c *counts) add(count *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*count++
}

// of returns one of the counts.
func (c *counts) of(count *int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *count
}

func newCluster() *cluster {
	return &cluster{
		stored:   map[types.NamespacedName]map[string]any{},
		cached:   map[types.NamespacedName]map[string]any{},
		unsynced: map[informer.Key]bool{},
	}
}

// put stores an object as another client would.
func (c *cluster) put(t *testing.T, text string) {
	t.Helper()
	object := decode(t, text)
	c.mu.Lock()
	c.version++
	u := unstructured.Unstructured{Object: object}
	u.SetResourceVersion(strconv.Itoa(c.version))
	if u.GetUID() == "" {
		u.SetUID(types.UID("uid-of-" + u.GetName()))
	}
	key := nameOf(object)
	c.stored[key] = object
	c.mu.Unlock()
	c.see(key)
}

func (c *cluster) remove(namespace, name string) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	c.mu.Lock()
	c.version++
	delete(c.stored, key)
	c.mu.Unlock()
	c.see(key)
}

// see lets the caches catch up with one object.
func (c *cluster) see(key types.NamespacedName) {
	c.mu.Lock()
	if object, ok := c.stored[key]; ok {
		c.cached[key] = object
	} else {
		delete(c.cached, key)
	}
	handler := c.handler
	c.mu.Unlock()
	if handler != nil {
		handler.Changed(widgets, key.Namespace, key.Name)
	}
}

func (c *cluster) get(name string) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stored[types.NamespacedName{Namespace: "ns", Name: name}]
}

// Want implements [engine.Caches].
func (c *cluster) Want(keys []informer.Key) error {
	c.mu.Lock()
	c.wanted = keys
	c.mu.Unlock()
	for _, key := range keys {
		if !c.unsynced[key] {
			c.handler.Synced(key)
		}
	}
	return nil
}

// View implements [engine.Caches].
func (c *cluster) View(key informer.Key, namespace, name string) informer.View {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.add(&c.seen.views)
	view := informer.View{Synced: !c.unsynced[key]}
	if object, ok := c.views[key]; ok {
		if object != nil {
			view.Object = &unstructured.Unstructured{Object: object}
		}
		return view
	}
	if object, ok := c.cached[types.NamespacedName{Namespace: namespace, Name: name}]; ok {
		view.Object = &unstructured.Unstructured{Object: object}
	}
	return view
}

// Names implements [engine.Caches].
func (c *cluster) Names(informer.Key) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []types.NamespacedName
	for name := range c.cached {
		out = append(out, name)
	}
	return out
}

// Stop implements [engine.Caches].
func (c *cluster) Stop() {}

var errRefused = errors.New("refused")

// Write implements [engine.Writer]: guarded as the API server guards.
func (c *cluster) Write(_ context.Context, operation plan.Operation) write.Result {
	c.mu.Lock()
	c.writes = append(c.writes, operation)
	answer := c.answer
	c.mu.Unlock()
	if answer != nil {
		if result := answer(operation); result != nil {
			return *result
		}
	}
	key := types.NamespacedName{Namespace: operation.Target.Namespace, Name: operation.Target.Name}
	c.mu.Lock()
	stored := c.stored[key]
	if stored == nil || resourceVersion(stored) != operation.Target.ResourceVersion {
		current := ""
		if stored != nil {
			current = resourceVersion(stored)
		}
		c.mu.Unlock()
		return write.Result{Class: write.Stale, Err: errRefused, ResourceVersion: current}
	}
	c.version++
	after := merged(stored, operation.Body)
	(&unstructured.Unstructured{Object: after}).SetResourceVersion(strconv.Itoa(c.version))
	c.stored[key] = after
	lagging := c.lagging
	c.mu.Unlock()
	if !lagging {
		c.see(key)
	}
	return write.Result{Class: write.Written, Object: after, ResourceVersion: resourceVersion(after)}
}

// merged applies a merge patch with the library of the API server.
func merged(object map[string]any, patch any) map[string]any {
	before, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	change, err := json.Marshal(patch)
	if err != nil {
		panic(err)
	}
	data, err := jsonpatch.MergePatch(before, change)
	if err != nil {
		panic(err)
	}
	var after map[string]any
	if err := utiljson.Unmarshal(data, &after); err != nil {
		panic(err)
	}
	return after
}

// Record implements [engine.Recorder].
func (c *cluster) Record(_ context.Context, event plan.Event, again bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.eventOK != nil {
		if err := c.eventOK(); err != nil {
			return err
		}
	}
	text := event.Reason + " " + event.Message
	if again {
		text += " (again)"
	}
	c.events = append(c.events, text)
	return nil
}

func (c *cluster) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.writes)
}

// engine returns an engine on the cluster.
func (c *cluster) engine() *engine.Engine {
	return engine.New(engine.Options{
		Caches: func(handler informer.Handler) engine.Caches {
			c.handler = handler
			return c
		},
		Writer:   c,
		Recorder: c,
		Observer: &c.seen,
		Log:      slog.New(slog.NewTextHandler(&c.log, nil)),
	})
}

func nameOf(object map[string]any) types.NamespacedName {
	u := unstructured.Unstructured{Object: object}
	return types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
}

func resourceVersion(object map[string]any) string {
	return (&unstructured.Unstructured{Object: object}).GetResourceVersion()
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// load compiles rules, which are written without the head of their set.
func load(t *testing.T, text string) *rules.Set {
	t.Helper()
	head := `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    widgets: {group: example.com, version: v1, resource: widgets}
    others: {group: example.com, version: v1, resource: widgets, labelSelector: other=yes}
  rules:
`
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(head + text)}}, rules.Options{})
	if len(errs) > 0 {
		t.Fatalf("loading the rules:\n%s", errs.Render())
	}
	return set
}

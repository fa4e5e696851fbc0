package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

// round is what the rules did until they had settled.
type round struct {
	writes  []string // in the order of the text
	objects map[string]any
	events  int
}

// written notes the answers to the writes of an engine. It is safe for concurrent use.
type written struct {
	engine.Writer
	mu     sync.Mutex
	writes []string
}

// Write implements [engine.Writer].
func (w *written) Write(ctx context.Context, o plan.Operation) write.Result {
	result := w.Writer.Write(ctx, o)
	body, err := json.Marshal(o.Body)
	if err != nil {
		body = []byte(err.Error())
	}
	said := ""
	if result.Err != nil {
		said = result.Err.Error()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, fmt.Sprintf("%s %s %s %s: %s %s", o.Type, o.Target, o.Subresource, body, result.Class, said))
	return result
}

// names are those of new objects, the same on both sides.
func names(run string) func(engine.Key, string) string {
	var mu sync.Mutex
	made := 0
	return func(_ engine.Key, prefix string) string {
		mu.Lock()
		defer mu.Unlock()
		made++
		return fmt.Sprintf("%s%s-%d", prefix, run, made)
	}
}

// instance is who records Events on both sides.
const instance = "test"

// settle lets both engines settle, and compares what came of it.
func (s *stage) settle(
	t *testing.T, set *rules.Set, tracked []apischema.GroupVersionResource, state []thing, now time.Time, run string,
) round {
	t.Helper()
	before, after, said := s.simulate(t, set, state, now, run)
	s.fillDefaults(t, before, after)
	got := normalRound(before, after, said, now)
	said = s.really(t, set, now, run)
	want := normalRound(state, s.list(t, tracked), said, now)
	if diff := cmp.Diff(want.writes, got.writes); diff != "" {
		t.Errorf("round %s: the writes differ (-real +simulated):\n%s", run, diff)
	}
	var out strings.Builder
	places(&out, "", any(want.objects), any(got.objects))
	if out.Len() > 0 {
		t.Errorf("round %s: the objects differ:\n%s", run, out.String())
	}
	return want
}

// fillDefaults fills into new objects of built-in kinds, which the simulated cluster stores without defaults, what the real one
// would fill in: it is asked to create them, in a dry run.
func (s *stage) fillDefaults(t *testing.T, before, after []thing) {
	t.Helper()
	known := map[types.UID]bool{}
	for _, o := range before {
		known[o.object.GetUID()] = true
	}
	for _, o := range after {
		if known[o.object.GetUID()] || o.gvr == eventsGVR || builtin.Source().Resource(o.gvr) == nil {
			continue
		}
		namespace := o.object.GetNamespace()
		if err := s.users().EnsureNamespace(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		asked, options := asNew(o.object), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		managers := o.object.GetManagedFields()
		made := len(managers) == 1 && managers[0].Operation == metav1.ManagedFieldsOperationUpdate
		if made {
			options.FieldManager = managers[0].Manager
		}
		filled, err := s.client.Resource(o.gvr).Namespace(namespace).Create(t.Context(), asked, options)
		if err != nil {
			t.Errorf("the real cluster does not take %s: %v", o.name(), err)
			continue
		}
		if made { // Whoever creates an object owns its defaults; whoever applies one does not.
			managers[0].FieldsV1 = filled.GetManagedFields()[0].FieldsV1
			o.object.SetManagedFields(managers)
		}
		for key, value := range filled.Object {
			if key != "metadata" && key != "status" {
				o.object.Object[key] = value
			}
		}
	}
}

// asNew is an object as if it had not been stored, under another name.
func asNew(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	for _, key := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(out.Object, "metadata", key)
	}
	out.SetName(object.GetName() + "-asked")
	if out.GetGenerateName() != "" {
		out.SetName("")
	}
	return out
}

// shifted is a clock that is as far from the real one as it was set.
type shifted struct {
	clock.RealClock
	by time.Duration
}

// Now implements [clock.PassiveClock].
func (c shifted) Now() time.Time { return c.RealClock.Now().Add(c.by) }

// Since implements [clock.PassiveClock].
func (c shifted) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// really runs the engine on the real cluster, as `run --once` does, by a clock of the
// engine's own.
func (s *stage) really(t *testing.T, set *rules.Set, now time.Time, run string) []string {
	t.Helper()
	told := shifted{by: time.Until(now)}
	config := s.real.RESTConfig()
	reader, err := live.NewReader(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := write.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := write.NewRecorder(config, instance, told)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	notes := &written{Writer: client}
	e := engine.New(engine.Options{
		Caches: func(h informer.Handler) engine.Caches { return informer.NewSet(s.client, h, log, informer.Options{}) },
		Live:   reader, Writer: notes, Recorder: recorder, Name: names(run), Clock: told, Pace: engine.Pace{Workers: 1},
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := e.Settle(ctx, set); err != nil {
		t.Fatal(err)
	}
	return notes.writes
}

// wholeCaches are caches that keep whole objects. Those of the real cluster keep what the rules read and write, and must come to the
// same.
type wholeCaches struct{ engine.Caches }

// Want implements [engine.Caches].
func (w wholeCaches) Want(keys []informer.Key, _ informer.Keeps, beside bool) {
	w.Caches.Want(keys, nil, beside)
}

// simulate runs it on a simulated cluster that has the same stored.
func (s *stage) simulate(
	t *testing.T, set *rules.Set, state []thing, now time.Time, run string,
) (before, after []thing, writes []string) {
	t.Helper()
	c, err := cluster.New(s.server, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range state {
		if err := c.Put(o.object.DeepCopy().Object); err != nil {
			t.Fatal(err)
		}
	}
	before = things(t, c)
	notes := &written{Writer: c}
	e := engine.New(engine.Options{
		Caches: func(h informer.Handler) engine.Caches { return wholeCaches{c.Caches(h)} },
		Live:   c.Live(), Writer: notes, Recorder: c, Name: names(run), Clock: c.Clock(), Pace: engine.Pace{Workers: 1},
		Queue: queue.New[engine.Key](queue.FIFO),
	})
	if err := e.Start(set); err != nil {
		t.Fatal(err)
	}
	e.Wake()
	if _, err := e.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	return before, things(t, c), notes.writes
}

// things are all objects of a simulated cluster.
func things(t *testing.T, c *cluster.Cluster) []thing {
	t.Helper()
	all, err := c.Objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []thing
	for _, o := range all {
		out = append(out, thing{o.GVR, o.DeepCopy()})
	}
	return out
}

// normalRound is what came of a round without what differs from cluster to cluster.
func normalRound(before, after []thing, writes []string, now time.Time) round {
	versions := map[string]string{}
	for _, o := range before {
		versions[string(o.object.GetUID())] = o.object.GetResourceVersion()
	}
	slices.SortFunc(after, func(a, b thing) int { return strings.Compare(a.name(), b.name()) })
	out := round{objects: map[string]any{}}
	var uids []string
	for _, o := range after {
		if uid := string(o.object.GetUID()); versions[uid] == "" {
			uids = append(uids, uid, "<uid of "+o.name()+">")
		}
		if o.gvr == eventsGVR {
			out.events++
		}
	}
	other := strings.NewReplacer(uids...)
	for _, o := range after {
		metadata, _ := o.object.Object["metadata"].(map[string]any)
		compareVersion(metadata, versions)
		if regarding, is := o.object.Object["regarding"].(map[string]any); is {
			delete(regarding, "resourceVersion")
		}
		sortManagers(metadata)
		out.objects[o.name()] = recent(renamed(o.object.Object, other), now)
	}
	for _, text := range writes {
		out.writes = append(out.writes, other.Replace(text))
	}
	slices.Sort(out.writes)
	return out
}

// compareVersion says of a resourceVersion whether it is what it was.
func compareVersion(in map[string]any, versions map[string]string) {
	uid, _ := in["uid"].(string)
	switch in["resourceVersion"] {
	case nil:
	case versions[uid]:
		in["resourceVersion"] = "<as before>"
	default:
		in["resourceVersion"] = "<changed>"
	}
}

func sortManagers(metadata map[string]any) {
	managers, _ := metadata["managedFields"].([]any)
	slices.SortStableFunc(managers, func(a, b any) int { return strings.Compare(managerOf(a), managerOf(b)) })
	for _, m := range managers {
		if entry, is := m.(map[string]any); is {
			delete(entry, "time")
		}
	}
}

// recent replaces the times that have only just been, by the clock of the API server or
// that of the engine.
func recent(v any, now time.Time) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = recent(value, now)
		}
	case []any:
		for i, value := range v {
			v[i] = recent(value, now)
		}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil && (at.Sub(now).Abs() < time.Minute || time.Since(at).Abs() < 10*time.Minute) {
			return "<now>"
		}
	}
	return v
}

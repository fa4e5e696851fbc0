package e2e

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// watcher collects what an informer set reports.
type watcher struct {
	mu      sync.Mutex
	reports []string
	news    chan struct{} // gets a value with each report; never blocks the reporter
}

func newWatcher() *watcher { return &watcher{news: make(chan struct{}, 1000)} }

func (w *watcher) note(format string, args ...any) {
	w.mu.Lock()
	w.reports = append(w.reports, fmt.Sprintf(format, args...))
	w.mu.Unlock()
	w.news <- struct{}{}
}

func (w *watcher) Changed(event informer.Event) { w.note("changed %s", event.Name) }

func (w *watcher) Synced(key informer.Key) { w.note("synced %s", key.LabelSelector) }

func (w *watcher) Widened(key informer.Key) { w.note("widened %s", key.GVR.Resource) }

func (w *watcher) Troubled(key informer.Key, _ error) { w.note("troubled %s", key.GVR.Resource) }

// await returns when the report has come, or fails with the test's deadline.
func (w *watcher) await(t *testing.T, report string) {
	t.Helper()
	for {
		w.mu.Lock()
		at := slices.Index(w.reports, report)
		if at >= 0 {
			w.reports = slices.Delete(w.reports, at, at+1)
		}
		w.mu.Unlock()
		if at >= 0 {
			return
		}
		select {
		case <-w.news:
		case <-t.Context().Done():
			t.Fatalf("no report %q, have %q", report, w.reports)
		}
	}
}

func TestInformers(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		configMap := func(name, labels string) {
			create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {%s}}}`, name, labels))
		}
		all := informer.Key{GVR: configmaps, Namespace: namespace}
		chosen := informer.Key{GVR: configmaps, Namespace: namespace, LabelSelector: "chosen=true"}
		absent := informer.Key{GVR: schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "nosuchthings"}}

		w := newWatcher()
		set := informer.NewSet(client(t), w, slog.New(slog.DiscardHandler), informer.Options{})
		defer set.Stop()
		if view := set.View(chosen, namespace, "before"); view.Synced || view.Object != nil {
			t.Errorf("a cache that does not run says %+v", view)
		}
		configMap("before", `chosen: "true"`)
		set.Want([]informer.Key{chosen, absent}, nil, false)
		w.await(t, "changed before")
		w.await(t, "synced chosen=true")
		w.await(t, "troubled nosuchthings")

		configMap("other", `chosen: "false"`)
		configMap("after", `chosen: "true"`)
		w.await(t, "changed after")
		if view := set.View(chosen, namespace, "other"); view.Object != nil || !view.Synced {
			t.Errorf("the selector is not evaluated by the API server: %+v", view)
		}
		edit(t, configmaps, namespace, "after", `{"metadata":{"labels":{"chosen":"false"}}}`)
		w.await(t, "changed after")
		if view := set.View(chosen, namespace, "after"); view.Object != nil {
			t.Errorf("the object has left the selection and is still there: %+v", view)
		}

		// A second informer starts without disturbing the first, and the first
		// stops without disturbing the second.
		set.Want([]informer.Key{chosen, all}, nil, false)
		w.await(t, "synced ")
		before := slices.DeleteFunc(slices.Clone(w.reports), func(report string) bool { return report != "synced chosen=true" })
		if len(before) > 0 {
			t.Error("the informer that was wanted before was started again")
		}
		set.Want([]informer.Key{all}, nil, false)
		if len(set.Names(chosen)) != 0 || len(set.Names(all)) != 3 {
			t.Errorf("have %v chosen, %v in all, want none and three", set.Names(chosen), set.Names(all))
		}
		configMap("last", `chosen: "true"`)
		w.await(t, "changed last")
		if status := set.Status(); len(status) != 1 || !status[0].Synced || status[0].Err != nil {
			t.Errorf("status is %+v", status)
		}
	})
}

// TestInformerTellsOfACRDThatIsGone holds that a resource that was served and
// is not any more shows, though its cache stays complete.
func TestInformerTellsOfACRDThatIsGone(t *testing.T) {
	alongside(t)
	gone := schema.GroupVersionResource{Group: "e2e.example.com", Version: "v1", Resource: "fleetings"}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	path := filepath.Join(t.TempDir(), "crd.yaml")
	writeFile(t, path, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleetings.e2e.example.com}
spec:
  group: e2e.example.com
  scope: Namespaced
  names: {kind: Fleeting, plural: fleetings, singular: fleeting}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
	if err := cluster(t).InstallCRDs(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	w := newWatcher()
	set := informer.NewSet(client(t), w, slog.New(slog.DiscardHandler), informer.Options{})
	defer set.Stop()
	set.Want([]informer.Key{{GVR: gone}}, nil, false)
	w.await(t, "synced ")
	if err := client(t).Resource(definitions).Delete(t.Context(), "fleetings.e2e.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.await(t, "troubled fleetings")
	eventually(t, "the status says so", func() bool { return set.Status()[0].Err != nil })
}

// TestCacheKeepsOwnApplyOnly holds that the cache drops the managed fields of
// others and keeps what a restart needs to see that an apply is a no-op.
func TestCacheKeepsOwnApplyOnly(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "1"}}`)
		for _, manager := range []string{"dyncontroller/0123abcd4567ef89", "helm"} {
			object := &unstructured.Unstructured{Object: decode(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {z: "1"}}`)}
			options := metav1.ApplyOptions{FieldManager: manager}
			if _, err := client(t).Resource(configmaps).Namespace(namespace).Apply(t.Context(), "a", object, options); err != nil {
				t.Fatal(err)
			}
		}
		w := newWatcher()
		set := informer.NewSet(client(t), w, slog.New(slog.DiscardHandler), informer.Options{})
		defer set.Stop()
		key := informer.Key{GVR: configmaps, Namespace: namespace}
		set.Want([]informer.Key{key}, informer.Keeps{configmaps: projection.New()}, false)
		w.await(t, "synced ")
		// In its place, by which it can be given up: see plan.Release.
		want := get(t, configmaps, namespace, "a").GetManagedFields()
		for i := range want {
			if want[i].Manager != "dyncontroller/0123abcd4567ef89" {
				want[i] = metav1.ManagedFieldsEntry{}
			}
		}
		cached := &unstructured.Unstructured{Object: set.View(key, namespace, "a").Object.Fields()}
		entries, _ := field(cached, "metadata", "managedFields").([]any)
		for _, element := range entries { // Their fieldsV1 is text there.
			if entry, _ := element.(map[string]any); plan.FieldSet(entry) != nil {
				entry["fieldsV1"] = plan.FieldSet(entry)
			}
		}
		have := cached.GetManagedFields()
		if diff := cmp.Diff(want, have); diff != "" || len(want) != 3 {
			t.Errorf("the cache keeps (-want +got):\n%s", diff)
		}
	})
}

// TestInformerReads holds that questions are answered from the caches, and that a cache that says that it has seen a write
// shows it.
func TestInformerReads(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		red := informer.Key{GVR: configmaps, Namespace: namespace, LabelSelector: "color=red"}
		all := informer.Key{GVR: configmaps}
		w := newWatcher()
		set := informer.NewSet(client(t), w, slog.New(slog.DiscardHandler), informer.Options{})
		defer set.Stop()
		set.Want([]informer.Key{red, all}, nil, false)
		w.await(t, "synced color=red")
		w.await(t, "synced ")
		if set.Version(red) == "" || set.Version(all) == "" {
			t.Error("an empty cache that is synced does not say how far it has seen")
		}
		owner := create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}`)
		made := create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, data: {size: big}, metadata: {name: made,
		labels: {color: red}, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s, controller: true}]}}`, owner.GetUID()))
		from := []plan.Selection{red, all}
		questions := []plan.Read{
			{From: from, By: plan.ByName, Namespace: namespace, Names: []string{"made"}},
			{From: from, By: plan.ByLabels, Namespace: namespace, Labels: "color=red,!shape"},
			{From: from, By: plan.ByOwner, Owners: []types.UID{owner.GetUID()}},
			{From: from, By: plan.ByFields, Namespace: namespace, Fields: []plan.FieldValue{{Path: plan.Path{"data", "size"}, Value: "big"}}},
			{From: from[:1], By: plan.ByAll, Namespace: namespace},
		}
		answers := func(want int) {
			t.Helper()
			for _, q := range questions {
				if found, err := set.Read(q); err != nil || len(found) != want {
					t.Errorf("%s: found %v %v, want %d", q.Key(), found, err, want)
				}
			}
		}
		sees := func(key informer.Key, version string) {
			t.Helper()
			eventually(t, key.String()+" sees "+version, func() bool {
				order, err := resourceversion.CompareResourceVersion(set.Version(key), version)
				return err == nil && order >= 0
			})
		}
		sees(red, made.GetResourceVersion())
		sees(all, made.GetResourceVersion())
		answers(1)

		left := edit(t, configmaps, namespace, "made", `{"metadata":{"labels":{"color":"blue"},"ownerReferences":null},"data":null}`)
		sees(red, left.GetResourceVersion())
		sees(all, left.GetResourceVersion())
		questions = questions[1:] // The name has stayed.
		answers(0)

		if err := client(t).Resource(configmaps).Namespace(namespace).Delete(t.Context(), "made", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the cache has seen more than the last version of what is deleted", func() bool {
			order, err := resourceversion.CompareResourceVersion(set.Version(all), left.GetResourceVersion())
			return err == nil && order > 0 && set.View(all, namespace, "made").Object == nil
		})
	})
}

// TestFreshOfQuiet holds that the cache of a resource that nothing changes is known to be fresh, time and again while somebody asks for
// it, by the bookmarks of short watches: the API server sends them two seconds before a watch ends.
func TestFreshOfQuiet(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: quiet, labels: {quiet: "yes"}}}`)
	key := informer.Key{GVR: configmaps, Namespace: namespace, LabelSelector: "quiet=yes"}
	set := informer.NewSet(client(t), newWatcher(), slog.New(slog.DiscardHandler), informer.Options{})
	defer set.Stop()
	set.Want([]informer.Key{key}, nil, false)
	fresh := func() bool { at, is := set.Fresh(key); return is && time.Since(at) < informer.MaxStaleness }
	eventually(t, "the first list is fresh", fresh)
	for i := range 5 {
		create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other-%d}}`, i)) // The resource has another version now.
		began := time.Now()
		eventually(t, "it is too old", func() bool { at, _ := set.Fresh(key); return at.Before(began) })
		eventually(t, "it is fresh, as of a moment after that", func() bool { at, is := set.Fresh(key); return is && at.After(began) })
	}
	if n := set.Count(key); n != 1 {
		t.Errorf("it has %d objects", n)
	}
}

// TestFreshByWrites holds that a cache which shows what was written is fresh as of that request, and nothing has to be asked for.
func TestFreshByWrites(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		key := informer.Key{GVR: configmaps, Namespace: namespace}
		set := informer.NewSet(client(t), newWatcher(), slog.New(slog.DiscardHandler), informer.Options{})
		defer set.Stop()
		set.Want([]informer.Key{key}, nil, false)
		eventually(t, "it is listed", func() bool { return set.Version(key) != "" })
		for i, write := range []func() *unstructured.Unstructured{
			func() *unstructured.Unstructured {
				return create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: written}}`)
			},
			func() *unstructured.Unstructured {
				return edit(t, configmaps, namespace, "written", `{"metadata": {"labels": {"written": "yes"}}}`)
			},
		} {
			began, changed := time.Now(), set.Writing(configmaps)
			version := write().GetResourceVersion()
			answered := time.Now()
			changed(version)
			eventually(t, "what was written is shown", func() bool {
				order, err := resourceversion.CompareResourceVersion(set.Version(key), version)
				return err == nil && order >= 0
			})
			if at, fresh := set.Fresh(key); !fresh || at.Before(began) || at.After(answered) {
				t.Errorf("write %d: fresh is %t, as of %s after the request", i, fresh, at.Sub(began))
			}
		}
	})
}

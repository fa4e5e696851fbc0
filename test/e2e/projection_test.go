package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	dynclient "github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// TestProjectingClient holds that the client of caches lists and watches what client-go's client does, projected: of custom
// resources, of built-in types, whose lists have no kinds of items, and of Secrets.
func TestProjectingClient(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	config := cluster(t).RESTConfig()
	shared, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	tree := &footprint.Tree{}
	for _, path := range [][]string{{"spec", "pd", "replicas"}, {"data", "a"}, {"status"}, {"metadata", "annotations", "a"}} {
		tree.Add(footprint.Fields(path...), footprint.Value)
	}
	for resource, text := range map[schema.GroupVersionResource]string{
		tidbclusters: `{apiVersion: pingcap.com/v1alpha1, kind: TidbCluster, spec: {version: v7.5.0, pd: {replicas: 3, baseImage: a}, tikv: {replicas: 3}}}`,
		configmaps:   `{apiVersion: v1, kind: ConfigMap, data: {a: "1 <\u2028\"", b: "2"}}`,
		secrets:      `{apiVersion: v1, kind: Secret, stringData: {a: one, b: two}}`,
	} {
		for _, fields := range []*projection.Fields{nil, projection.New(tree)} {
			name := fmt.Sprintf("%s with %s", resource.Resource, fields)
			ours, stock := projecting(t, config, shared, fields).Resource(resource).Namespace(namespace), client(t).Resource(resource).Namespace(namespace)
			for _, object := range []string{"a", "b", "c"} {
				content := &unstructured.Unstructured{Object: decode(t, text)}
				content.SetName(object)
				content.SetAnnotations(map[string]string{"a": "ä", "b": "b"})
				if _, err := stock.Apply(t.Context(), object, content, metav1.ApplyOptions{FieldManager: "dyncontroller/" + object}); err != nil {
					t.Fatal(err)
				}
				if _, err := stock.Patch(t.Context(), object, types.MergePatchType, []byte(`{"metadata":{"labels":{"c":"d"}}}`), metav1.PatchOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			options := metav1.ListOptions{Limit: 2}
			want, wantErr := stock.List(t.Context(), options)
			got, err := ours.List(t.Context(), options)
			if err != nil || wantErr != nil || got.GetContinue() == "" {
				t.Fatalf("%s: %v and %v, and the list goes on at %q", name, wantErr, err, got.GetContinue())
			}
			want.SetContinue(got.GetContinue()) // It has the version in it.
			want.SetResourceVersion(got.GetResourceVersion())
			for i := range want.Items {
				want.Items[i].Object = fields.Project(want.Items[i].Object)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the lists (-client-go +ours):\n%s", name, diff)
			}
			checkWatches(t, name, stock, ours, fields)
		}
	}
}

func projecting(t *testing.T, config *rest.Config, shared *http.Client, fields *projection.Fields) dynamic.Interface {
	t.Helper()
	c, err := dynclient.NewDynamic(config, shared, fields)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkWatches compares streamed lists and what comes after them.
func checkWatches(t *testing.T, name string, stock, ours dynamic.ResourceInterface, fields *projection.Fields) {
	t.Helper()
	options := metav1.ListOptions{
		SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	}
	var watches []watch.Interface
	for _, c := range []dynamic.ResourceInterface{stock, ours} {
		w, err := c.Watch(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		watches = append(watches, w)
	}
	read := func(w watch.Interface) watch.Event {
		for event := range w.ResultChan() {
			object, is := event.Object.(*unstructured.Unstructured)
			if event.Type != watch.Bookmark || is && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "" {
				return event
			} // Others come about once in a minute, to each of the two when it is due.
		}
		return watch.Event{}
	}
	next := func() (kind watch.EventType) {
		t.Helper()
		want, got := read(watches[0]), read(watches[1])
		object, isObject := want.Object.(*unstructured.Unstructured)
		if !isObject {
			t.Fatalf("%s: %v", name, want)
		}
		if object.Object = fields.Project(object.Object); want.Type == watch.Bookmark {
			kind, _ := got.Object.(*unstructured.Unstructured)
			object.SetResourceVersion(kind.GetResourceVersion())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: events (-client-go +ours):\n%s", name, diff)
		}
		return want.Type
	}
	until := func(kind watch.EventType) {
		for found := next(); found != kind; found = next() {
			t.Logf("%s: %s", name, found)
		}
	}
	until(watch.Bookmark)
	if _, err := stock.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"c":"e"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := stock.Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(watch.Deleted)
}

package apiserver_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// TestWatch holds that a stock informer of client-go follows a world for hours: built-in kinds and custom ones, selected objects that come
// and go, also when all that was before is forgotten.
func TestWatch(t *testing.T) {
	server := gadgets(t)
	for name, gvr := range map[string]schema.GroupVersionResource{
		"BuiltIn": {Version: "v1", Resource: "configmaps"},
		"Custom":  {Group: "example.com", Version: "v1", Resource: "gadgets"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				c, client := watchable(t, server)
				objects := client.Resource(gvr).Namespace("a")
				var told []string
				tell := func(what string) func(any) {
					return func(object any) { told = append(told, what+" "+object.(*unstructured.Unstructured).GetName()) }
				}
				informer := dynamicinformer.NewFilteredDynamicInformer(client, gvr, "a", 0, cache.Indexers{}, func(o *metav1.ListOptions) { o.LabelSelector = "watched=yes" }).Informer()
				if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc: tell("add"), UpdateFunc: func(_, object any) { tell("update")(object) }, DeleteFunc: tell("delete"),
				}); err != nil {
					t.Fatal(err)
				}
				do := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				create := func(name string) {
					t.Helper()
					object := &unstructured.Unstructured{}
					object.SetGroupVersionKind(kindOf(server, gvr))
					object.SetName(name)
					object.SetLabels(map[string]string{"watched": "yes"})
					_, err := objects.Create(ctx, object, metav1.CreateOptions{})
					do(err)
				}
				label := func(name, value string) {
					t.Helper()
					_, err := objects.Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"watched":%q}}}`, value), metav1.PatchOptions{})
					do(err)
				}
				create("before")
				ended := make(chan struct{})
				go func() { defer close(ended); informer.RunWithContext(ctx) }()
				synctest.Wait()
				create("after")
				label("before", "no")
				label("before", "yes")
				_, err := objects.Patch(ctx, "after", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{})
				do(err)
				c.world.Compact()
				<-time.After(3 * time.Hour)
				do(objects.Delete(ctx, "after", metav1.DeleteOptions{}))
				want := []string{"add before", "add after", "delete before", "add before", "update after", "delete after"}
				if diff := cmp.Diff(want, told); diff != "" {
					t.Errorf("what it was told (-want +got):\n%s", diff)
				}
				stop()
				<-ended
			})
		})
	}
}

// TestWatchWithoutBookmarks holds that who asks for no bookmarks gets none, not even the one that ends the initial events.
func TestWatchWithoutBookmarks(t *testing.T) {
	server := gadgets(t)
	synctest.Test(t, func(t *testing.T) {
		_, client := watchable(t, server)
		gvr := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kindOf(server, gvr))
		object.SetName("there")
		if _, err := client.Resource(gvr).Namespace("a").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		seconds := int64(100)
		watching, err := client.Resource(gvr).Namespace("a").Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: &seconds})
		if err != nil {
			t.Fatal(err)
		}
		var told []watch.EventType
		for event := range watching.ResultChan() {
			told = append(told, event.Type)
		}
		if diff := cmp.Diff([]watch.EventType{watch.Added}, told); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// TestWatchLasts holds that a watch that does not ask for how long lasts as long as one of a real API server.
func TestWatchLasts(t *testing.T) {
	server := gadgets(t)
	for name, gvr := range map[string]schema.GroupVersionResource{
		"BuiltIn": {Version: "v1", Resource: "configmaps"},
		"Custom":  {Group: "example.com", Version: "v1", Resource: "gadgets"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, client := watchable(t, server)
				began := time.Now()
				watching, err := client.Resource(gvr).Watch(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for range watching.ResultChan() {
					t.Error("it shows something")
				}
				if lasted := time.Since(began); lasted < 30*time.Minute || lasted > time.Hour {
					t.Errorf("it lasted %s", lasted)
				}
			})
		})
	}
}

func kindOf(server *apiserver.Server, gvr schema.GroupVersionResource) schema.GroupVersionKind {
	resource, _ := server.Of(gvr)
	return resource.Kind
}

// watchable is a new world that can be watched, and a client of it.
func watchable(t *testing.T, server *apiserver.Server) (*client, dynamic.Interface) {
	t.Helper()
	c := inNew(server)
	c.world.Remember()
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://server", Transport: c.http, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c, client
}

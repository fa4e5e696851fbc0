package informer

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// caches are those of the property test: they overlap.
func caches() []Key {
	return []Key{
		everywhere,
		{GVR: widgets, Namespace: "a"},
		{GVR: widgets, LabelSelector: "k=v"},
		{GVR: widgets, Namespace: "a", FieldSelector: "spec.f=1"},
	}
}

func oneOf[T any](values ...T) *rapid.Generator[T] { return rapid.SampledFrom(values) }

func anyScalar() *rapid.Generator[any] {
	return oneOf[any]("v", "w", "", "1", int64(1), 1.0, 1.5, int64(0), true, false, nil)
}

// anyWidget has few values, so that questions find something, and some that no API
// server would let through.
func anyWidget() *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		object := widget(oneOf("a", "b", "").Draw(t, "namespace"), oneOf("x", "y", "z").Draw(t, "name"))
		for _, key := range []string{"k", "l"} {
			if rapid.Bool().Draw(t, "has "+key) {
				labelled(key, oneOf[any]("v", "w", "", int64(1)).Draw(t, key))(object)
			}
		}
		if rapid.Bool().Draw(t, "owned") {
			controlledBy(rapid.SliceOfN(oneOf[any]("u1", "u2", "", nil), 0, 2).Draw(t, "uids")...)(object)
		}
		if rapid.Bool().Draw(t, "has fields") {
			with(anyScalar().Draw(t, "f"), "spec", "f")(object)
			with([]any{anyScalar().Draw(t, "g")}, "spec", "g")(object)
		}
		if oneOf(false, false, false, true).Draw(t, "odd") {
			with("text", oneOf([]string{"metadata", "labels"}, []string{"metadata", "ownerReferences"}, []string{"spec"}).Draw(t, "at")...)(object)
		}
		return object
	})
}

func anyRead() *rapid.Generator[plan.Read] {
	selectors := oneOf("k=v", "k=w,l=v", "k in (v,w)", "k in (v,w),l in (v,w)", "k", "!k", "k!=v", "l notin (v),k=v", "k=", "!l,k", "", "x y")
	paths := oneOf(plan.Path{"spec", "f"}, plan.Path{"spec", "g", "0"}, plan.Path{"spec", "none"}, plan.Path{"metadata", "labels", "k"})
	return rapid.Custom(func(t *rapid.T) plan.Read {
		q := plan.Read{
			By:        oneOf(plan.ByAll, plan.ByName, plan.ByLabels, plan.ByFields, plan.ByOwner).Draw(t, "by"),
			Namespace: oneOf("", "a", "b").Draw(t, "namespace"),
			From:      rapid.SliceOfN(oneOf(caches()...), 1, 3).Draw(t, "from"),
		}
		switch q.By {
		case plan.ByName:
			q.Names = rapid.SliceOfN(oneOf("x", "y", "none"), 0, 3).Draw(t, "names")
		case plan.ByLabels:
			q.Labels = selectors.Draw(t, "labels")
		case plan.ByOwner:
			q.Owners = rapid.SliceOfN(oneOf[types.UID]("u1", "u2", ""), 0, 2).Draw(t, "owners")
		case plan.ByFields:
			for range rapid.IntRange(0, 2).Draw(t, "fields") {
				q.Fields = append(q.Fields, plan.FieldValue{Path: paths.Draw(t, "path"), Value: anyScalar().Draw(t, "value")})
			}
		case plan.ByAll:
		}
		return q
	})
}

// naive goes through all objects of the caches.
func naive(set *Set, q plan.Read) []map[string]any {
	newest := map[types.NamespacedName]*compact.Object{}
	for _, selection := range q.From {
		if q.Namespace != "" && selection.Namespace != "" && q.Namespace != selection.Namespace {
			continue
		}
		for _, name := range set.Names(selection) {
			object := set.View(selection, name.Namespace, name.Name).Object
			if known := newest[name]; known != nil {
				if order, err := resourceversion.CompareResourceVersion(known.ResourceVersion(), object.ResourceVersion()); err != nil || order >= 0 {
					continue
				}
			}
			newest[name] = object
		}
	}
	var found []map[string]any
	for _, object := range newest {
		if q.Matches(object.Fields()) {
			found = append(found, object.Fields())
		}
	}
	return found
}

// versions are the objects with their resourceVersions, in order.
func versions(objects []map[string]any) []string {
	out := []string{}
	for _, object := range objects {
		u := unstructured.Unstructured{Object: object}
		out = append(out, strings.Join([]string{u.GetNamespace(), u.GetName(), u.GetResourceVersion()}, "/"))
	}
	slices.Sort(out)
	return out
}

// TestReadLikeNaive holds that indexes find what a look at every object would find,
// for every form of question, while objects come, change and go, caches lag behind
// and list anew.
func TestReadLikeNaive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// In a bubble, rapid must not ask a test for its deadline.
		rapid.Check(struct{ *testing.T }{t}, func(t *rapid.T) {
			server := &api{plain: rapid.Bool().Draw(t, "plain")}
			for _, object := range rapid.SliceOfN(anyWidget(), 0, 5).Draw(t, "objects") {
				server.put(object)
			}
			set := NewSet(server, deaf{make(chan Key, len(caches()))}, slog.New(slog.DiscardHandler), Options{})
			defer set.Stop()
			set.Want(caches(), nil, false)
			synctest.Wait()
			t.Repeat(map[string]func(*rapid.T){
				"put": func(t *rapid.T) { server.put(anyWidget().Draw(t, "object")) },
				"remove": func(t *rapid.T) {
					server.remove(types.NamespacedName{Namespace: oneOf("a", "b", "").Draw(t, "namespace"), Name: oneOf("x", "y", "z").Draw(t, "name")})
				},
				"hold":   func(t *rapid.T) { server.hold(oneOf(caches()...).Draw(t, "cache"), rapid.Bool().Draw(t, "holding")) },
				"expire": func(t *rapid.T) { server.expire(oneOf(caches()...).Draw(t, "cache")) },
				// What expired is listed again after a while.
				"wait": func(*rapid.T) { <-time.After(time.Minute) },
				"read": func(t *rapid.T) {
					synctest.Wait()
					q := anyRead().Draw(t, "read")
					got, err := set.Read(q)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(versions(naive(set, q)), versions(got)); diff != "" {
						t.Fatalf("%s (-naive +got):\n%s", q.Key(), diff)
					}
				},
			})
		})
	})
}

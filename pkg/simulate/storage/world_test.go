package storage_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/apis/example"
	kubernetes "k8s.io/apiserver/pkg/storage"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

var resource = schema.GroupResource{Resource: "pods"}

// An object gets the same uid in whatever order others are made, and whatever fails.
func TestUIDs(t *testing.T) {
	uids := func(order ...string) map[string][]types.UID {
		store := pods(t)
		ctx, _ := inNew(t.Context())
		out := map[string][]types.UID{}
		for _, name := range order {
			object := &example.Pod{}
			if err := store.Create(ctx, key(name), pod(name), object, 0); err != nil {
				if err := store.Delete(ctx, key(name), object, nil, kubernetes.ValidateAllObjectFunc, nil, kubernetes.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				continue // It was there: now it is not.
			}
			out[name] = append(out[name], object.UID)
		}
		return out
	}
	forwards, backwards := uids("x", "y", "x", "x"), uids("y", "x", "x", "x")
	if diff := cmp.Diff(forwards, backwards); diff != "" {
		t.Errorf("in another order (-first +second):\n%s", diff)
	}
	all := slices.Concat(forwards["x"], forwards["y"])
	slices.Sort(all)
	if len(all) != 3 || len(slices.Compact(all)) != 3 {
		t.Errorf("uids are not unique: %v", all)
	}
}

func TestMade(t *testing.T) {
	ctx, world := inNew(t.Context())
	there := made(t, ctx, pods(t), "x")
	at := storage.Change{Resource: resource, Namespace: "a", Name: "y"}
	first, second := world.UID(at), world.UID(at)
	if first == second || !world.Made(first) || !world.Made(second) || !world.Made(there.UID) || world.Made("other") {
		t.Errorf("%s and %s were made for one key", first, second)
	}
}

// Changes are told once, in the order in which they came; what was found is none.
func TestTake(t *testing.T) {
	store := pods(t)
	ctx, world := inNew(t.Context())
	found := storage.Change{Resource: resource, Namespace: "a", Name: "found"}
	world.Put(found, []byte(`{"metadata":{"name":"found","namespace":"a"}}`))
	made(t, ctx, store, "y")
	made(t, ctx, store, "x")
	if _, err := update(ctx, store, "y", label("1")); err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(ctx, key("x"), &example.Pod{}, nil, kubernetes.ValidateAllObjectFunc, nil, kubernetes.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	world.Edit(found, []byte(`{}`))
	var got []string
	for _, change := range world.Take() {
		got = append(got, change.String())
	}
	if diff := cmp.Diff([]string{"pods a/y", "pods a/x", "pods a/y", "pods a/x", "pods a/found"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := world.Take(); len(again) > 0 {
		t.Errorf("told again: %v", again)
	}
}

func TestWhatIsStored(t *testing.T) {
	_, world := inNew(t.Context())
	crd := schema.GroupResource{Group: "example.com", Resource: "sites"}
	all := []storage.Change{
		{Resource: resource, Namespace: "a", Name: "x"}, {Resource: resource, Namespace: "b", Name: "w"}, {Resource: crd, Name: "s"},
	}
	for _, at := range []int{2, 1, 0} {
		world.Put(all[at], []byte{byte(at)})
	}
	if diff := cmp.Diff([]storage.Stored{{all[0], 1003}, {all[1], 1002}, {all[2], 1001}}, world.Stored()); diff != "" {
		t.Errorf("Stored (-want +got):\n%s", diff)
	}
	if got := world.Get(all[2]); string(got) != "\x02" {
		t.Errorf("Get returned %q", got)
	}
	if got := world.Get(storage.Change{Resource: crd, Name: "none"}); got != nil {
		t.Errorf("Get of nothing returned %q", got)
	}
	if got := all[2].Key(); got != "/example.com/sites/s" {
		t.Errorf("Key is %s", got)
	}
	if storage.From(storage.With(t.Context(), world)) != world {
		t.Error("From does not return what With was given")
	}
}

// Two worlds share a store, and nothing else.
func TestTwoWorlds(t *testing.T) {
	store := pods(t)
	first, _ := inNew(t.Context())
	second, other := inNew(t.Context())
	one := made(t, first, store, "x")
	if err := store.Get(second, key("x"), kubernetes.GetOptions{}, &example.Pod{}); !kubernetes.IsNotFound(err) {
		t.Errorf("the other world has it: %v", err)
	}
	if other.Version() != 1000 || other.Take() != nil {
		t.Error("the other world has changed")
	}
	if two := made(t, second, store, "x"); two.UID != one.UID || two.ResourceVersion != one.ResourceVersion {
		t.Errorf("%v is not %v", two, one)
	}
}

// Whatever the key is of, nothing panics.
func FuzzKeys(f *testing.F) {
	for _, key := range []string{"", "/", "//pods/a/x", "/example.com/sites/s", "////", "x", "/a/b/c/d/e/f"} {
		f.Add(key)
	}
	store := pods(f)
	f.Fuzz(func(t *testing.T, key string) {
		ctx, world := inNew(t.Context())
		if err := store.Create(ctx, key, pod("x"), nil, 0); err != nil {
			t.Fatal(err)
		}
		if err := store.Get(ctx, key, kubernetes.GetOptions{}, &example.Pod{}); err != nil {
			t.Fatal(err)
		}
		if len(world.Stored()) != 1 || len(world.Take()) != 1 {
			t.Errorf("%q is stored as %v", key, world.Stored())
		}
	})
}

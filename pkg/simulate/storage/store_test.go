package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	kubernetes "k8s.io/apiserver/pkg/storage"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// key is where a Pod of namespace a is stored.
func key(name string) string { return "//pods/a/" + name }

func pod(name string) *example.Pod {
	return &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}
}

// made creates a Pod.
func made(t testing.TB, ctx context.Context, store kubernetes.Interface, name string) *example.Pod { //nolint:revive // t is first in tests.
	t.Helper()
	out := &example.Pod{}
	if err := store.Create(ctx, key(name), pod(name), out, 0); err != nil {
		t.Fatal(err)
	}
	return out
}

// update changes a Pod and returns it as it is stored then.
func update(ctx context.Context, store kubernetes.Interface, name string, change func(*example.Pod)) (*example.Pod, error) {
	out := &example.Pod{}
	err := store.GuaranteedUpdate(ctx, key(name), out, false, nil, kubernetes.SimpleUpdate(func(object runtime.Object) (runtime.Object, error) {
		changed := object.(*example.Pod)
		change(changed)
		return changed, nil
	}), nil)
	return out, err
}

func label(to string) func(*example.Pod) {
	return func(p *example.Pod) { p.Labels = map[string]string{"l": to} }
}

func TestVersions(t *testing.T) {
	store := pods(t)
	ctx, world := inNew(t.Context())
	first, second := made(t, ctx, store, "x"), made(t, ctx, store, "y")
	same, err := update(ctx, store, "x", func(*example.Pod) {})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := update(ctx, store, "x", label("1"))
	if err != nil {
		t.Fatal(err)
	}
	gone := &example.Pod{}
	if err := store.Delete(ctx, key("y"), gone, nil, kubernetes.ValidateAllObjectFunc, nil, kubernetes.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	got := []string{first.ResourceVersion, second.ResourceVersion, same.ResourceVersion, changed.ResourceVersion, gone.ResourceVersion}
	if diff := cmp.Diff([]string{"1001", "1002", "1001", "1003", "1004"}, got); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	now, err := store.GetCurrentResourceVersion(ctx)
	if err != nil || now != 1004 || world.Version() != 1004 {
		t.Errorf("the world is of version %d, %d: %v", now, world.Version(), err)
	}
}

func TestRefused(t *testing.T) {
	store := pods(t)
	ctx, world := inNew(t.Context())
	there := made(t, ctx, store, "x")
	for name, test := range map[string]struct {
		do   func() error
		want func(error) bool
	}{
		"create what is there":  {func() error { return store.Create(ctx, key("x"), pod("x"), nil, 0) }, kubernetes.IsExist},
		"create with a version": {func() error { return store.Create(ctx, key("y"), there.DeepCopy(), nil, 0) }, func(err error) bool { return errors.Is(err, kubernetes.ErrResourceVersionSetOnCreate) }},
		"get nothing":           {func() error { return store.Get(ctx, key("y"), kubernetes.GetOptions{}, &example.Pod{}) }, kubernetes.IsNotFound},
		"get the future": {func() error {
			return store.Get(ctx, key("x"), kubernetes.GetOptions{ResourceVersion: "5000"}, &example.Pod{})
		}, kubernetes.IsTooLargeResourceVersion},
		"get no version": {func() error {
			return store.Get(ctx, key("x"), kubernetes.GetOptions{ResourceVersion: "x"}, &example.Pod{})
		}, func(err error) bool { return err != nil }},
		"list into no list": {func() error {
			return store.GetList(ctx, "//pods", kubernetes.ListOptions{Predicate: kubernetes.Everything}, &example.Pod{})
		}, func(err error) bool { return err != nil }},
		"watch what is not remembered": {
			func() error { _, err := store.Watch(ctx, "//pods", kubernetes.ListOptions{}); return err }, func(err error) bool { return err != nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.do(); !test.want(err) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if world.Version() != 1001 || len(world.Take()) != 1 {
		t.Errorf("what was refused has changed the world, which is of version %d", world.Version())
	}
}

func TestGetList(t *testing.T) {
	store := pods(t)
	ctx, world := inNew(t.Context())
	for _, at := range []string{"b/y", "a/z", "a/x", "aa/w"} {
		namespace, name, _ := strings.Cut(at, "/")
		object := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"l": name}}}
		if err := store.Create(ctx, "//pods/"+at, object, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	everything := kubernetes.SelectionPredicate{Label: labels.Everything(), Field: fields.Everything()}
	labelled := everything
	labelled.Label = labels.SelectorFromSet(labels.Set{"l": "z"})
	labelled.GetAttrs = func(object runtime.Object) (labels.Set, fields.Set, error) {
		return object.(*example.Pod).Labels, nil, nil
	}
	for name, test := range map[string]struct {
		key       string
		recursive bool
		predicate kubernetes.SelectionPredicate
		want      []string
	}{
		"all":                     {"//pods", true, everything, []string{"a/x", "a/z", "aa/w", "b/y"}},
		"with a slash":            {"//pods/", true, everything, []string{"a/x", "a/z", "aa/w", "b/y"}},
		"a namespace":             {"//pods/a", true, everything, []string{"a/x", "a/z"}},
		"an empty one":            {"//pods/c", true, everything, []string{}},
		"selected":                {"//pods", true, labelled, []string{"a/z"}},
		"one by its key":          {"//pods/a/x", false, everything, []string{"a/x"}},
		"one that is not there":   {"//pods/a/none", false, everything, []string{}},
		"not what begins like it": {"//pods/a/", false, everything, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			var list example.PodList
			if err := store.GetList(ctx, test.key, kubernetes.ListOptions{Recursive: test.recursive, Predicate: test.predicate}, &list); err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, item := range list.Items {
				got = append(got, item.Namespace+"/"+item.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || list.Items == nil || list.ResourceVersion != "1004" {
				t.Errorf("version %s (-want +got):\n%s", list.ResourceVersion, diff)
			}
		})
	}
	world.Put(storage.Change{Resource: resource, Namespace: "a", Name: "broken"}, []byte(`{"kind":"Pod","apiVersion":"example.apiserver.k8s.io/v1","spec":3}`))
	err := store.GetList(ctx, "//pods", kubernetes.ListOptions{Recursive: true, Predicate: everything}, &example.PodList{})
	if err == nil || !strings.HasPrefix(err.Error(), "pods a/broken: decoding what is stored: ") {
		t.Errorf("what cannot be read is told as %v", err)
	}
}

// An update begins anew where another came between.
// TestListOfAVersion holds that a list may be as of an earlier version, which a world knows that remembers its changes.
func TestListOfAVersion(t *testing.T) {
	ctx, world := inNew(t.Context())
	store := pods(t)
	world.Remember()
	var versions []string
	note := func(object *example.Pod, err error) {
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, object.ResourceVersion)
	}
	note(made(t, ctx, store, "a"), nil)
	note(made(t, ctx, store, "b"), nil)
	note(update(ctx, store, "a", label("x")))
	gone := &example.Pod{}
	err := store.Delete(ctx, key("b"), gone, nil, kubernetes.ValidateAllObjectFunc, nil, kubernetes.DeleteOptions{})
	note(gone, err)
	seen := func(version string) (out []string, err error) {
		list := &example.PodList{}
		options := kubernetes.ListOptions{
			ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact, Predicate: kubernetes.Everything, Recursive: true,
		}
		err = store.GetList(ctx, "//pods/a", options, list)
		for _, item := range list.Items {
			out = append(out, item.Name+item.Labels["l"])
		}
		return out, err
	}
	for i, want := range [][]string{{"a"}, {"a", "b"}, {"ax", "b"}, {"ax"}} {
		if got, err := seen(versions[i]); err != nil || !slices.Equal(got, want) {
			t.Errorf("after %d changes: %v, %q, want %q", i+1, err, got, want)
		}
	}
	world.Compact()
	if _, err := seen(versions[0]); !apierrors.IsResourceExpired(err) {
		t.Errorf("of a version that is forgotten: %v", err)
	}
}

func TestUpdateAgain(t *testing.T) {
	store := pods(t)
	ctx, _ := inNew(t.Context())
	made(t, ctx, store, "x")
	tries := 0
	out, err := update(ctx, store, "x", func(p *example.Pod) {
		if tries++; tries == 1 {
			if _, err := update(ctx, store, "x", label("between")); err != nil {
				t.Error(err)
			}
		}
		p.Annotations = map[string]string{"saw": p.Labels["l"]}
	})
	if err != nil || tries != 2 || out.Annotations["saw"] != "between" {
		t.Errorf("after %d tries: %v, %v", tries, out.Annotations, err)
	}
}

func TestTogether(t *testing.T) {
	store := pods(t)
	ctx, world := inNew(t.Context())
	made(t, ctx, store, "counter")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			made(t, ctx, store, fmt.Sprintf("p%d", i))
			for range 20 {
				_, err := update(ctx, store, "counter", func(p *example.Pod) {
					n, _ := strconv.Atoi(p.Labels["l"])
					label(strconv.Itoa(n + 1))(p)
				})
				if err != nil {
					t.Error(err)
				}
				world.Stored()
			}
		})
	}
	all.Wait()
	counted := &example.Pod{}
	if err := store.Get(ctx, key("counter"), kubernetes.GetOptions{}, counted); err != nil || counted.Labels["l"] != "160" {
		t.Errorf("%s of 160 updates are there: %v", counted.Labels["l"], err)
	}
	if got := len(world.Take()); got != 169 {
		t.Errorf("%d changes, want 169", got)
	}
}

// What a test has in the cluster may be written as it likes: only what differs from it
// is a change.
func TestUpdateOfWhatWasFound(t *testing.T) {
	store := pods(t)
	ctx, world := inNew(t.Context())
	at := storage.Change{Resource: resource, Namespace: "a", Name: "x"}
	world.Put(at, []byte(` {"metadata": {"name":"x", "namespace":"a"}, "kind":"Pod","apiVersion":"example.apiserver.k8s.io/v1"}`))
	same, err := update(ctx, store, "x", func(*example.Pod) {})
	if err != nil || same.ResourceVersion != "1001" || world.Take() != nil {
		t.Errorf("an update of nothing: version %s, %v", same.ResourceVersion, err)
	}
	changed, err := update(ctx, store, "x", label("1"))
	if err != nil || changed.ResourceVersion != "1002" || len(world.Take()) != 1 {
		t.Errorf("an update: version %s, %v", changed.ResourceVersion, err)
	}
}

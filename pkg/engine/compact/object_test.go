package compact_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
)

// TestFields: what goes in comes out, whatever it is.
func TestFields(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]map[string]any{
		"nothing": {},
		"every type": {
			"apiVersion": "v1", "null": nil, "false": false, "true": true, "text": "text", "empty": "", "word": "True",
			"ints":   []any{int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64)},
			"floats": []any{0.5, -1e300, math.Inf(1)},
			"maps":   map[string]any{"empty": map[string]any{}, "list": []any{map[string]any{"": "no key"}, []any{}}},
		},
		"an object": {
			"kind": "Pod", "metadata": map[string]any{
				"name": "a", "namespace": "ns", "uid": "u-1", "resourceVersion": "12", "labels": map[string]any{"name": "b"},
			},
		},
		"only some of what is kept apart":      {"metadata": map[string]any{"name": "a", "uid": "u"}},
		"no metadata":                          {"metadata": nil},
		"metadata that is none":                {"metadata": "text"},
		"what is kept apart in another type":   {"metadata": map[string]any{"name": int64(3), "resourceVersion": nil, "uid": ""}},
		"what is kept apart in another length": {"metadata": map[string]any{"name": strings.Repeat("n", 300), "resourceVersion": "7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := runtime.DeepCopyJSON(tc)
			object := compact.New(tc)
			if diff := cmp.Diff(before, object.Fields()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, tc); diff != "" {
				t.Error("the given fields were changed:", diff)
			}
			if !object.Equal(compact.New(before)) {
				t.Error("the same fields make another object")
			}
		})
	}
	var none *compact.Object
	if none.Fields() != nil || none.Size() != 0 || none.ResourceVersion() != "" {
		t.Error("no object has fields, a size or a version")
	}
}

// FuzzFields holds the same for all that the API server can send, and that objects are equal if and only if their fields are.
func FuzzFields(f *testing.F) {
	f.Add(`{"metadata":{"name":"a","namespace":"b","resourceVersion":"1"},"spec":{"n":1.5}}`, `{"metadata":{"name":"ab","resourceVersion":"1"}}`)
	f.Add(`{"metadata":{"name":"a","namespace":"bc"}}`, `{"metadata":{"name":"ab","namespace":"c"}}`)
	f.Add(`{"a":[true,false,null,-7,"True"]}`, `{"a":{}}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		one, another := parse(first), parse(second)
		if one == nil || another == nil {
			t.Skip()
		}
		a, b := compact.New(one), compact.New(another)
		if diff := cmp.Diff(one, a.Fields()); diff != "" {
			t.Error(diff)
		}
		if a.Equal(b) != reflect.DeepEqual(one, another) {
			t.Errorf("%s and %s: equal is %t", first, second, a.Equal(b))
		}
		unstructured.RemoveNestedField(one, "metadata", "resourceVersion")
		unstructured.RemoveNestedField(another, "metadata", "resourceVersion")
		if same := reflect.DeepEqual(one, another); same && !a.SameContent(b) && a.ResourceVersion() != "" && b.ResourceVersion() != "" {
			t.Errorf("%s and %s: they differ in more than their version", first, second)
		} else if !same && a.SameContent(b) {
			t.Errorf("%s and %s: they say the same", first, second)
		}
	})
}

func parse(text string) map[string]any {
	var u unstructured.Unstructured
	if u.UnmarshalJSON([]byte(strings.Replace(text, "{", `{"kind":"K","apiVersion":"v1",`, 1))) != nil {
		return nil
	}
	return u.Object
}

// TestMetadata: client-go reads names and versions.
func TestMetadata(t *testing.T) {
	t.Parallel()
	object := compact.New(map[string]any{"metadata": map[string]any{
		"name": "a", "namespace": "ns", "uid": "u-1", "resourceVersion": "12", "generation": int64(1),
	}})
	m, err := meta.Accessor(object)
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{m.GetNamespace(), m.GetName(), string(m.GetUID()), m.GetResourceVersion()}; !reflect.DeepEqual(got, []string{"ns", "a", "u-1", "12"}) {
		t.Error(got)
	}
	other := compact.New(map[string]any{"metadata": map[string]any{
		"name": "a", "namespace": "ns", "uid": "u-1", "resourceVersion": "12", "generation": int64(2),
	}})
	if reflect.DeepEqual(m, other.GetObjectMeta()) {
		t.Error("the detector of inconsistent lists would not see that objects differ")
	}
}

// BenchmarkFields is an object of which a cache keeps three fields.
func BenchmarkFields(b *testing.B) {
	fields := map[string]any{
		"apiVersion": "pingcap.com/v1alpha1", "kind": "TidbCluster",
		"metadata": map[string]any{
			"name": "basic-0001", "namespace": "tidb", "uid": "0e8b0f7c-6f4c-4b8e-9c43-0e0e6a1f3e11", "resourceVersion": "1234567",
			"creationTimestamp": "2026-11-24T00:00:00Z",
			"labels":            map[string]any{"app.kubernetes.io/instance": "basic", "team": "storage"},
		},
		"spec": map[string]any{"paused": false, "pd": map[string]any{"replicas": int64(3)}, "tikv": map[string]any{"replicas": int64(3)}},
	}
	object := compact.New(fields)
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		b.ReportMetric(float64(object.Size()), "bytes")
		for b.Loop() {
			compact.New(fields)
		}
	})
	b.Run("fields", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			object.Fields()
		}
	})
}

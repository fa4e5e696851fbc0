package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/test/generate"
)

// stores is an API server with a schema: it has defaults for spec.d and for the size of what is called volume, writes
// 1000m as 1, does not know what is called unknown, and stores neither null nor a zero in what begins with "zero".
func stores(_ schema.GroupVersionResource, object map[string]any) map[string]any {
	out, _ := stored("", object).(map[string]any)
	return out
}

func stored(key string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for below, element := range value {
			element = stored(below, element)
			zero := strings.HasPrefix(below, "zero") && (IsEmpty(element) || Equal(element, false) || Equal(element, int64(0)))
			if element != nil && below != "unknown" && !zero {
				out[below] = element
			}
		}
		for in, name := range map[string]string{"spec": "d", "volume": "size"} {
			if _, there := out[name]; key == in && !there {
				out[name] = int64(1)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = stored("", element)
		}
		return out
	case string:
		return strings.Replace(value, "1000m", "1", 1)
	default:
		return value
	}
}

func TestBuildCanonical(t *testing.T) {
	tests := map[string]struct {
		reason  string
		current string // default: {spec: {d: 1, cpu: "1", m: {a: 1}}}
		wishes  []string
		want    []string
		changes []string // of all operations
	}{
		"Default":  {reason: "A default that is removed is there again.", wishes: []string{"a merge x {spec: {d: null}}"}},
		"Quantity": {reason: "The same quantity in another text.", wishes: []string{"a merge x {spec: {cpu: 1000m}}"}},
		"Zero":     {reason: "What is not stored.", wishes: []string{"a merge x {spec: {zero: false, m: {zeroes: []}}}"}},
		"Pruned":   {reason: "What the schema does not know.", wishes: []string{"a merge x {spec: {unknown: {deep: 1}, m: {unknown: 2}}}"}},
		"Null":     {reason: "A null that a JSON patch adds.", wishes: []string{"a json x [{op: add, path: /spec/none, value: null}]"}},
		"JSON":     {reason: "A JSON patch as a whole.", wishes: []string{"a json x [{op: remove, path: /spec/d}, {op: replace, path: /spec/cpu, value: 1000m}]"}},
		"OtherQuantity": {
			reason:  "Another quantity is one.",
			wishes:  []string{"a merge x {spec: {cpu: 2000m}}"},
			want:    []string{`merge x a {"spec":{"cpu":"2000m"}}`},
			changes: []string{"a: spec.cpu"},
		},
		"OneOfTwo": {
			reason: "What has no effect does not travel with what has, or it would be found to have none.",
			wishes: []string{"a merge x {spec: {d: null, cpu: 1000m, size: 3, unknown: 1}}"},
			want:   []string{`merge x a {"spec":{"size":3}}`}, changes: []string{"a: spec.size"},
		},
		"OneOfTwoJSON": {
			reason: "The steps of a JSON patch stay together, and only what has an effect is a change.",
			wishes: []string{"a json x [{op: remove, path: /spec/d}, {op: add, path: /spec/size, value: 3}]"},
			want:   []string{`json x a [{"op":"remove","path":"/spec/d"},{"op":"add","path":"/spec/size","value":3}]`}, changes: []string{"a: spec.size"},
		},
		"Carried": {
			reason: "A rule that agrees is carried by the request, however it writes the value.",
			wishes: []string{"a merge x {spec: {m: {a: 2}}}", "b json x [{op: replace, path: /spec/m/a, value: 2}]"},
			want:   []string{`merge x a+b {"spec":{"m":{"a":2}}}`}, changes: []string{"a: spec.m.a"},
		},
		"Cancelled": {
			reason: "Actions that undo each other leave nothing to send, whatever the text.",
			wishes: []string{"a merge x {spec: {cpu: 2}}", "a merge x {spec: {cpu: 1000m}}"},
		},
		"NewParent": {
			reason: "A parent that is stored with defaults is written, though all in it is dropped. What becomes of it is told.",
			wishes: []string{"a merge x {spec: {volume: {unknown: 1}}}"},
			want:   []string{`merge x a {"spec":{"volume":{"unknown":1}}}`}, changes: []string{"a: spec.volume.size"},
		},
		"OldParent": {
			reason:  "Once it is there, nothing is left to do.",
			current: `{spec: {d: 1, volume: {size: 1}}}`, wishes: []string{"a merge x {spec: {volume: {unknown: 1}}}"},
		},
		"List": {
			reason:  "A list is one field, and its elements are stored too.",
			current: `{spec: {d: 1, list: [{cpu: "1"}]}}`, wishes: []string{"a merge x {spec: {list: [{cpu: 1000m, zero: 0, unknown: 1}]}}"},
		},
		"Finalizer": {
			reason: "A finalizer is a change of its own.",
			wishes: []string{"a finalizer x +held", "a merge x {spec: {d: null}}"},
			want:   []string{`merge x a {"metadata":{"finalizers":["held"]}}`}, changes: []string{"a: metadata.finalizers"},
		},
		"New": {
			reason: "Of a new object everything is written.",
			wishes: []string{"a create n {spec: {d: 1, zero: 0}}", "a apply m {spec: {zero: 0}}"},
			want:   []string{`create n a {"spec":{"d":1,"zero":0}}`, `apply m a {"spec":{"zero":0}}`}, changes: []string{"a: spec.d", "a: spec.zero", "a: spec.zero"},
		},
		"DeletedByAnother": {
			reason: "A rule that has what it wants, in other words, does not keep an object from being deleted.",
			wishes: []string{"a merge x {spec: {cpu: 1000m}}", "b delete x"},
			want:   []string{`delete x b {}`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := tc.current
			if current == "" {
				current = `{spec: {d: 1, cpu: "1", m: {a: 1}}}`
			}
			wishes := cluster{"x": current}.wishes(t, tc.wishes...)
			built := Build(wishes, Options{Canonical: stores})
			if diff := cmp.Diff(tc.want, written(t, built.Operations)); diff != "" {
				t.Errorf("%s\noperations (-want +got):\n%s", tc.reason, diff)
			}
			var changes []string
			for _, o := range built.Operations {
				for _, change := range o.Changes {
					changes = append(changes, change.Rule.Name+": "+change.Path.String())
				}
			}
			if diff := cmp.Diff(tc.changes, changes); diff != "" {
				t.Errorf("%s\nchanges (-want +got):\n%s", tc.reason, diff)
			}
			if built.Decisions != nil || len(built.Suppressed) > 0 {
				t.Errorf("something is withheld: %v, %v", built.Decisions, built.Suppressed)
			}
			for _, w := range wishes {
				if w.Current != nil && !cmp.Equal(w.Current, decode[map[string]any](t, current)) {
					t.Errorf("the snapshot was changed to %v", w.Current)
				}
			}
		})
	}
}

// TestAppliedCanonical holds that an apply is done where what it owns is stored with its values, however they are
// written.
func TestAppliedCanonical(t *testing.T) {
	const element = `"f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:cpu": {}, "f:zero": {}}}`
	tests := map[string]struct {
		reason  string
		fields  string
		current string
		body    string
		want    string // what is applied, empty for nothing
	}{
		"Quantity": {
			reason: "The quantity is there.",
			fields: `{"f:spec": {"f:cpu": {}}}`, current: `{spec: {cpu: "1"}}`, body: `{spec: {cpu: 1000m}}`,
		},
		"OtherQuantity": {
			reason: "Another one is not.",
			fields: `{"f:spec": {"f:cpu": {}}}`, current: `{spec: {cpu: "2"}}`, body: `{spec: {cpu: 1000m}}`,
			want: `{"spec":{"cpu":"1000m"}}`,
		},
		"Zero": {
			reason: "The manager owns what is not stored, so nothing is missing.",
			fields: `{"f:spec": {"f:zero": {}, "f:a": {}}}`, current: `{spec: {a: 1}}`, body: `{spec: {a: 1, zero: false}}`,
		},
		"ZeroNotOwned": {
			reason: "What it does not own it is still to own.",
			fields: `{"f:spec": {"f:a": {}}}`, current: `{spec: {a: 1}}`, body: `{spec: {a: 1, zero: false}}`,
			want: `{"spec":{"a":1,"zero":false}}`,
		},
		"Default": {
			reason: "What is as the default is owned all the same.",
			fields: `{"f:spec": {"f:d": {}}}`, current: `{spec: {d: 1}}`, body: `{spec: {}}`,
			want: `{"spec":{}}`,
		},
		"ByKey": {
			reason: "Elements are compared by their keys.",
			fields: `{"f:spec": {` + element + `}}`, current: `{spec: {list: [{name: b, cpu: "5"}, {name: a, cpu: "1"}]}}`, body: `{spec: {list: [{name: a, cpu: 1000m, zero: 0}]}}`,
		},
		"ByKeyOther": {
			reason: "A field of one differs.",
			fields: `{"f:spec": {` + element + `}}`, current: `{spec: {list: [{name: b, cpu: "1"}, {name: a, cpu: "2"}]}}`, body: `{spec: {list: [{name: a, cpu: 1000m, zero: 0}]}}`,
			want: `{"spec":{"list":[{"cpu":"1000m","name":"a","zero":0}]}}`,
		},
		"ByKeyGone": {
			reason: "An element that somebody removed is applied again.",
			fields: `{"f:spec": {` + element + `}}`, current: `{spec: {list: [{name: b, cpu: "1"}]}}`, body: `{spec: {list: [{name: a, cpu: 1000m, zero: 0}]}}`,
			want: `{"spec":{"list":[{"cpu":"1000m","name":"a","zero":0}]}}`,
		},
		"Parent": {
			reason: "A map that is gone is applied again, with what it had.",
			fields: `{"f:spec": {"f:m": {"f:a": {}}}}`, current: `{spec: {d: 1}}`, body: `{spec: {m: {a: 1}}}`,
			want: `{"spec":{"m":{"a":1}}}`,
		},
		"ParentOfNothing": {
			reason: "Unless nothing of it is stored.",
			fields: `{"f:spec": {"f:zeroes": {"f:zero": {}}}}`, current: `{spec: {d: 1}}`, body: `{spec: {zeroes: {zero: 0}}}`,
		},
		"Atomic": {
			reason: "A list that is owned as a whole is compared as it is stored.",
			fields: `{"f:spec": {"f:list": {}}}`, current: `{spec: {list: [{cpu: "1"}]}}`, body: `{spec: {list: [{cpu: 1000m}]}}`,
		},
		"Changes": {
			reason: "Of two fields only one is another, and all of them are applied.",
			fields: `{"f:spec": {"f:cpu": {}, "f:a": {}}}`, current: `{spec: {cpu: "1", a: 1}}`, body: `{spec: {cpu: 1000m, a: 2}}`,
			want: `{"spec":{"a":2,"cpu":"1000m"}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := decode[map[string]any](t, tc.current)
			current["metadata"] = map[string]any{"managedFields": []any{map[string]any{
				"manager": rule("a").FieldManager(), "operation": "Apply", "fieldsV1": decode[any](t, tc.fields),
			}}}
			before := encode(t, current)
			got := ""
			for _, o := range Build([]Wish{wish(t, "a", Apply, current, tc.body)}, Options{Canonical: stores, Applied: byKey}).Operations {
				got += encode(t, o.Body)
				for _, change := range o.Changes {
					if change.Path.String() == "spec.cpu" && Equal(change.Before, "1") {
						t.Errorf("it is no change: %v", change)
					}
				}
			}
			if got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.reason, got, tc.want)
			}
			if after := encode(t, current); after != before {
				t.Errorf("the snapshot was changed from\n%s to\n%s", before, after)
			}
		})
	}
}

func TestStoredSettles(t *testing.T) { rapid.Check(t, storedSettles) }

// FuzzStored has go test -fuzz look for wishes that an API server with a schema never lets settle.
func FuzzStored(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(storedSettles))
}

// storedSettles holds that what is written is stored so that nothing is left to do, that every operation changes what
// is stored, and that none is planned without a change.
func storedSettles(t *rapid.T) {
	object := stores(target.GVR, map[string]any{"spec": drawStored(t, 2)})
	var bodies []any
	for range rapid.IntRange(1, 3).Draw(t, "rules") {
		bodies = append(bodies, map[string]any{"spec": drawStored(t, 2)})
	}
	wishes := wishesOf(object, bodies)
	built := Build(wishes, Options{Canonical: stores})
	for _, o := range built.Operations {
		after := stores(target.GVR, carriedOut(t, object, []Operation{o}, Options{Canonical: stores}))
		if Equal(after, object) || len(o.Changes) == 0 {
			t.Fatalf("%v has no effect on %v: %v", o.Body, object, o.Changes)
		}
		object = after
	}
	if again := Build(lasting(wishes, object), Options{Canonical: stores}).Operations; len(again) > 0 {
		t.Fatalf("%v is left to do on %v", again[0].Body, object)
	}
}

func drawStored(t *rapid.T, depth int) map[string]any {
	out := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "size") {
		key := rapid.SampledFrom([]string{"a", "cpu", "d", "size", "unknown", "zero", "volume", "m"}).Draw(t, "key")
		if (key == "volume" || key == "m" || key == "unknown") && depth > 0 {
			out[key] = drawStored(t, depth-1)
			continue
		}
		out[key] = rapid.SampledFrom([]any{nil, int64(0), int64(1), false, "1", "1000m", []any{"1000m"}}).Draw(t, "value")
	}
	return out
}

// BenchmarkBuild is a rule that has what it wants, which is the rule, and one that has not.
func BenchmarkBuild(b *testing.B) {
	current := map[string]any{"spec": map[string]any{"d": int64(1), "cpu": "1", "m": map[string]any{"a": int64(1)}}}
	for name, body := range map[string]map[string]any{
		"Holds":   {"spec": map[string]any{"cpu": "1"}},
		"Same":    {"spec": map[string]any{"cpu": "1000m"}},
		"Changes": {"spec": map[string]any{"cpu": "2"}},
	} {
		wishes := []Wish{{Rule: rule("a"), Target: target, Current: current, Type: Merge, Body: body}}
		for schema, options := range map[string]Options{"WithoutSchema": {}, "WithSchema": {Canonical: stores}} {
			b.Run(name+"/"+schema, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Build(wishes, options)
				}
			})
		}
	}
}

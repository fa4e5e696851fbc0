package typing_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
	"github.com/dyncontroller/dyncontroller/test/oracle"
)

func check(t *testing.T, property func(t *rapid.T, d drawer, v any, of typing.Type)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		d := drawer{t}
		v := d.value(4)
		of := d.typeOf(v)
		if !oracle.Admits(of, v) {
			t.Fatalf("%v does not admit %v", of, v)
		}
		property(t, d, v, of)
	})
}

// TestNavigation is the promise of a type: what is read of a value that it admits is
// admitted by the type of what is read.
func TestNavigation(t *testing.T) {
	check(t, func(t *rapid.T, _ drawer, v any, of typing.Type) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range someKeys {
				checkField(t, of, v, key)
			}
			for _, element := range v {
				if element != nil && !oracle.Admits(of.Values(), element) {
					t.Fatalf("no value of %v is %v", v, element)
				}
			}
		case []any:
			for i, element := range v {
				if !oracle.Admits(of.Items(), element) || !oracle.Admits(of.At(int64(i)), element) || !oracle.Admits(of.At(nil), element) {
					t.Fatalf("no element of %v is %v", v, element)
				}
			}
			if !oracle.Admits(of.Slice(), v[:len(v)/2]) {
				t.Fatalf("no slice of %v", v)
			}
			for _, element := range flat(v) {
				if !oracle.Admits(of.Flat(), element) {
					t.Fatalf("%v is not in the flat %v", element, v)
				}
			}
		}
	})
}

func flat(list []any) []any {
	var all []any
	for _, v := range list {
		if inner, is := v.([]any); is {
			all = append(all, flat(inner)...)
		} else if v != nil {
			all = append(all, v)
		}
	}
	return all
}

func checkField(t *rapid.T, of typing.Type, m map[string]any, key string) {
	if stored := of.At(key); !oracle.Admits(stored, m[key]) {
		t.Fatalf("%v has no stored %s, and %v has", stored, key, m)
	}
	whole := m["apiVersion"] != nil && m["kind"] != nil
	if key == "spec" || key == "status" {
		checkRead(t, of, of, m, key, whole)
	}
	if metadata, is := m[key].(map[string]any); is && key == "metadata" {
		checkRead(t, of, of.At(key), metadata, "labels", whole)
	}
}

func checkRead(t *rapid.T, object, of typing.Type, m map[string]any, key string, whole bool) {
	field, result := of.FieldOf(object, key)
	if result != typing.Lacking && !admitsRead(field, m, key, whole) || result == typing.Lacking && m[key] != nil {
		t.Fatalf("%v (%v) is not %s of %v", field, result, key, m)
	}
}

// admitsRead compares a type with what a path reads, which always is a map for some
// fields. What the schema requires of those counts as there.
func admitsRead(of typing.Type, m map[string]any, key string, always bool) bool {
	if m[key] == nil && always {
		return of.Kinds()&value.Map != 0
	}
	return oracle.Admits(of, m[key])
}

// TestNarrowing makes sure that types which say more still admit what they are
// about, and say that much.
func TestNarrowing(t *testing.T) {
	check(t, func(t *rapid.T, d drawer, v any, of typing.Type) {
		if !oracle.Admits(of.Nilable(), nil) || !oracle.Admits(of.Nilable(), v) || of.NonNil().CanBeNil() {
			t.Fatalf("%v, which is %v, or nil", v, of)
		}
		if v != nil && !oracle.Admits(of.NonNil(), v) || !oracle.Admits(of.Only(value.KindOf(v)), v) {
			t.Fatalf("%v is not %v alone", v, of)
		}
		if constants, known := of.Constants(); known && v != nil && !slices.ContainsFunc(constants, func(c any) bool { return reflect.DeepEqual(c, v) }) {
			t.Fatalf("%v is none of %v", v, constants)
		}
		path := d.pathIn(v)
		if at(v, path) == nil {
			return
		}
		refined := of.Present(path)
		if !oracle.Admits(refined, v) {
			t.Fatalf("%v has %v and is not %v", v, path, refined)
		}
		var facts *typing.Facts
		if applied := facts.With(1, path...).Apply(1, of); !applied.Equal(refined) {
			t.Fatalf("%v and %v", applied, refined)
		}
		for i, key := range path {
			if refined.CanBeNil() {
				t.Fatalf("%v of %v can be nil", path[:i], v)
			}
			refined = refined.At(key)
		}
		if last := path[max(0, len(path)-1):]; refined.CanBeNil() && !slices.Contains([]string{"spec", "status"}, append(last, "")[0]) {
			t.Fatalf("%v of %v can be nil", path, v)
		}
	})
}

// pathIn draws a path that leads somewhere.
func (d drawer) pathIn(v any) []string {
	m, is := v.(map[string]any)
	if !is || len(m) == 0 || d.chance(20) {
		return nil
	}
	key := rapid.SampledFrom(slices.Sorted(maps.Keys(m))).Draw(d.T, "step")
	return append([]string{key}, d.pathIn(m[key])...)
}

func at(v any, path []string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// TestUnion makes sure that a union admits what any of its types does, in any order.
func TestUnion(t *testing.T) {
	check(t, func(t *rapid.T, d drawer, v any, of typing.Type) {
		other := d.typeOf(d.value(3))
		union := typing.Union(of, other)
		if !oracle.Admits(union, v) || !oracle.Admits(typing.Union(other, of), v) {
			t.Fatalf("%v or %v does not admit %v", of, other, v)
		}
		// A union that is too large gives up what comes back with the next.
		again := typing.Union(union, other)
		if !typing.Union(again, other).Equal(again) {
			t.Fatalf("%v or %v is more than it was", again, other)
		}
	})
}

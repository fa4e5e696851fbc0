package related

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestSetLikeMap holds that a set is a map, whichever of its elements is inside.
func TestSetLikeMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s set[int]
		reference := map[int]bool{}
		for _, step := range rapid.SliceOf(rapid.IntRange(-6, 6).Filter(func(i int) bool { return i != 0 })).Draw(t, "steps") {
			if step > 0 {
				s.add(step)
				reference[step] = true
			} else {
				s.remove(-step)
				delete(reference, -step)
			}
			got := slices.Sorted(s.all())
			if want := slices.Sorted(maps.Keys(reference)); !slices.Equal(got, want) || s.len() != len(want) {
				t.Fatalf("%v, of length %d, is not %v", got, s.len(), want)
			}
			for i := 1; i <= 6; i++ {
				if s.has(i) != reference[i] {
					t.Fatalf("has %d: %v", i, s.has(i))
				}
			}
		}
		if s.len() == 0 && s.rest != nil {
			t.Fatal("an empty set keeps a map")
		}
	})
}

// TestWalkLikeLookup holds that the tree leads where each path does, and is gone
// with the last of them.
func TestWalkLikeLookup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var root branch
		added := rapid.SliceOfN(paths, 0, 6).Draw(t, "paths")
		for _, path := range added {
			root.add(path)
		}
		object := objects.Draw(t, "object")
		visited := map[string]int{}
		root.walk(object, func(pointer string, value any) {
			visited[pointer]++
			if found := plan.LookupPointer(object, pointer); !identical(found, value) {
				t.Fatalf("%q leads to %v, not to %v", pointer, found, value)
			}
		})
		for _, path := range added {
			times := visited[path.Pointer()]
			if found := plan.LookupPointer(object, path.Pointer()); times > 1 || found != nil && times == 0 {
				t.Fatalf("%q is visited %d times", path, times)
			}
		}
		for _, path := range added {
			root.remove(path)
		}
		if root.ends != 0 || len(root.below) != 0 {
			t.Fatalf("a branch is left: %v", root)
		}
	})
}

// identical is for scalars; of the rest it compares the kind.
func identical(a, b any) bool {
	kindA, textA := kindOf(a)
	kindB, textB := kindOf(b)
	return cmp.Or(cmp.Compare(kindA, kindB), cmp.Compare(textA, textB)) == 0
}

// TestSameValueSameKind holds that values that match have one place.
func TestSameValueSameKind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.OneOf(scalars,
			rapid.Map(rapid.Int64(), func(i int64) any { return i }),
			rapid.Map(rapid.Int64(), func(i int64) any { return float64(i) }),
			rapid.Map(rapid.Float64(), func(f float64) any { return f }),
			rapid.Map(rapid.Int64(), func(i int64) any { return strconv.FormatInt(i, 10) }))
		a := values.Draw(t, "a")
		b := rapid.OneOf(values, rapid.Just(a), rapid.Just(asFloat(a)), rapid.Just(asInt(a))).Draw(t, "b")
		q := plan.Read{By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"x"}, Value: a}}}
		if q.Matches(map[string]any{"x": b}) && !identical(a, b) {
			t.Fatalf("%T %v matches %T %v and lies elsewhere", a, a, b, b)
		}
	})
}

func asFloat(v any) any {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	return v
}

func asInt(v any) any {
	if f, ok := v.(float64); ok {
		return int64(f)
	}
	return v
}

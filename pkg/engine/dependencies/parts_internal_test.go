package dependencies

import (
	"fmt"
	"maps"
	"slices"
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
			for element := range s.all() { // One may go on no further.
				if !reference[element] {
					t.Fatalf("%d is not in it", element)
				}
				break
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
		var root pathTree
		added := rapid.SliceOfN(paths, 0, 6).Draw(t, "paths")
		for _, path := range added {
			root.count(path, 1)
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
			root.count(path, -1)
		}
		if root.ends != 0 || len(root.below) != 0 {
			t.Fatalf("a part of the tree is left: %v", root)
		}
	})
}

// identical takes a NaN for itself.
func identical(a, b any) bool { return fmt.Sprintf("%T %v", a, a) == fmt.Sprintf("%T %v", b, b) }

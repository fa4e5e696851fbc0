package function

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// flowOf analyses a call of f in which each argument is a field of an object with
// the parameter's name; a predicate gives the field p of its element.
func flowOf(f *Function, reads *footprint.Tree) footprint.Shape {
	call := &Flow{}
	for _, p := range f.Params {
		if p.Predicate {
			call.Predicate = func(element, _ footprint.Shape) footprint.Shape { return element.Key("p") }
			continue
		}
		call.Arguments = append(call.Arguments, footprint.Object(reads).Key(p.Name))
		call.Constants = append(call.Constants, nil)
	}
	return f.Flow(call)
}

// TestRowsWithoutFlow makes sure that a function is safe before anyone thinks of
// its footprint.
func TestRowsWithoutFlow(t *testing.T) {
	checked := 0
	for _, f := range All() {
		if f.flow != nil {
			continue
		}
		checked++
		reads := &footprint.Tree{}
		result := flowOf(&f, reads)
		for i, p := range f.Params {
			field := footprint.Fields(p.Name, "deep")
			if f.Iterates() && i == 0 {
				field = footprint.Fields(p.Name).Then(footprint.Items()).Then(footprint.Key("p")).Then(footprint.Key("deep"))
			}
			if !p.Predicate && !reads.Touches(field) {
				t.Errorf("%s reads %v, and of %s not all", f.Name, reads.Paths(), p.Name)
			}
		}
		before := len(reads.Paths())
		result.Key("x").Read(footprint.Value)
		if len(reads.Paths()) != before {
			t.Errorf("the result of %s holds an argument", f.Name)
		}
	}
	if checked < 20 {
		t.Errorf("only %d functions have no flow", checked)
	}
}

func TestFlows(t *testing.T) {
	for name, want := range map[string]string{
		"len":       "len(of)",
		"keys":      "len(map)",
		"type":      "",
		"omit":      "",
		"first":     "list[*].used",
		"find":      "list[*].p list[*].used",
		"default":   "len(x) x.used y.used",
		"get":       "from.*.used from[*].used key",
		"merge":     "maps.used",
		"pick":      "keys map.*",
		"condition": "object.status.conditions[*].type object.status.conditions[*].used type",
		"reduce":    "initial.used list[*].p.used",
		"fromPairs": "len(pairs[*]) pairs[*][0] pairs[*][1]",
	} {
		f, found := Lookup(name)
		if !found {
			t.Fatalf("no function %s", name)
		}
		reads := &footprint.Tree{}
		flowOf(f, reads).Key("used").Read(footprint.Value)
		if got := strings.Join(reads.Paths(), " "); got != want {
			t.Errorf("%s reads %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"take":    "list[*].used n",
		"filter":  "list[*].p list[*].used",
		"sortBy":  "list[*].p list[*].used order",
		"concat":  "lists[*].used",
		"sort":    "list order",
		"map":     "list[*].p.used",
		"values":  "map.*.used",
		"flatten": "list[*].used list[*][*].used list[*][*][*]",
	} {
		f, found := Lookup(name)
		if !found {
			t.Fatalf("no function %s", name)
		}
		reads := &footprint.Tree{}
		flowOf(f, reads).Items().Key("used").Read(footprint.Value)
		if got := strings.Join(reads.Paths(), " "); got != want {
			t.Errorf("elements of %s read %q, want %q", name, got, want)
		}
	}
}

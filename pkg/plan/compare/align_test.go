package compare_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

func parsed(t *testing.T, text string) (value any) {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = utiljson.Unmarshal(data, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestDiffOfListsByWhatTheirElementsAreAbout(t *testing.T) {
	tests := map[string]struct {
		reason, want, have string
		lines              []string
	}{
		"added": {
			"one decision more does not shift the others",
			"a: [{object: x, rule: one, outcome: matched}, {object: x, rule: three}]",
			"a: [{object: x, rule: one, outcome: failed}, {object: x, rule: two, outcome: matched}, {object: x, rule: three}]",
			[]string{
				`a[0].outcome: want "matched", have "failed"`,
				`a[1]: want nothing, have {"object":"x","outcome":"matched","rule":"two"}`,
			},
		},
		"removed": {
			"nor does one less, and the index is that in the golden",
			"a: [{object: x}, {object: b}, {object: z, v: 1}]", "a: [{object: b}, {object: z, v: 2}]",
			[]string{`a[0]: want {"object":"x"}, have nothing`, `a[2].v: want 1, have 2`},
		},
		"again": {
			"a rule that decides twice is told apart by order",
			"a: [{object: x, rule: one, v: 1}, {object: x, rule: one, v: 2}]",
			"a: [{object: x, rule: one, v: 1}, {object: x, rule: two}, {object: x, rule: one, v: 3}]",
			[]string{`a[1]: want nothing, have {"object":"x","rule":"two"}`, `a[1].v: want 2, have 3`},
		},
		"order": {
			"the order counts: what moved is told where it was and where it is",
			"a: [{object: x}, {object: b}]", "a: [{object: b}, {object: x}]",
			[]string{`a[0]: want nothing, have {"object":"b"}`, `a[1]: want {"object":"b"}, have nothing`},
		},
		"names": {
			"lists in objects have names", "a: [{name: x, v: 1}]", "a: [{name: w}, {name: x, v: 2}]",
			[]string{`a[0]: want nothing, have {"name":"w"}`, `a[0].v: want 1, have 2`},
		},
		"mixed": {
			"where one does not tell, all are compared by their indexes",
			"a: [{name: x}, 1]", "a: [{name: b}, 2]",
			[]string{`a[0].name: want "x", have "b"`, "a[1]: want 1, have 2"},
		},
		"absent": {
			"of a whole list that is new each element is told", "{}", "a: [{object: x, now: {b: 1}}, {object: b}]",
			[]string{`a[0]: want nothing, have {"now":{"b":1},"object":"x"}`, `a[1]: want nothing, have {"object":"b"}`},
		},
		"gone":       {"and of one that is gone", "a: [{object: x}]", "{}", []string{`a[0]: want {"object":"x"}, have nothing`}},
		"empty":      {"an empty list is not an absent one", "{}", "a: []", []string{"a: want nothing, have []"}},
		"empty name": {"an empty name tells nothing", "a: [{name: ''}]", "a: [{name: ''}, {name: x}]", []string{`a[1]: want nothing, have {"name":"x"}`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.lines, compare.Diff(parsed(t, test.want), parsed(t, test.have))); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
		})
	}
}

// TestDiffIsEmptyOnlyForTheSame says that no way of pairing elements hides a difference.
func TestDiffIsEmptyOnlyForTheSame(t *testing.T) {
	element := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return map[string]any{"object": rapid.SampledFrom([]string{"x", "y", ""}).Draw(t, "object"), "v": rapid.Int64Range(0, 1).Draw(t, "v")}
		case 1:
			return map[string]any{"name": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name")}
		case 2:
			return map[string]any{"object": "x", "rule": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rule")}
		default:
			return rapid.Int64Range(0, 2).Draw(t, "number")
		}
	})
	list := rapid.SliceOfN(element, 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		want, have := any(list.Draw(t, "want")), any(list.Draw(t, "have"))
		if lines := compare.Diff(want, have); (len(lines) == 0) != cmp.Equal(want, have) {
			t.Fatalf("%v and %v: %q", want, have, lines)
		}
	})
}

// TestDiffOfLongListsEnds says that what nobody writes by hand is no way to stop a run.
func TestDiffOfLongListsEnds(t *testing.T) {
	long := func(prefix string) []any {
		var out []any
		for i := range 20_000 {
			out = append(out, map[string]any{"object": fmt.Sprint(prefix, i)})
		}
		return out
	}
	if lines := compare.Diff(long("a"), long("b")); len(lines) != 40_000 {
		t.Errorf("have %d lines", len(lines))
	}
}

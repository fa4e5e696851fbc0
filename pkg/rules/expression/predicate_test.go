package expression

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPredicates(t *testing.T) {
	names := env{"object": sample(), "absent": nil, "xs": []any{int64(3), int64(1), int64(2)}, "limit": int64(1)}
	tests := map[string]struct {
		source string
		want   any
	}{
		"#index":                              {"map(xs, #index * 10 + #)", []any{int64(3), int64(11), int64(22)}},
		"an index beyond small integers":      {"find(0..999, #index == 300)", int64(300)},
		"nested":                              {"map(xs, map(1..#, # * #))[2]", []any{int64(1), int64(4)}},
		"# is the outer one again afterwards": {"map([1, 2], sum([1], #) + #)", []any{int64(2), int64(3)}},
		"a let reaches the outer element":     {"map(xs, {let outer = #; count(xs, # < outer)})", []any{int64(2), int64(0), int64(1)}},
		"four levels":                         {nested("all([1], ", 4), true},
		"maps in double braces":               {"map(xs[:1], {{n: #, i: #index}})", []any{map[string]any{"n": int64(3), "i": int64(0)}}},
		"reduce with a start":                 {"reduce(xs, #acc + string(#), \"\")", "312"},
		"reduce starting with nil":            {"reduce(xs, #acc ?? #, nil)", int64(3)},
		"reduce of an empty list":             {"reduce([], #acc + #, 5)", int64(5)},
		"reduce inside reduce":                {"reduce([[1, 2], [3]], #acc + reduce(#, #acc + #, 0), 0)", int64(6)},
		"all of nothing":                      {"all(absent, false)", true},
		"one fails with none":                 {"one(xs, # > 3)", false},
		"any stops early":                     {"any(xs, # == 3 || absent)", true},
		"all stops early":                     {"all(xs, # != 3 && absent)", false},
		"findLast of nothing":                 {"findLast(xs, # < 0)", nil},
		"findLastIndex of nothing":            {"findLastIndex(xs, # < 0)", nil},
		"sum of what is absent":               {"sum(absent)", int64(0)},
		"groupBy":                             {"groupBy(xs, # > 1 ? \"big\" : \"small\")", map[string]any{"big": []any{int64(3), int64(2)}, "small": []any{int64(1)}}},
		"sortBy desc":                         {"sortBy(xs, desc(#))", []any{int64(3), int64(2), int64(1)}},
		"sortBy desc with a descending order": {"sortBy(xs, [desc(#)], \"desc\")", []any{int64(1), int64(2), int64(3)}},
		"sortBy is stable":                    {"sortBy([[1, 0], [0, 1], [1, 2], [0, 3]], #[0])", []any{[]any{int64(0), int64(1)}, []any{int64(0), int64(3)}, []any{int64(1), int64(0)}, []any{int64(1), int64(2)}}},
		"sortBy several keys":                 {`map(sortBy([{a: 1, b: "x"}, {a: 2, b: "x"}, {a: 2, b: "y"}], [desc(.a), .b]), string(.a) + .b)`, []any{"2x", "2y", "1x"}},
		"sortBy keys after variables":         {"sortBy(xs, {let odd = # % 2; [odd, desc(#)]})", []any{int64(2), int64(3), int64(1)}},
		"sortBy a key after a variable":       {"sortBy(xs, {let n = #; desc(n)})", []any{int64(3), int64(2), int64(1)}},
		"sortBy nil first":                    {"sortBy([2, nil, 1], #)", []any{nil, int64(1), int64(2)}},
		"sortBy nil last if descending":       {"sortBy([2, nil, 1], desc(#))", []any{int64(2), int64(1), nil}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustEval(t, tt.source, names)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.source, diff)
			}
		})
	}
}

// TestPredicateKeepsElements pins what targets rely on: these functions give the
// elements themselves and not copies.
func TestPredicateKeepsElements(t *testing.T) {
	pod := map[string]any{"name": "a"}
	for _, source := range []string{
		"filter(pods, true)[0]", "find(pods, true)", "findLast(pods, true)", "sortBy(pods, .name)[0]", "take(pods, 1)[0]",
		"first(pods)", "last(pods)", "pods[0]", "pods[:1][0]", "reverse(pods)[0]", "concat(pods, [])[0]",
		`groupBy(pods, .name)["a"][0]`, "uniq(pods)[0]", "flatten([pods])[0]", "map(pods, #)[0]",
	} {
		got, ok := mustEval(t, source, env{"pods": []any{pod}}).(map[string]any)
		if !ok {
			t.Fatalf("%s is no map", source)
		}
		got["marked"] = strings.ToUpper(source)
		if pod["marked"] != got["marked"] {
			t.Errorf("%s gave a copy", source)
		}
	}
}

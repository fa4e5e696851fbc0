package compare_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

type diffCase struct {
	reason     string
	want, have any
	lines      []string
}

func (test diffCase) run(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(test.lines, compare.Diff(test.want, test.have)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", test.reason, diff)
	}
}

func TestDiffScalars(t *testing.T) {
	const long = "a text of which the first half and more is the same in both, so that a reader must be shown the place: "
	tests := map[string]diffCase{
		"number": {reason: "1 and 1.0 are the same number", want: []any{1.0, int64(2)}, have: []any{int64(1), 2.0}},
		"exact": {
			reason: "large integers are not rounded",
			want:   int64(9007199254740993), have: 9007199254740992.0,
			lines: []string{"(the whole): want 9007199254740993, have 9007199254740992"},
		},
		"largest": {
			reason: "a float beyond int64 is not wrapped around",
			want:   int64(math.MaxInt64), have: math.MaxFloat64,
			lines: []string{"(the whole): want 9223372036854775807, have 1.7976931348623157e+308"},
		},
		"text": {
			reason: "text is not a number",
			want:   "4", have: int64(4), lines: []string{`(the whole): want "4", have 4`},
		},
		"long": {
			reason: "long values are cut to where they differ",
			want:   long + "a", have: long + "b",
			lines: []string{`(the whole): want ...` + long[len(long)-20:] + `a", have ...` + long[len(long)-20:] + `b"`},
		},
		"longer": {
			reason: "what is only in one of them is cut too",
			want:   nil, have: strings.Repeat("x", 200),
			lines: []string{`(the whole): want null, have "` + strings.Repeat("x", 99) + "..."},
		},
		"terminal": {
			reason: "values cannot move the cursor",
			want:   "a\x1b[2J", have: map[string]any{"\u009b": "b"},
			lines: []string{`(the whole): want "a\u001b[2J", have {"\u009B":"b"}`},
		},
	}
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

func TestDiffStructure(t *testing.T) {
	write := func(name string, replicas int64) any {
		return map[string]any{"writes": []any{map[string]any{"body": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app.kubernetes.io/name": name}},
			"spec":     map[string]any{"pd": map[string]any{"replicas": replicas}},
		}}}}
	}
	one, two := []any{int64(1)}, []any{int64(1), int64(2)}
	tests := map[string]diffCase{
		"same": {reason: "what is equal is not shown", want: write("a", 4), have: write("a", 4)},
		"nested": {
			reason: "each field is named by its path, in order",
			want:   write("a", 4), have: write("b", 6),
			lines: []string{
				`writes[0].body.metadata.labels["app.kubernetes.io/name"]: want "a", have "b"`,
				"writes[0].body.spec.pd.replicas: want 4, have 6",
			},
		},
		"null": {
			reason: "an absent key is not a null",
			want:   map[string]any{"a": nil}, have: map[string]any{}, lines: []string{"a: want null, have nothing"},
		},
		"additional": {
			reason: "what was not expected is shown",
			want:   map[string]any{}, have: map[string]any{"a": map[string]any{"b<": "c"}},
			lines: []string{`a: want nothing, have {"b<":"c"}`},
		},
		"longer list":  {reason: "an element too many", want: one, have: two, lines: []string{"[1]: want nothing, have 2"}},
		"shorter list": {reason: "an element too few", want: two, have: one, lines: []string{"[1]: want 2, have nothing"}},
		"kinds": {
			reason: "a map is not a list, nor a scalar",
			want:   map[string]any{"a": "x", "b": []any{}, "c": map[string]any{}},
			have:   map[string]any{"a": map[string]any{}, "b": true, "c": []any{}},
			lines:  []string{`a: want "x", have {}`, "b: want [], have true", "c: want {}, have []"},
		},
	}
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

func TestChanges(t *testing.T) {
	container := func(name, image string) any { return map[string]any{"image": image, "name": name} }
	tests := map[string]struct {
		reason        string
		before, after any
		lines         []string
	}{
		"scalar": {"a value is shown before and after", int64(4), int64(5), []string{"spec.x: 4 -> 5"}},
		"new":    {"a field that was not there", map[string]any{}, map[string]any{"a b": true}, []string{`spec.x["a b"]: none -> true`}},
		"names": {
			"an element is named by what it is about",
			[]any{container("web", "web:1"), container("proxy", "proxy")},
			[]any{container("web", "web:2")},
			[]string{`spec.x[name=web].image: "web:1" -> "web:2"`, `spec.x[name=proxy]: {"image":"proxy","name":"proxy"} -> none`},
		},
		"indexes": {"or by its index", []any{"a"}, []any{"a", "b"}, []string{`spec.x[1]: none -> "b"`}},
		"numbers": {
			"a number is a name too",
			[]any{map[string]any{"containerPort": int64(80), "v": 1}},
			[]any{map[string]any{"containerPort": int64(80), "v": 2}},
			[]string{"spec.x[containerPort=80].v: 1 -> 2"},
		},
		"escapes": {
			"a name does not move the cursor",
			[]any{container("x\x1b[31m\nlie", "a")},
			[]any{container("x\x1b[31m\nlie", "b")},
			[]string{`spec.x[name=x\u001b[31m\nlie].image: "a" -> "b"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.lines, compare.Changes(plan.Path{"spec", "x"}, test.before, test.after)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	have := `{spec: {replicas: 5, paused: true, list: [a, b]}, containers: [{name: web, image: "web:1"}, {name: proxy, image: p}], again: [{type: x, v: 1}, {type: x, v: 2, w: 1}], ports: [{port: 80, protocol: {tcp: true}, v: 1}]}`
	tests := map[string]struct {
		reason, want string
		lines        []string
	}{
		"part":     {"what is not told does not count", `{spec: {replicas: 5, list: [b]}, containers: [{name: proxy}]}`, nil},
		"value":    {"a value that is another", `{spec: {replicas: 4}}`, []string{"spec.replicas: want 4, have 5"}},
		"lacking":  {"a key that is not there", `{spec: {x: {z: 1}}}`, []string{`spec.x: want {"z":1}, have nothing`}},
		"null":     {"null is what must not be there", `{spec: {paused: null, other: null}}`, []string{"spec.paused: want nothing, have true"}},
		"element":  {"an element is the one about the same", `{containers: [{name: web, image: "web:2"}]}`, []string{`containers[0].image: want "web:2", have "web:1"`}},
		"nearest":  {"of several, the nearest", `{again: [{type: x, v: 2, w: 3}]}`, []string{"again[0].w: want 3, have 1"}},
		"no other": {"or there is none", `{containers: [{name: db}], spec: {list: [c]}}`, []string{`containers[0]: want {"name":"db"}, have nothing like it`, `spec.list[0]: want "c", have nothing like it`}},
		"hostile":  {"what tells elements apart may be anything", `{ports: [{port: 80, protocol: {tcp: true}, v: 3}]}`, []string{`ports[0]: want {"port":80,"protocol":{"tcp":true},"v":3}, have nothing like it`}},
		"kinds":    {"a list is not a map", `{spec: []}`, []string{`spec: want [], have {"list":["a","b"],"paused":true,"replicas":5}`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.lines, compare.Missing(parsed(t, test.want), parsed(t, have))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

package document

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `metadata:
  name: a
  labels: {app.kubernetes.io/name: b, "": c, 1a: d}
spec:
  rules:
  - when: pd > 0
    count: 3
    ratio: 0.5
    on call: true
  - [x, [z]]
  empty:
`

func TestPathAndPosition(t *testing.T) {
	root := mustParse(t, sample)[0]
	got := map[string]Position{}
	walk(root, func(n *Node) {
		if _, ok := got[n.Path()]; !ok { // Keys come first and have the path of their value.
			got[n.Path()] = n.Position()
		}
	})
	want := map[string]Position{
		"":                {1, 1},
		"metadata":        {1, 1},
		"metadata.name":   {2, 3},
		`metadata.labels`: {3, 3},
		`metadata.labels["app.kubernetes.io/name"]`: {3, 12},
		`metadata.labels[""]`:                       {3, 39},
		`metadata.labels.1a`:                        {3, 46},
		"spec":                                      {4, 1},
		"spec.rules":                                {5, 3},
		"spec.rules[0]":                             {6, 5},
		"spec.rules[0].when":                        {6, 5},
		"spec.rules[0].count":                       {7, 5},
		"spec.rules[0].ratio":                       {8, 5},
		`spec.rules[0]["on call"]`:                  {9, 5},
		"spec.rules[1]":                             {10, 5},
		"spec.rules[1][0]":                          {10, 6},
		"spec.rules[1][1]":                          {10, 9},
		"spec.rules[1][1][0]":                       {10, 10},
		"spec.empty":                                {11, 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	values := map[string]Position{}
	for _, entry := range root.Get("spec").Get("rules").Elements()[0].Entries() {
		values[entry.Key.Text()] = entry.Value.Position()
	}
	wantValues := map[string]Position{"when": {6, 11}, "count": {7, 12}, "ratio": {8, 12}, "on call": {9, 14}}
	if diff := cmp.Diff(wantValues, values); diff != "" {
		t.Error(diff)
	}
	if at := root.Get("spec").Get("empty").Position(); at != (Position{11, 3}) {
		t.Errorf("a value that is not written is at %v, not at its key", at)
	}
}

func TestNode(t *testing.T) {
	root := mustParse(t, sample)[0]
	first := root.Get("spec").Get("rules").Elements()[0]
	cases := map[string]struct {
		node  *Node
		kind  Kind
		value any
		text  string
	}{
		"string":  {first.Get("when"), KindString, "pd > 0", "pd > 0"},
		"integer": {first.Get("count"), KindInt, int64(3), "3"},
		"float":   {first.Get("ratio"), KindFloat, 0.5, "0.5"},
		"boolean": {first.Get("on call"), KindBool, true, "true"},
		"null":    {root.Get("spec").Get("empty"), KindNull, nil, ""},
		"map":     {first, KindMap, nil, ""},
		"list":    {root.Get("spec").Get("rules"), KindList, nil, ""},
		"no node": {root.Get("nothing").Get("there"), KindInvalid, nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.node.Kind() != tc.kind || tc.node.Value() != tc.value || tc.node.Text() != tc.text {
				t.Errorf("have %v, %v, %q", tc.node.Kind(), tc.node.Value(), tc.node.Text())
			}
			if tc.kind != KindMap && (tc.node.Entries() != nil || tc.node.Get("x") != nil) {
				t.Error("it has entries")
			}
			if tc.kind != KindList && tc.node.Elements() != nil {
				t.Error("it has elements")
			}
		})
	}
	var none *Node
	if none.Path() != "" || none.Position() != (Position{}) || none.Any() != nil {
		t.Error("no node is not empty")
	}
}

// TestImmutable holds that nothing handed out leads back into the node, and,
// under the race detector, that reading changes nothing.
func TestImmutable(t *testing.T) {
	root := mustParse(t, sample)[0]
	before := root.Any()
	root.Entries()[0] = Entry{}
	root.Get("spec").Get("rules").Elements()[0] = nil
	root.Any().(map[string]any)["spec"] = nil
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			walk(root, func(n *Node) {
				n.Path()
				n.ErrorAt(1, 1, "", "x").Render()
			})
		})
	}
	readers.Wait()
	if diff := cmp.Diff(before, root.Any()); diff != "" {
		t.Error(diff)
	}
}

func TestCutByComment(t *testing.T) {
	cases := map[string]struct {
		source  string
		column  int
		mistake bool
	}{
		"none":                {source: "v: a\n"},
		"behind plain text":   {"v: all(p, # > 0)\n", 11, false},
		"at once":             {"v: a #\n", 6, false},
		"behind tabs":         {"v: a\t#b\n", 6, false},
		"at the end":          {"v: a # b", 6, false},
		"no space":            {source: "v: a#b\n"},
		"on the next line":    {source: "v: a\n# b\n"},
		"behind quotes":       {source: "v: 'a' # b\n"},
		"within quotes":       {source: "v: 'a # b'\n"},
		"behind a header":     {source: "v: | # b\n  a # c\n"},
		"behind a number":     {"v: 3 # b\n", 6, false},
		"instead of a value":  {"v: # b\n", 4, false},
		"after several lines": {"v: a\n  b # c\n", 5, false},
		"in a list":           {"l: [{v: a # b\n}]\n", 11, false},
		"behind a list":       {source: "v: [a] # b\n"},
		"behind a mistake":    {source: "v: no # b\n", mistake: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			roots, errs := Parse(File{Data: []byte(tc.source)})
			if (len(errs) > 0) != tc.mistake {
				t.Fatal(errs)
			}
			n := valueOf(roots[0])
			err := n.CutByComment()
			switch {
			case tc.column == 0 && err != nil:
				t.Errorf("there is no comment, but %v", err)
			case tc.column > 0 && (err == nil || err.Column != tc.column || err.Path == "" || err.Hint == ""):
				t.Errorf("want an error in column %d, have %v", tc.column, err)
			}
		})
	}
}

func TestAt(t *testing.T) {
	root := mustParse(t, "spec:\n  ports:\n  - port: 80\n")[0]
	tests := map[string]struct {
		reason     string
		path       []any
		value, key Position
	}{
		"Value":   {"A key or an index for each step.", []any{"spec", "ports", 0, "port"}, Position{3, 11}, Position{3, 5}},
		"Element": {"An element has no key.", []any{"spec", "ports", 0}, Position{3, 5}, Position{3, 5}},
		"Missing": {"What is not written is told at what is around it.", []any{"spec", "ports", 0, "name"}, Position{3, 5}, Position{3, 5}},
		"Beyond":  {"An index beyond the list, too.", []any{"spec", "ports", 1, "port"}, Position{3, 3}, Position{3, 3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for what, found := range map[string]struct {
				node *Node
				want Position
			}{"value": {At(root, tc.path...), tc.value}, "key": {KeyAt(root, tc.path...), tc.key}} {
				if got := found.node.Position(); got != found.want {
					t.Errorf("%s the %s is at %v, want %v", tc.reason, what, got, found.want)
				}
			}
		})
	}
}

// TestPastable holds that a hint is an expression also where it is pasted into the quotes around a scalar.
func TestPastable(t *testing.T) {
	t.Parallel()
	for _, hint := range []string{`a.b ?? 0`, `a ?? ""`, `a["it's"] ?? ""`, `a['x'] ?? ""`, `a["q\"x"]`, `a matches "^\\d"`, `a ?? 'x'`} {
		for before, after := range map[string]string{`"`: `"`, "'": "'", "|\n  ": "\n"} {
			node := mustParse(t, "a: "+before+"x"+after)[0].Get("a")
			pasted, errs := Parse(File{Name: "f.yaml", Data: []byte("a: " + before + node.Pastable(hint) + after)})
			if len(errs) > 0 {
				t.Errorf("%s in %s: %v", hint, before, errs)
				continue
			}
			got := strings.TrimSpace(pasted[0].Get("a").Text())
			if got != hint && (strings.ContainsAny(hint, `'\`) || got != strings.ReplaceAll(hint, `"`, "'")) {
				t.Errorf("%s in %s is read as %s", hint, before, got)
			}
		}
	}
}

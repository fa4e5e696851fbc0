package compare_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

// TestAround holds that what stays does not look as if it were removed, and what is shown of it.
func TestAround(t *testing.T) {
	t.Parallel()
	lines := func(changed string) string {
		out := strings.Repeat("same\n", 10) + changed + strings.Repeat("\nsame", 10)
		return "text: |\n  " + strings.ReplaceAll(out, "\n", "\n  ") + "\n"
	}
	tests := map[string]struct {
		reason, before, after string
		alone                 bool
		want                  string
	}{
		"Field": {
			reason: "A field that is added has its neighbours, and the others are counted.",
			before: "spec: {a: 1, b: 2, d: 4, e: 5, f: {g: 1}}", after: "spec: {a: 1, b: 2, c: 3, d: 4, e: 5, f: {g: 1}}",
			want: " spec:\n   b: 2\n+  c: 3\n   d: 4\n   # 3 unchanged\n",
		},
		"Large": {
			reason: "A neighbour of many lines is counted.",
			before: "spec: {a: {x: 1}, b: 2, c: [y]}", after: "spec: {a: {x: 1}, c: [y]}",
			want: " spec:\n-  b: 2\n   # 2 unchanged\n",
		},
		"Scalars": {
			reason: "Of a list of texts it is seen where one is added.",
			before: "args: [a, b, c, e, f]", after: "args: [a, b, c, d, e, f]",
			want: " args:\n # 2 unchanged\n - c\n+- d\n - e\n # 1 unchanged\n",
		},
		"Taken": {
			reason: "Or taken away, also if it is the first.",
			before: "args: [a, b, c]", after: "args: [b, c]",
			want: " args:\n-- a\n - b\n # 1 unchanged\n",
		},
		"Elements": {
			reason: "An element is known by its name, and what else it has is counted.",
			before: "containers: [{name: x}, {name: app, image: v1, tty: true, zeal: 1, args: [a], env: []}, {name: y}, {name: z}]",
			after:  "containers: [{name: x}, {name: app, image: v2, tty: true, zeal: 1, args: [a], env: []}, {name: y}, {name: z}]",
			want:   " containers:\n # 1 unchanged\n - env: []\n-  image: v1\n+  image: v2\n   name: app\n   # 3 unchanged\n # 2 unchanged\n",
		},
		"Element": {
			reason: "So is one that goes.",
			before: "containers: [{name: app}, {name: sidecar, image: v1}]", after: "containers: [{name: app}]",
			want: " containers:\n # 1 unchanged\n-- image: v1\n-  name: sidecar\n",
		},
		"Order": {
			reason: "Elements that move are shown.",
			before: "args: [a, b]", after: "args: [b, a]",
			want: " args:\n+- b\n - a\n-- b\n",
		},
		"Alone": {
			reason: "Where neighbours may be secret, they are counted.", alone: true,
			before: "spec: {a: 1, b: 2, c: [x, w]}", after: "spec: {a: 1, b: 3, c: [x, z]}",
			want: " spec:\n-  b: 2\n+  b: 3\n   c:\n   # 1 unchanged\n-  - w\n+  - z\n   # 1 unchanged\n",
		},
		"Emptied": {
			reason: "A map stays there without its last field.",
			before: "spec: {a: 1}", after: "spec: {}", want: "-spec:\n-  a: 1\n+spec: {}\n",
		},
		"Kinds": {reason: "A list is not a map.", before: "a: [b]", after: "a: {b: 1}", want: " a:\n-- b\n+  b: 1\n"},
		"Text": {
			reason: "Of a long text the lines around a change are shown.", before: lines("old"), after: lines("new"),
			want: " text: |\n   # 7 unchanged\n   same\n   same\n   same\n-  old\n+  new\n   same\n   same\n   same\n   # 7 unchanged\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := compare.Excerpts(compare.Around(parsed(t, test.before), parsed(t, test.after), !test.alone))
			texts := [2]string{}
			for i, value := range []any{before, after} {
				data, err := compare.YAML(value)
				if err != nil {
					t.Fatal(err)
				}
				texts[i] = string(data)
			}
			_, got, _ := strings.Cut(compare.Whole("x", "y", texts[0], texts[1]), "@@\n")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

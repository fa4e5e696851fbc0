package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestApplied(t *testing.T) {
	tests := map[string]struct {
		reason              string
		of                  *Type
		before, body, after string
	}{
		"keyed": {
			"An element is merged into the one of its key, others stay, and what is new comes last.",
			listOf(Keyed, "name"),
			`[{name: a, image: x, env: {k: v}}, {name: b}]`, `[{name: b, image: y}, {name: a, env: {l: w}}, {name: c}]`,
			`[{name: a, image: x, env: {k: v, l: w}}, {name: b, image: y}, {name: c}]`,
		},
		"default": {
			"A key that is not written has its default.",
			listOf(Keyed, "port", "protocol"), `[{port: 1, protocol: TCP, name: a}]`, `[{port: 1, name: b}]`, `[{port: 1, protocol: TCP, name: b}]`,
		},
		"set":     {"A set has each element once.", listOf(Set), `[a, b]`, `[b, c]`, `[a, b, c]`},
		"atomic":  {"A list that says nothing is replaced.", listOf(Atomic), `[a, b]`, `[b]`, `[b]`},
		"new":     {"Where there is none, it is what is applied.", listOf(Keyed, "name"), `null`, `[{name: a}]`, `[{name: a}]`},
		"unknown": {"Of an unknown list nothing is known.", Open(), `[{name: a}]`, `[{name: b}]`, `[{name: b}]`},
		"nested": {
			"A list within an element is merged as well.",
			&Type{List: &List{Kind: Keyed, Keys: []string{"name"}, Items: &Type{Map: &Map{Fields: map[string]Field{"args": {Type: listOf(Set)}}}}}},
			`[{name: a, args: [x]}]`, `[{name: a, args: [y]}]`, `[{name: a, args: [x, y]}]`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before, body := decoded(t, test.before), decoded(t, test.body)
			if diff := cmp.Diff(decoded(t, test.after), test.of.applied(before, body)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(decoded(t, test.before), before) + cmp.Diff(decoded(t, test.body), body); diff != "" {
				t.Errorf("it changed what it was given:\n%s", diff)
			}
		})
	}
}

func listOf(kind ListKind, keys ...string) *Type {
	fields := map[string]Field{"protocol": {Default: "TCP"}, "env": {Type: &Type{Map: &Map{Open: true}}}}
	return &Type{List: &List{Kind: kind, Keys: keys, Items: &Type{Map: &Map{Fields: fields, Open: true}}}}
}

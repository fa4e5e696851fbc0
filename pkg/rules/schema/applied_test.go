package schema

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestApplied(t *testing.T) {
	owns := func(manager, fields string) string {
		return `{manager: ` + manager + `, operation: Apply, fieldsV1: ` + fields + `}`
	}
	whole := func(l *Type) *Type {
		return &Type{Map: &Map{Fields: map[string]Field{"l": {Type: l}, "n": {}, "metadata": {Type: EmbeddedMetadata()}}}}
	}
	granular := &Type{Map: &Map{Values: textType}}
	atomic := &Type{Map: &Map{Values: textType, Atomic: true}}
	tests := map[string]struct {
		reason              string
		of                  *Type
		entries             string // of managedFields
		before, body, after string
	}{
		"keyed": {
			reason: "An element is merged into the one of its key, others stay, and the order of the body prevails.",
			of:     listOf(Keyed, "name"),
			before: `[{name: a, image: x, env: {k: v}}, {name: b}]`, body: `[{name: b, image: y}, {name: a, env: {l: w}}, {name: c}]`,
			after: `[{name: b, image: y}, {name: a, image: x, env: {k: v, l: w}}, {name: c}]`,
		},
		"default": {
			reason: "A key that is not written has its default.",
			of:     listOf(Keyed, "port", "protocol"), before: `[{port: 1, protocol: TCP, name: a}]`, body: `[{port: 1, name: b}]`, after: `[{port: 1, protocol: TCP, name: b}]`,
		},
		"set":        {reason: "A set has each element once.", of: listOf(Set), before: `[a, b]`, body: `[b, c]`, after: `[a, b, c]`},
		"atomic":     {reason: "A list that says nothing is replaced.", of: listOf(Atomic), before: `[a, b]`, body: `[b]`, after: `[b]`},
		"new":        {reason: "Where there is none, it is what is applied.", of: listOf(Keyed, "name"), before: `null`, body: `[{name: a}]`, after: `[{name: a}]`},
		"unknown":    {reason: "Of an unknown list nothing is known.", of: Open(), before: `[{name: a}]`, body: `[{name: b}]`, after: `[{name: b}]`},
		"map":        {reason: "A map is merged.", of: granular, before: `{a: x}`, body: `{b: y}`, after: `{a: x, b: y}`},
		"atomic map": {reason: "An atomic one is replaced.", of: atomic, before: `{a: x}`, body: `{b: y}`, after: `{b: y}`},
		"dropped": {
			reason: "What only the manager owned goes with the apply that lacks it.",
			of:     granular, entries: owns("me", `{"f:l": {"f:a": {}, "f:b": {}}}`), before: `{a: x, b: y, c: z}`, body: `{b: y}`, after: `{b: y, c: z}`,
		},
		"shared": {
			reason: "What others own stays.",
			of:     granular, entries: owns("me", `{"f:l": {"f:a": {}, "f:b": {}}}`) + ", " + owns("other", `{"f:l": {"f:a": {}}}`),
			before: `{a: x, b: y}`, body: `{b: y}`, after: `{a: x, b: y}`,
		},
		"dropped element": {
			reason: "An element goes, with what nobody else owns in it.",
			of:     listOf(Keyed, "name"), entries: owns("me", `{"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:image": {}}}}`),
			before: `[{name: a, image: x}, {name: b}]`, body: `[{name: b, image: y}]`, after: `[{name: b, image: y}]`,
		},
		"dropped whole": {
			reason: "A map is gone once nothing is in it.",
			of:     granular, entries: owns("me", `{"f:l": {".": {}, "f:a": {}}}`), before: `{a: x}`, body: `null`, after: `null`,
		},
		"text": {
			reason: "A cache keeps what is owned as a text.",
			of:     granular, entries: owns("me", `'{"f:l": {"f:a": {}}}'`), before: `{a: x, b: y}`, body: `{b: y}`, after: `{b: y}`,
		},
		"nested": {
			reason: "A list within an element is merged as well.",
			of:     &Type{List: &List{Kind: Keyed, Keys: []string{"name"}, Items: &Type{Map: &Map{Fields: map[string]Field{"args": {Type: listOf(Set)}}}}}},
			before: `[{name: a, args: [x]}]`, body: `[{name: a, args: [y]}]`, after: `[{name: a, args: [x, y]}]`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := func(l string, more map[string]any) map[string]any {
				out := map[string]any{"n": int64(1)}
				maps.Copy(out, more)
				if v := decoded(t, l); v != nil {
					out["l"] = v
				}
				return out
			}
			metadata := map[string]any{"metadata": map[string]any{"managedFields": decoded(t, "["+test.entries+"]")}}
			before, body := object(test.before, metadata), object(test.body, nil)
			delete(body, "n")
			got, err := whole(test.of).applied("", "me", before, body, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(object(test.after, metadata), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(object(test.before, metadata), before); diff != "" {
				t.Errorf("it changed what it was given:\n%s", diff)
			}
		})
	}
}

func listOf(kind ListKind, keys ...string) *Type {
	fields := map[string]Field{"protocol": {Default: "TCP"}, "env": {Type: &Type{Map: &Map{Open: true}}}}
	return &Type{List: &List{Kind: kind, Keys: keys, Items: &Type{Map: &Map{Fields: fields, Open: true}}}}
}

// TestAppliedWhole holds that a map of which the manager gives up all that it owns, and others own nothing, goes with what nobody owns in
// it: it stays only as far as others own something.
func TestAppliedWhole(t *testing.T) {
	of := &Type{Map: &Map{Fields: map[string]Field{
		"metadata": {Type: EmbeddedMetadata()},
		"spec":     {Type: &Type{Map: &Map{Fields: map[string]Field{"level": {Type: integerType}, "by": {Type: textType}, "to": {Type: listOf(Set)}}}}},
	}}}
	const own = `{manager: me, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:by": {}}}}`
	tests := map[string]struct{ reason, entries, body, want string }{
		"default": {"Nobody owns a default, nor an empty list.", own, `{spec: {to: []}}`, `{metadata: {name: x}}`},
		"absent":  {"So it is where the map is not in the body.", own, `{}`, `{metadata: {name: x}}`},
		"others":  {"What others own stays, and so does the list.", own + `, {manager: you, operation: Update, fieldsV1: {"f:spec": {"f:level": {}}}}`, `{spec: {to: []}}`, `{metadata: {name: x}, spec: {level: 3, to: []}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			object, _ := decoded(t, `{metadata: {name: x, labels: {a: b}, managedFields: [`+tt.entries+`]}, spec: {by: x, level: 3}}`).(map[string]any)
			body, _ := decoded(t, tt.body).(map[string]any)
			got, err := of.applied("", "me", object, body, true)
			if err != nil {
				t.Fatal(err)
			}
			metadata, _ := got["metadata"].(map[string]any)
			delete(metadata, "managedFields")
			if diff := cmp.Diff(decoded(t, tt.want), any(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

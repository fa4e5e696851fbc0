package schema

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var things = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}

func TestWidened(t *testing.T) {
	const known = `{is: {"a=1": int, b-: bool, mode: {is: text, enum: [fast, slow]}, m: {"*": int}, l: {items: {x: int}, by: [x]}}}`
	tests := map[string]struct {
		reason string
		served string
		value  string
		wrong  []string
		stored string // empty: the value itself
	}{
		"NewField": {
			"A newer server has fields that we do not know.",
			`{a: int, new: {deep: text}, l: {items: {z: int}}}`,
			`{a: 2, new: {deep: x}, l: [{x: 1, z: 2}]}`, nil, "",
		},
		"NoField": {
			"What neither knows is still unknown.",
			`{a: int, new: {deep: text}}`,
			`{a: 2, nwe: 1, new: {depe: 1}}`,
			[]string{`unknown field "depe"; did you mean "deep"?`, `unknown field "nwe"; did you mean "new"?`},
			"",
		},
		"OldServer": {
			"A server that knows less takes nothing away.",
			`{a: int}`, `{a: 2, mode: fast, m: {x: 1}}`, nil, "",
		},
		"Facts": {
			"What is stored is what we know.",
			`{a: int, b: bool, mode: text}`, `{b: false}`, nil, `{a: 1}`,
		},
		"Value": {
			"A value that was not possible.",
			`{mode: {is: text, enum: [slow, auto]}}`, `{a: 2, mode: auto}`, nil, "",
		},
		"NoValue": {
			"One that is none is none.",
			`{mode: {is: text, enum: [slow, auto]}}`, `{a: 2, mode: atuo}`,
			[]string{`want "fast", "slow" or "auto"`},
			"",
		},
		"Kind": {
			"A type that has become another as well.",
			`{a: int-or-text}`, `{a: 10%}`, nil, "",
		},
		"Values": {
			"Entries have more fields too.",
			`{m: {"*": int}}`, `{a: 2, m: {x: one}}`,
			[]string{"want an integer"},
			"",
		},
		"Open": {
			"Of what the server keeps whatever it is, all is possible.",
			`{l: {items: open}}`, `{a: 2, l: [{x: 1, w: 1}]}`, nil, "",
		},
		"Undescribed": {
			"A server that describes nothing allows nothing more.",
			`any`, `{a: 2, new: 1}`,
			[]string{`unknown field "new"`},
			"",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			source := Widened(
				one{&Resource{GroupVersionResource: things, Type: typeOf(t, known)}},
				one{&Resource{GroupVersionResource: things, Type: typeOf(t, tc.served)}})
			of, v := source.Resource(things).Type, parse(t, tc.value)
			found := allTold(of.Validate(v, Whole))
			if !slices.EqualFunc(found, tc.wrong, strings.Contains) {
				t.Errorf("%s want %q, got %q", tc.reason, tc.wrong, found)
			}
			want := v
			if tc.stored != "" {
				want = parse(t, tc.stored)
			}
			if diff := cmp.Diff(want, of.Canonical(v)); diff != "" {
				t.Errorf("%s stored (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWidenedResource(t *testing.T) {
	text, number := typeOf(t, `{x: text}`), typeOf(t, `{z: int}`)
	known := &Resource{
		GroupVersionResource: things, Kind: "Thing", Namespaced: true, Verbs: []string{"get", "list"}, SubresourcesKnown: true,
		Subresources: map[string]*Type{"status": text}, Type: text,
	}
	served := &Resource{
		GroupVersionResource: things, Kind: "Other", Verbs: []string{"get", "watch"},
		Subresources: map[string]*Type{"status": number, "resize": number}, Type: number,
	}
	w := Widened(one{known}, one{served})
	got := w.Resource(things)
	if got.Kind != "Thing" || !got.Namespaced || !got.SubresourcesKnown || !slices.Equal(got.Verbs, []string{"get", "list", "watch"}) {
		t.Errorf("got %+v", got)
	}
	if status := got.Subresources["status"]; !slices.Equal(status.Names(), []string{"x", "z"}) || got.Subresources["resize"] != number {
		t.Errorf("subresources: %+v", got.Subresources)
	}
	if w.Resource(things) != got {
		t.Error("it is made again")
	}
	if !slices.Equal(text.Names(), []string{"x"}) || len(known.Subresources) != 1 || len(known.Verbs) != 2 {
		t.Error("what was known has changed")
	}
	other := things.GroupResource().WithVersion("v2")
	if w.Resource(other) != nil {
		t.Error("what is not known is left to others")
	}
	for _, gvr := range []schema.GroupVersionResource{things, other} {
		asked := &asking{Source: one{known}}
		again := Widened(asked, one{served})
		for range 3 {
			again.Resource(gvr)
		}
		if asked.times != 1 {
			t.Errorf("%s is looked for %d times", gvr, asked.times)
		}
	}
	if alone := Widened(one{known}, one{&Resource{GroupVersionResource: other}}); alone.Resource(things) != known {
		t.Error("what is not served is what is known")
	}
}

// asking is a source that counts how often it is asked.
type asking struct {
	Source
	times int
}

func (c *asking) Resource(gvr schema.GroupVersionResource) *Resource {
	c.times++
	return c.Source.Resource(gvr)
}

// TestWidenedRecursive holds that types that contain themselves come to an end, and
// that many may ask at once.
func TestWidenedRecursive(t *testing.T) {
	known, served := typeOf(t, `{a: int}`), typeOf(t, `{b: int}`)
	known.Map.Fields["self"] = Field{Type: known}
	served.Map.Fields["self"] = Field{Type: served}
	w := Widened(one{&Resource{GroupVersionResource: things, Type: known}}, one{&Resource{GroupVersionResource: things, Type: served}})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			of := w.Resource(things).Type
			for range 10 {
				if !slices.Equal(of.Names(), []string{"a", "b", "self"}) {
					t.Errorf("got %q", of.Names())
				}
				f, _ := of.Field("self")
				of = f.Type
			}
		})
	}
	all.Wait()
}

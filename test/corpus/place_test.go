package corpus

import (
	"slices"
	"testing"
)

// at is a place of the widgets.
func at(t *testing.T, path string) place {
	t.Helper()
	all := places(widgets(t).Type)
	i := slices.IndexFunc(all, func(p place) bool { return p.String() == path })
	if i < 0 {
		t.Fatalf("there is no place %s", path)
	}
	return all[i]
}

func TestPlaceAsText(t *testing.T) {
	for _, c := range []struct {
		reason, path, read, plain, pointer, nested string
	}{
		{
			"spec is always there", "spec.image",
			"object.spec.image", "object.spec.image", "/spec/image", "{spec: {image: 1}}",
		},
		{
			"what is required of something optional", "spec.nested.inner",
			"object.spec.nested?.inner", "object.spec.nested.inner", "/spec/nested/inner", "{spec: {nested: {inner: 1}}}",
		},
		{
			"two that may be absent", "spec.nested.deeper.label",
			"object.spec.nested?.deeper?.label", "object.spec.nested.deeper.label", "/spec/nested/deeper/label", "{spec: {nested: {deeper: {label: 1}}}}",
		},
		{
			"status is a map as well", "status.phase",
			"object.status.phase", "object.status.phase", "/status/phase", "{status: {phase: 1}}",
		},
	} {
		p := at(t, c.path)
		for got, want := range map[string]string{
			p.read("object"): c.read, p.plain("object"): c.plain, p.pointer(): c.pointer, p.nested("1"): c.nested,
		} {
			if got != want {
				t.Errorf("%s: %s, want %s", c.reason, got, want)
			}
		}
	}
}

func TestPlaceOfAnElement(t *testing.T) {
	list := at(t, "spec.ports")
	item := places(list.typ.List.Items)[0]
	if got := item.read("#"); got != ".name" {
		t.Errorf("a field of an element is %s, want .name", got)
	}
	if got := right(item.misread("#", "nmae")) + " " + item.misread("#", "nmae"); got != ".name "+mark(".name", ".nmae") {
		t.Errorf("a misspelt field of an element is %q", got)
	}
	odd := place{steps: []step{{key: "a-b", parent: list.typ.List.Items}}}
	if got := odd.read("#"); got != `#["a-b"]` {
		t.Errorf("a key that is no name is %s", got)
	}
}

func TestPlacePresence(t *testing.T) {
	for _, c := range []struct {
		reason, path                  string
		optional, sure, throughParent bool
	}{
		{"required of spec", "spec.image", false, true, false},
		{"optional", "spec.replicas", true, false, false},
		{"with a default", "spec.strategy", false, true, false},
		{"required of what is optional", "spec.nested.inner", false, false, true},
		{"optional twice", "spec.nested.deeper.label", true, false, true},
		{"spec", "spec", false, true, false},
		{"nothing is sure of a status", "status.phase", true, false, false},
	} {
		p := at(t, c.path)
		if p.optional() != c.optional || p.sure() != c.sure || p.maybeParent() != c.throughParent {
			t.Errorf("%s: %s is optional %t, sure %t, has an optional parent %t", c.reason, c.path, p.optional(), p.sure(), p.maybeParent())
		}
	}
	if slices.ContainsFunc(places(widgets(t).Type), func(p place) bool { return p.steps[0].key == "metadata" }) {
		t.Error("metadata is of every object, and no place")
	}
}

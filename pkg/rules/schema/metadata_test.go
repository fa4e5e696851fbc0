package schema

import (
	"slices"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestMetadata(t *testing.T) {
	if stored := Metadata().Map.Fields["uid"]; !stored.Always || stored.Required {
		t.Errorf("a stored object has a uid that is %+v", stored)
	}
	if template := EmbeddedMetadata().Map.Fields["uid"]; template.Always {
		t.Errorf("a template has a uid that is %+v", template)
	}
	for name, tc := range map[string]struct {
		reason string
		kinds  value.Kind
	}{
		"labels":                     {"texts by keys", value.Map},
		"ownerReferences":            {"a list", value.List},
		"generation":                 {"counted", value.Int},
		"deletionGracePeriodSeconds": {"counted", value.Int},
		"creationTimestamp":          {"an instant is a text", value.String},
	} {
		field, possible := Metadata().Field(name)
		if !possible || field.Type.Kinds != tc.kinds {
			t.Errorf("%s: %s, have %+v", name, tc.reason, field.Type)
		}
	}
	if list := Metadata().Map.Fields["ownerReferences"].Type.List; list.Kind != Keyed || list.Keys[0] != "uid" {
		t.Errorf("owners are told apart by %+v", list)
	}
	if list := Metadata().Map.Fields["finalizers"].Type.List; list.Kind != Set {
		t.Errorf("finalizers are %+v", list)
	}
	if _, possible := Metadata().Field("label"); possible {
		t.Error("an unknown field is possible")
	}
	if label, possible := Metadata().Map.Fields["labels"].Type.Field("app"); !possible || label.Type.Kinds != value.String {
		t.Errorf("a label is %+v", label)
	}
}

func TestScoped(t *testing.T) {
	of := func(metadata *Type, object bool) *Type {
		return &Type{Kinds: value.Map, Object: object, Map: &Map{Fields: map[string]Field{
			"kind": {Type: textType}, "metadata": {Type: metadata, Always: true},
		}}}
	}
	object, cluster := of(Metadata(), true), of(ClusterMetadata(), true)
	if f, _ := object.Scoped(false).Field("metadata"); f.Type != ClusterMetadata() || !f.Always {
		t.Errorf("the metadata of the cluster are %+v", f)
	}
	if f, _ := cluster.Scoped(true).Field("metadata"); f.Type != Metadata() || object.Scoped(true) != object || cluster.Scoped(false) != cluster {
		t.Errorf("the metadata in a namespace are %+v", f)
	}
	for reason, as := range map[string]*Type{
		"not a whole object":         of(ClusterMetadata(), false),
		"nothing is known":           Open(),
		"an object without metadata": {Kinds: value.Map, Object: true, Map: &Map{}},
		"metadata of any kind":       of(Open(), false),
	} {
		if as.Scoped(true) != as {
			t.Errorf("%s, and it changes", reason)
		}
	}
	_, has := ClusterMetadata().Field("namespace")
	if _, had := Metadata().Field("namespace"); !had || has {
		t.Error("the wrong metadata have a namespace")
	}
}

// TestWrittenNamespace holds that a namespace that is written to an object of the
// cluster is no unknown field: what writes it says that there is no such place.
func TestWrittenNamespace(t *testing.T) {
	written := map[string]any{"namespace": "a"}
	if got := ClusterMetadata().Validate(written, Whole); got != nil {
		t.Errorf("it is wrong: %+v", got)
	}
	if got := ClusterMetadata().Validate(map[string]any{"namspace": "a"}, Whole); len(got) != 1 {
		t.Errorf("a misspelt one is %+v", got)
	}
}

func TestNames(t *testing.T) {
	m := &Map{Fields: map[string]Field{"c": {}, "a": {}, "b": {}}}
	of := &Type{Kinds: value.Map, Map: m}
	want := []string{"a", "b", "c"}
	if got := of.Names(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	m.Sort()
	if n := testing.AllocsPerRun(10, func() { of.Names() }); n != 0 || !slices.Equal(of.Names(), want) {
		t.Errorf("got %q with %v allocations, want them sorted once", of.Names(), n)
	}
	m.Fields["d"] = Field{}
	if got := of.Names(); !slices.Equal(got, append(want, "d")) {
		t.Errorf("got %q, want the new one too", got)
	}
}

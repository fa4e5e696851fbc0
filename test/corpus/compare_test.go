package corpus

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

func written(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := Schemas(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(schemas) != 1 {
		t.Fatalf("schemas of %v, want that of the version that is served", sortedKeys(schemas))
	}
	return schemas["example.com/v1/widgets"]
}

func TestCompare(t *testing.T) {
	if found := Compare(written(t), widgets(t).Type); len(found.Differences) > 0 || found.Nodes < 30 || found.Open != 0 {
		t.Errorf("%+v, want more than 30 nodes and no difference", found)
	}
}

// TestCompareFindsDifferences changes one thing of what the reader made, and holds that it is found.
func TestCompareFindsDifferences(t *testing.T) {
	of := func(root *schema.Type, path string) *schema.Type {
		for key := range strings.SplitSeq(path, ".") {
			root = root.Map.Fields[key].Type
		}
		return root
	}
	set := func(root *schema.Type, parent, key string, change func(*schema.Field)) {
		field := of(root, parent).Map.Fields[key]
		change(&field)
		of(root, parent).Map.Fields[key] = field
	}
	for _, c := range []struct {
		reason string
		change func(root *schema.Type)
		want   string
	}{
		{"a field is lost", func(root *schema.Type) { delete(of(root, "spec").Map.Fields, "image") }, "spec.image: it is written: true, known: false"},
		{"nothing is known of a field", func(root *schema.Type) {
			set(root, "spec", "image", func(f *schema.Field) { f.Type = schema.Open() })
		}, "spec.image: want a string"},
		{"a field without a type", func(root *schema.Type) { set(root, "spec", "image", func(f *schema.Field) { f.Type = nil }) }, "spec.image: there is no type"},
		{"of another type", func(root *schema.Type) { of(root, "spec.image").Kinds = value.Int }, "spec.image: want a string"},
		{"no longer required", func(root *schema.Type) { set(root, "spec", "image", func(f *schema.Field) { f.Required = false }) }, "spec.image: required is false, want true"},
		{"its default is lost", func(root *schema.Type) { set(root, "spec", "strategy", func(f *schema.Field) { f.Always = false }) }, "spec.strategy: always is false, want true"},
		{"a limit is lost", func(root *schema.Type) { of(root, "spec.image").Limit = nil }, "spec.image: maxLength is lost"},
		{"a format is lost", func(root *schema.Type) {
			set(root, "spec", "since", func(f *schema.Field) { f.Type = &schema.Type{Kinds: value.String} })
		}, "spec.since: format is lost"},
		{"a list is no longer keyed", func(root *schema.Type) { of(root, "spec.ports").List.Kind = schema.Atomic }, "spec.ports: as a list"},
		{"its keys are lost", func(root *schema.Type) { of(root, "spec.ports").List.Keys = nil }, "spec.ports: its keys are []"},
		{"of its elements", func(root *schema.Type) { of(root, "spec.ports").List.Items.Map.Open = true }, "spec.ports[]: open is true, want false"},
		{"what is open is closed", func(root *schema.Type) { of(root, "spec.template").Map.Open = false }, "spec.template: open is false, want true"},
		{"free keys are lost", func(root *schema.Type) { of(root, "spec.selector").Map.Values = nil }, "spec.selector.*: there is no type"},
		{"free keys are made up", func(root *schema.Type) { of(root, "spec").Map.Values = schema.Open() }, "spec: it takes keys"},
		{"a map is atomic", func(root *schema.Type) { of(root, "spec").Map.Atomic = true }, "spec: atomic is true, want false"},
	} {
		root := widgets(t).Type
		c.change(root)
		found := Compare(written(t), root).Differences
		if len(found) == 0 || !strings.Contains(strings.Join(found, "\n"), c.want) {
			t.Errorf("%s: found %q, want %q", c.reason, found, c.want)
		}
	}
}

func TestKeywords(t *testing.T) {
	count := map[string]int{}
	Keywords(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"items": map[string]any{"type": "array", "items": map[string]any{"type": "string", "maxLength": 3}},
			"free":  map[string]any{"additionalProperties": map[string]any{"example": 1}},
			"any":   map[string]any{"anyOf": []any{map[string]any{"type": "string"}}},
		},
		"additionalProperties": false,
	}, count)
	want := map[string]int{"type": 3, "properties": 1, "items": 1, "maxLength": 1, "additionalProperties": 2, "example": 1, "anyOf": 1}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSchemasOfWhatIsNoYAML(t *testing.T) {
	if got, err := Schemas([]byte("a: [")); err == nil {
		t.Errorf("got %v, want an error", got)
	}
	if got, err := Schemas([]byte("kind: ConfigMap\n---\n")); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v, want nothing of what is no CRD", got, err)
	}
}

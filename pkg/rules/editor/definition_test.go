package editor_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
)

// TestDefinition holds what the definition of a CustomResource says of each kind of field. That it is valid, and what an API server
// does with it, pkg/api shows.
func TestDefinition(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(editor.Definition())
	if err != nil {
		t.Fatal(err)
	}
	at := func(path ...string) any {
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatal(err)
		}
		for _, step := range path {
			below, _ := value.(map[string]any)
			value = below[step]
		}
		if fields, is := value.(map[string]any); is {
			delete(fields, "description")
			delete(fields, "properties")
		}
		return value
	}
	const keep = "x-kubernetes-preserve-unknown-fields"
	rule := []string{"properties", "rules", "items", "properties"}
	action := append(rule[:4:4], "actions", "items", "properties")
	for reason, tc := range map[string]struct{ got, want any }{
		"a map":      {at(), map[string]any{"type": "object", keep: true, "required": []any{"resources", "rules"}}},
		"a word":     {at("properties", "mode"), map[string]any{"type": "string", "enum": []any{"Enforce", "Audit"}, "nullable": true}},
		"any names":  {at("properties", "let"), map[string]any{"type": "object", keep: true, "nullable": true}},
		"a template": {at(append(action, "patch", "properties", "json")...), map[string]any{keep: true, "nullable": true}},
		"a label": {
			at(append(rule, "name")...),
			map[string]any{"type": "string", "maxLength": 63.0, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
		},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

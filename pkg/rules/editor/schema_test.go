package editor_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
)

// generated is the schema as JSON and as a validator. That it compiles says that
// it is one of draft-07: the validator holds it against the metaschema.
type generated struct {
	json      map[string]any
	validator *jsonschema.Schema
}

func newSchema(t testing.TB, bindings ...editor.Binding) *generated {
	t.Helper()
	data, err := editor.Schema(bindings)
	if err != nil {
		t.Fatal(err)
	}
	out := &generated{validator: compile(t, data)}
	if err := json.Unmarshal(data, &out.json); err != nil {
		t.Fatal(err)
	}
	return out
}

// compile makes a validator, or fails: it holds a schema against its metaschema.
func compile(t interface{ Fatal(args ...any) }, data []byte) *jsonschema.Schema {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("rules.schema.json", value); err != nil {
		t.Fatal(err)
	}
	out, err := compiler.Compile("rules.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// judge returns what the schema says of all documents in a text.
func (g *generated) judge(text string) error {
	documents, errs := document.Parse(document.File{Name: "rules.yaml", Data: []byte(text)})
	if len(errs) > 0 {
		return errs
	}
	for _, n := range documents {
		if err := g.validator.Validate(n.Any()); err != nil {
			return err
		}
	}
	return nil
}

// TestDescriptions says that an editor has something to show of every field.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	definitions, _ := g.json["definitions"].(map[string]any)
	check := func(at string, schema map[string]any) {
		if open, isBool := schema["additionalProperties"].(bool); open || !isBool {
			return
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			fields, _ := property.(map[string]any)
			if description, _ := fields["description"].(string); description == "" {
				t.Errorf("%s.%s has no description", at, name)
			}
		}
	}
	check("", g.json)
	for name, definition := range definitions {
		if slices.Contains([]string{"selector", "matchExpressions", "ownerReferences"}, name) {
			continue // They are Kubernetes' own.
		}
		schema, _ := definition.(map[string]any)
		check(name, schema)
	}
}

// TestReferences says that every definition is used, and every used one is there.
func TestReferences(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*generated{"the language": newSchema(t), "with bodies": newSchema(t, widgets("widgets"))} {
		used := map[string]bool{}
		var visit func(value any)
		visit = func(value any) {
			switch value := value.(type) {
			case map[string]any:
				if reference, ok := value["$ref"].(string); ok {
					used[filepath.Base(reference)] = true
				}
				for _, below := range value {
					visit(below)
				}
			case []any:
				for _, below := range value {
					visit(below)
				}
			}
		}
		visit(g.json)
		defined := map[string]bool{}
		definitions, _ := g.json["definitions"].(map[string]any)
		for name := range definitions {
			defined[name] = true
		}
		if diff := cmp.Diff(defined, used); diff != "" {
			t.Errorf("%s: definitions (-defined +used):\n%s", name, diff)
		}
	}
}

// TestStable says that the same is written each time: the schema is committed.
func TestStable(t *testing.T) {
	t.Parallel()
	var first []byte
	for range 5 {
		data, err := editor.Schema([]editor.Binding{widgets("widgets"), widgets("gadgets")})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if !bytes.Equal(first, data) {
			t.Fatal("the schema differs from one time to the next")
		}
	}
}

package editor

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// draft is the version of JSON schema that editors understand.
const draft = "http://json-schema.org/draft-07/schema#"

// Schema returns the JSON schema of RuleSet, ClusterRuleSet and RuleTest
// documents. The bodies that are written to the resources of bindings are
// described in it; of others they can be anything. What it returns is indented JSON,
// the same for the same bindings in the same order.
func Schema(bindings []Binding) ([]byte, error) {
	root, all := base(), newBodies()
	all.language()
	kinds, _ := root["allOf"].([]any)
	root["allOf"] = append(kinds, all.connect(bindings)...)
	root["definitions"] = all.definitions
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return append(out, '\n'), nil
}

// language defines all that does not depend on resources.
func (b *bodies) language() {
	for name, t := range types() {
		b.definitions[name] = inFull(t)
		maps.Copy(b.definitions[name].(node), together()[name]) //nolint:forcetypeassert // It is made here.
	}
	maps.Copy(b.definitions, node{
		"operation":      operation(),
		"selector":       with(with(b.describe(lookup.Selector, "selector"), "type", []string{"object", "string"}), "minProperties", 1),
		"object":         object(nil, node{"apiVersion": text(), "kind": text()}),
		"objectMetadata": b.metadata(),
	})
}

// types are those of the language that have a name.
func types() map[string]*field.Type {
	out := map[string]*field.Type{"action": action.Fields, "related": lookup.Fields}
	maps.Copy(out, action.FieldsOf)
	for _, t := range spec.Types() {
		out[t.Name] = t
	}
	return out
}

// together has keywords about fields that go together, or do not, by the name of the type.
func together() map[string]node {
	ofApply := having("force", constant(false))
	ofApply["properties"].(node)["release"] = false //nolint:forcetypeassert // It is made here.
	body := node{"minProperties": 1, "properties": node{
		"apiVersion": false, "kind": false, "metadata": node{"properties": node{"name": false, "namespace": false, "generateName": false}},
	}}
	return map[string]node{
		"patch": {"allOf": []any{
			node{"dependencies": node{"merge": ofApply, "json": ofApply}, "properties": node{"merge": body, "apply": body}},
		}},
		"apply": {"allOf": []any{
			conditional(present("existing", constant("Keep")), having("adopt", constant(false))),
			having("manifest", having("metadata", absent("generateName"))),
		}},
		"onDelete":      {"allOf": []any{having("actions", node{"items": having("apply", having("prune", constant(false)))})}, "dependencies": node{"done": having("hold", constant(true))}},
		"stepOperation": operands(),
	}
}

// base is any of the kinds of documents. What they do not share depends on the
// kind.
func base() node {
	out := inFull(spec.Document())
	out["$schema"] = draft
	out["description"] = "Rules of dyncontroller, or a test of rules."
	out["allOf"] = []any{
		conditional(ofKind(spec.KindRuleSet, spec.KindClusterRuleSet), having("spec", reference("set"))),
		conditional(ofKind(spec.KindRuleSet), having("spec", all(
			absent("serviceAccountNamespace"),
			having("resources", node{"additionalProperties": absent("namespaces")}),
		))),
		conditional(ofKind(spec.KindClusterRuleSet), node{"properties": node{
			"metadata": absent("namespace"),
			"spec": node{"dependencies": node{
				"serviceAccountName":      []string{"serviceAccountNamespace"},
				"serviceAccountNamespace": []string{"serviceAccountName"},
			}},
		}}),
		conditional(ofKind(spec.KindRuleTest), node{"properties": node{
			"metadata": node{"propertyNames": node{"enum": []string{"name", "labels", "annotations"}}},
			"spec":     reference("test"),
			"status":   false,
		}}),
	}
	return out
}

func ofKind(kinds ...string) node { return present("kind", node{"enum": kinds}) }

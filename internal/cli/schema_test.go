package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// printedSchema is what schema prints without rules, as a validator.
func printedSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var out, failed bytes.Buffer
	if exit := Run(t.Context(), Process{Args: []string{"schema"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &failed}); exit != exitClean {
		t.Fatalf("exit code %d: %s", exit, &failed)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, out.Bytes()); err != nil {
		t.Fatal(err)
	}
	const most = 600_000
	if compact.Len() > most {
		t.Errorf("the schema has %d bytes without spaces, which takes an editor long", compact.Len())
	}
	value, err := jsonschema.UnmarshalJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("rules.schema.json", value); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("rules.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestSchemaOfBuiltins shows a schema to be of use without a single CRD.
func TestSchemaOfBuiltins(t *testing.T) {
	t.Parallel()
	compiled := printedSchema(t)
	tests := map[string]struct {
		reason, actions string
		right           bool
	}{
		"replicas":          {"The usual patch.", `[{patch: {merge: {spec: {replicas: 3}}}}]`, true},
		"templated":         {"An integer may come from an expression.", `[{patch: {merge: {spec: {replicas: "${object.spec.replicas + 1}"}}}}]`, true},
		"text":              {"The API server takes no text for a number.", `[{patch: {merge: {spec: {replicas: three}}}}]`, false},
		"misspelt":          {"An editor underlines it.", `[{patch: {merge: {spec: {replcias: 3}}}}]`, false},
		"quantity":          {"A text or a number.", `[{patch: {apply: {spec: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: 2, memory: 1Gi}}}]}}}}}}]`, true},
		"deep":              {"Bodies are known to their ends.", `[{patch: {apply: {spec: {template: {spec: {containers: [{name: a, imge: b}]}}}}}}]`, false},
		"port":              {"An int-or-string is both.", `[{apply: {resource: services, manifest: {metadata: {name: a}, spec: {ports: [{port: 80, targetPort: http}, {port: 81, targetPort: 8081}]}}}}]`, true},
		"status":            {"It is written through its subresource.", `[{patch: {merge: {status: {replicas: 3}}}}]`, false},
		"subresource":       {"As here.", `[{patch: {subresource: status, merge: {status: {replicas: 3}}}}]`, true},
		"scale":             {"Another subresource, with a body of its own.", `[{patch: {subresource: scale, merge: {spec: {replicas: 3}}}}]`, true},
		"strategy":          {"Go types of Kubernetes have enums as well.", `[{patch: {merge: {spec: {strategy: {type: Recreate}}}}}]`, true},
		"removed":           {"null removes.", `[{patch: {merge: {spec: {paused: null, template: {metadata: {labels: {a: null}}}}}}}]`, true},
		"a manifest":        {"The other kind of body.", `[{apply: {resource: services, manifest: {metadata: {name: a}, spec: {port: []}}}}]`, false},
		"another namespace": {"A manifest may say it.", `[{apply: {resource: services, owned: false, manifest: {metadata: {name: a, namespace: b}}}}]`, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, errs := document.Parse(document.File{Name: "rules.yaml", Data: []byte(`apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {deployments: {group: apps, version: v1, resource: deployments}, services: {version: v1, resource: services}}
  rules:
  - name: rule
    watch: deployments
    actions: ` + tc.actions + "\n")})
			if len(errs) > 0 {
				t.Fatal(errs.Render())
			}
			if err := compiled.Validate(documents[0].Any()); (err == nil) != tc.right {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

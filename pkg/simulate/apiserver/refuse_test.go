package apiserver_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// shops is a definition whose spec, schema and more can be replaced.
const shops = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: shops, kind: Shop}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object}
`

func TestRefused(t *testing.T) {
	const schema = "f.yaml:13:24: spec.versions[0].schema.openAPIV3Schema"
	for name, tc := range map[string]struct {
		reason, from, to string
		want             string
	}{
		"type": {
			"there is no such type", "{type: object}", "{type: object, properties: {a: {type: int}}}",
			`f.yaml:13:62: spec.versions[0].schema.openAPIV3Schema.properties.a.type: unsupported value: "int": supported values: "array", "boolean", "integer", "number", "object", "string"`,
		},
		"case": {
			"without its schema an API server would drop every field", "openAPIV3Schema", "openApiV3Schema",
			`f.yaml:13:7: spec.versions[0].schema.openApiV3Schema: unknown field "openApiV3Schema"; did you mean "openAPIV3Schema"?`,
		},
		"default above the maximum": {
			"no object could have it", "{type: object}", "{type: object, properties: {a: {type: integer, maximum: 3, default: 4}}}",
			"f.yaml:13:92: spec.versions[0].schema.openAPIV3Schema.properties.a.default: invalid value: 4: in body should be less than or equal to 3",
		},
		"default outside of the enum": {
			"as well", "{type: object}", "{type: object, properties: {a: {type: string, enum: [b, c], default: d}}}",
			`f.yaml:13:93: spec.versions[0].schema.openAPIV3Schema.properties.a.default: unsupported value: "d": supported values: "b", "c"`,
		},
		"no keys of a list": {
			"its elements could not be told apart", "{type: object}",
			"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, items: {type: object}}}}",
			"f.yaml:13:52: spec.versions[0].schema.openAPIV3Schema.properties.a.x-kubernetes-list-map-keys: required value: must not be empty if x-kubernetes-list-type is map",
		},
		"no storage version": {
			"nothing could be stored", "storage: true", "storage: false",
			"f.yaml:8:3: spec.versions: invalid value: must have exactly one version marked as storage version",
		},
		"another name": {
			"its objects would be of no resource", "name: shops", "name: shop",
			`f.yaml:3:18: metadata.name: invalid value: "shop.example.com": must be spec.names.plural+"."+spec.group; write shops.example.com`,
		},
		"no schema": {
			"v1 wants one", "\n      openAPIV3Schema: {type: object}", " {}",
			"f.yaml:12:5: spec.versions[0].schema.openAPIV3Schema: required value",
		},
		"no type": {
			"a schema is structural", "{type: object}", "{properties: {a: {type: string}}}", schema[:len("f.yaml:13:")] + "7: spec.versions[0].schema.openAPIV3Schema.type: required value: must not be empty at the root",
		},
		"a rule": {
			"it is about a field that there is not", "{type: object}",
			`{type: object, properties: {a: {type: object, properties: {b: {type: string}}, x-kubernetes-validations: [{rule: "self.c > 1"}]}}}`,
			`f.yaml:13:137: spec.versions[0].schema.openAPIV3Schema.properties.a.x-kubernetes-validations[0].rule: invalid value: compilation failed: ERROR: <input>:1:5: undefined field 'c' | self.c > 1 | ....^`,
		},
		"unknown in items": {
			"a strict decoder does not look there", "{type: object}",
			"{type: object, properties: {a: {type: array, items: {type: object, propertis: {}}}}}",
			`f.yaml:13:91: spec.versions[0].schema.openAPIV3Schema.properties.a.items.propertis: unknown field "propertis"; did you mean "properties"?`,
		},
		"unknown in the values of maps": {
			"nor there", "{type: object}", "{type: object, properties: {a: {type: object, additionalProperties: {typ: string}}}}",
			`f.yaml:13:93: spec.versions[0].schema.openAPIV3Schema.properties.a.additionalProperties.typ: unknown field "typ"; did you mean "type"?`,
		},
		"unknown at the top": {
			"it is misspelt as well", "spec:", "sepc: {}\nspec:", `f.yaml:4:1: sepc: unknown field "sepc"; did you mean "spec"?`,
		},
		"unknown like nothing": {
			"there is no advice", "scope:", "whatever: 1\n  scope:", `f.yaml:6:3: spec.whatever: unknown field "whatever"`,
		},
		"unknown in the metadata": {
			"whose fields are not those of the type itself", "{name: shops.example.com}", "{name: shops.example.com, lables: {}}",
			`f.yaml:3:37: metadata.lables: unknown field "lables"; did you mean "labels"?`,
		},
		"a text for a boolean": {
			"as a template leaves it", "served: true", `served: "true"`, "f.yaml:10:13: spec.versions[0].served: want a boolean, have a string; write it without quotes: true",
		},
		"a text for a list": {
			"a list of one is a list", "kind: Shop}", "kind: Shop, shortNames: sh}", "f.yaml:7:50: spec.names.shortNames: want a list, have a string",
		},
		"a text for a map": {
			"which one is not known", "{type: object}", "object", "f.yaml:13:24: spec.versions[0].schema.openAPIV3Schema: want a map, have a string",
		},
		"a list for a map": {
			"names are keys", "{type: object}", "{type: object, properties: [a]}", "f.yaml:13:39: spec.versions[0].schema.openAPIV3Schema.properties: want a map, have a list",
		},
		"a number for a text": {
			"1 is no name", "name: v1", "name: 1", "f.yaml:9:11: spec.versions[0].name: want a string, have an integer; put it in quotes: \"1\"",
		},
		"a boolean for a number": {
			"a limit is one", "{type: object}", "{type: object, maxProperties: true}", "f.yaml:13:54: spec.versions[0].schema.openAPIV3Schema.maxProperties: want an integer, have a boolean",
		},
		"a map for a text": {
			"as a template leaves it", "group: example.com", "group: example.com\n  preserveUnknownFields: {a: b}",
			"f.yaml:6:3: spec.preserveUnknownFields: want a boolean, have a map",
		},
		"its own group": {
			"which Kubernetes has to approve", "example.com", "a.k8s.io", "metadata.annotations[api-approved.kubernetes.io]: required value: protected groups",
		},
		"each field": {
			"they are misspelt apart", "served: true\n    storage: true", "serfed: true\n    storrage: true",
			"spec.versions[0].serfed: unknown field \"serfed\"; did you mean \"served\"?\nf.yaml:11:5: spec.versions[0].storrage",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(shops, tc.from, tc.to)
			if text == shops {
				t.Fatal("the case changes nothing")
			}
			_, err := crd.Read("f.yaml", []byte(text), apiserver.Refused)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s:\nwant %s\nhave %v", tc.reason, tc.want, err)
			}
			if _, err := crd.Read("f.yaml", []byte(text)); err != nil {
				t.Errorf("without the check: %v", err)
			}
		})
	}
}

func TestNotRefused(t *testing.T) {
	for name, tc := range map[string]struct{ reason, from, to string }{
		"as it is":           {"nothing is wrong", "", ""},
		"a status":           {"tools write one, and API servers pass over it", "spec:", "status: {storedVersions: [v7], nonsense: 1}\nspec:"},
		"no status yet":      {"controller-gen wrote this for years", "spec:", "status: {acceptedNames: {kind: '', plural: ''}, conditions: [], storedVersions: []}\nspec:"},
		"a time":             {"so do others", "{name: shops.example.com}", "{name: shops.example.com, creationTimestamp: null}"},
		"unknown fields":     {"said in the old way", "scope:", "preserveUnknownFields: false\n  scope:"},
		"a webhook":          {"nobody is asked", "scope:", "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: Cg==, service: {name: a, namespace: b, path: /c}}}}\n  scope:"},
		"not served":         {"an API server takes it, whatever it is good for", "served: true", "served: false"},
		"whatever a default": {"it has fields of its own", "{type: object}", "{type: object, properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true, default: {b: [1, {c: d}], e: 1.5}}}}"},
		"an example":         {"as a default", "{type: object}", "{type: object, properties: {a: {type: object, example: {whatever: 1}, enum: [{a: b}]}}}"},
		"true for a schema":  {"it stands for any", "{type: object}", "{type: object, properties: {a: {type: object, additionalProperties: true}}}"},
		"limits":             {"whole numbers and others", "{type: object}", "{type: object, properties: {a: {type: number, minimum: -1, maximum: 1.5e3, multipleOf: 0.5}}}"},
		"all of them":        {"schemas in lists and maps", "{type: object}", "{type: object, properties: {a: {type: string, anyOf: [{pattern: a}, {pattern: b}], not: {pattern: c}}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			definitions, err := crd.Read("f.yaml", []byte(strings.ReplaceAll(shops, tc.from, tc.to)), apiserver.Refused)
			if err != nil || len(definitions) != 1 {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// TestRefusedHostile holds that whatever a definition says, the check comes to an end.
func TestRefusedHostile(t *testing.T) {
	nested := func(each string, depth int) string {
		return strings.Repeat("{type: object, "+each+" properties: {a: ", depth) + "{type: object}" + strings.Repeat("}}", depth)
	}
	wide := func(each string) string {
		var out strings.Builder
		for i := range 5_000 {
			fmt.Fprintf(&out, "f%d: {%s}, ", i, each)
		}
		return "{type: object, default: {}, properties: {" + out.String() + "}}"
	}
	for name, schema := range map[string]string{
		"deep":             nested("", 190),
		"deep defaults":    nested("default: {a: {}},", 190),
		"deep rules":       nested("x-kubernetes-validations: [{rule: 'has(self.a)'}],", 190),
		"wide":             wide("type: object, default: {}"),
		"many mistakes":    wide("type: nothing"),
		"many unknown":     wide("nothing: nothing"),
		"a long rule":      `{type: object, x-kubernetes-validations: [{rule: "` + strings.Repeat("(", 5_000) + `"}]}`,
		"a long pattern":   `{type: object, properties: {a: {type: string, pattern: "` + strings.Repeat("(a", 5_000) + `"}}}`,
		"a default's size": `{type: object, properties: {a: {type: array, items: {type: integer}, default: [` + strings.Repeat("1,", 50_000) + `]}}}`,
	} {
		_, err := crd.Read("f.yaml", []byte(strings.Replace(shops, "{type: object}", schema, 1)), apiserver.Refused)
		if err != nil && len(err.Error()) > 100_000 {
			t.Errorf("%s: the message has %d bytes", name, len(err.Error()))
		}
	}
	for name, definition := range map[string]map[string]any{
		"no number":     {"apiVersion": "apiextensions.k8s.io/v1", "spec": map[string]any{"versions": []any{map[string]any{"schema": map[string]any{"openAPIV3Schema": map[string]any{"minimum": math.NaN()}}}}}},
		"nothing in it": {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"},
	} {
		if len(apiserver.Refused(definition)) == 0 {
			t.Errorf("%s is taken", name)
		}
	}
}

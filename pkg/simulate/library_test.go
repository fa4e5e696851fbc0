package simulate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// The library that is measured: what many teams share after a few years.
const (
	librarySets  = 20
	setRules     = 10
	setCases     = 50
	libraryCases = librarySets * setCases
)

// library writes sets of rules about a custom resource and its ConfigMaps, and their
// tests: of each case a quarter needs related objects, time or a deletion.
func library() map[string]string {
	files := map[string]string{"crds/databases.yaml": databases}
	for set := range librarySets {
		files[fmt.Sprintf("set-%02d/rules.yaml", set)] = libraryRules(set)
		var cases strings.Builder
		for c := range setCases {
			fixture := fmt.Sprintf("fixtures/%02d.yaml", c)
			fmt.Fprintf(&cases, "  - name: case %d\n    objects: [%s]\n", c, fixture)
			cases.WriteString(librarySteps(c))
			files[fmt.Sprintf("set-%02d/%s", set, fixture)] = libraryFixture(c)
		}
		files[fmt.Sprintf("set-%02d/rules_test.yaml", set)] = fmt.Sprintf(`apiVersion: dyncontroller.dev/v1alpha1
kind: RuleTest
metadata: {name: set-%02d}
spec:
  rules: [rules.yaml]
  crds: [../crds]
  cases:
%s`, set, cases.String())
	}
	return files
}

func librarySteps(c int) string {
	switch c % 4 {
	case 1:
		return "    steps:\n    - advance: 1h\n"
	case 2:
		return "    steps:\n    - patch: {resource: databases, name: main, merge: {spec: {paused: true}}}\n"
	case 3:
		return "    steps:\n    - delete: {resource: databases, name: main}\n"
	default:
		return ""
	}
}

func libraryFixture(c int) string {
	out := fmt.Sprintf(`apiVersion: example.com/v1
kind: Database
metadata:
  name: main
  namespace: team
  labels: {tier: "%d", env: prod}
spec:
  replicas: %d
  storage: {size: %dGi, class: fast}
  settings: {max-connections: "%d"}
  users: [{name: root, roles: [admin]}, {name: app, roles: [read, write]}]
`, c%3, c%7, c+1, c*10)
	if c%4 == 0 {
		out += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: main-config, namespace: team}\ndata: {mode: slow}\n"
	}
	return out
}

// libraryRules has one rule of each kind, of which the numbers differ by set.
func libraryRules(set int) string {
	var out strings.Builder
	fmt.Fprintf(&out, `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set-%02d}
spec:
  resources:
    databases: {group: example.com, version: v1, resource: databases}
    configmaps: {version: v1, resource: configmaps}
  rules:
`, set)
	for rule := range setRules {
		fmt.Fprintf(&out, "  - name: rule-%d\n    watch: databases\n", rule)
		fmt.Fprintf(&out, libraryBodies()[rule%len(libraryBodies())], rule, set)
	}
	return out.String()
}

func libraryBodies() []string {
	return []string{
		`    when: object.metadata.labels.env == "prod" && object.spec.replicas < 3
    actions:
    - patch: {merge: {metadata: {labels: {"rule-%[1]d": "set-%[2]d"}}}}
    - event: {type: Warning, reason: FewReplicas, message: "${object.spec.replicas} replicas, want 3"}
`, `    when: object.spec.storage.class == "fast" && quantity(object.spec.storage.size) > quantity("%[2]dGi")
    actions:
    - patch: {merge: {metadata: {annotations: {"rule-%[1]d": "set-%[2]d"}}}}
`, `    with:
      config: {resource: configmaps, name: "${object.metadata.name}-config"}
    when: config != nil
    actions:
    - patch: {target: config, merge: {data: {"rule-%[1]d": "set-%[2]d"}}}
`, `    when: any(object.spec.users, "admin" in .roles)
    actions:
    - apply:
        resource: configmaps
        manifest: {metadata: {name: "${object.metadata.name}-rule-%[1]d"}, data: {set: "%[2]d"}}
`, `    when: object.spec.paused
    for: 10m
    actions:
    - event: {type: Warning, reason: Paused%[1]d, message: "paused for ten minutes in set %[2]d"}
`,
	}
}

const databases = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: databases, singular: database, kind: Database, listKind: DatabaseList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [replicas, storage]
            properties:
              replicas: {type: integer, minimum: 0}
              paused: {type: boolean, default: false}
              storage:
                type: object
                required: [size]
                properties:
                  size: {type: string}
                  class: {type: string, default: slow}
              settings: {type: object, additionalProperties: {type: string}}
              users:
                type: array
                maxItems: 100
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    roles: {type: array, maxItems: 10, items: {type: string}}
            x-kubernetes-validations:
            - rule: self.replicas <= 9
              message: at most nine replicas
          status:
            type: object
            properties: {ready: {type: integer}}
`

// BenchmarkLibrary runs 1,000 cases on 200 rules once in each iteration, as `test` does.
func BenchmarkLibrary(b *testing.B) {
	files := newMemory(library())
	if _, err := simulate.Run(b.Context(), []string{"."}, simulate.Options{Files: files, Update: true}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		report, err := simulate.Run(b.Context(), []string{"."}, simulate.Options{Files: files})
		if err != nil || report.Count(simulate.Pass) != libraryCases {
			b.Fatalf("%v: %s", err, report.Summary())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*libraryCases), "ms/case")
}

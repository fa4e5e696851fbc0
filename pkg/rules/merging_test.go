package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// TestMergedConflicts holds when two rules want different values where server-side apply merges: what the plan withholds, validate warns of.
func TestMergedConflicts(t *testing.T) {
	pod := func(fields string) string { return "{spec: {template: {spec: {" + fields + "}}}}" }
	apply := func(fields string) string { return "apply: " + pod(fields) + ", force: true" }
	const containers = "spec.template.spec.containers"
	tests := map[string]struct {
		reason string
		a, b   string
		want   string // the field, empty for no conflict
	}{
		"AtomicMap":     {"Of an atomic map there is one value.", apply("nodeSelector: {disk: ssd}"), apply("nodeSelector: {gpu: 'yes'}"), "spec.template.spec.nodeSelector"},
		"SameMap":       {"Both may want the same one.", apply("nodeSelector: {disk: ssd, a: b}"), apply("nodeSelector: {a: b, disk: ssd}"), ""},
		"MoreOfMap":     {"One with more is another one.", apply("nodeSelector: {disk: ssd}"), apply("nodeSelector: {disk: ssd, a: b}"), "spec.template.spec.nodeSelector"},
		"NotForced":     {"Force decides about other managers, and not about other rules.", "apply: " + pod("nodeSelector: {disk: ssd}"), "apply: " + pod("nodeSelector: {gpu: 'yes'}"), "spec.template.spec.nodeSelector"},
		"MapMerged":     {"A merge patch writes into it.", apply("nodeSelector: {disk: ssd}"), "merge: " + pod("nodeSelector: {gpu: 'yes'}"), "spec.template.spec.nodeSelector.gpu"},
		"Element":       {"Two fields of an element.", apply("containers: [{name: main, imagePullPolicy: Always}]"), apply("containers: [{name: main, tty: true}]"), ""},
		"Elements":      {"Two elements.", apply("containers: [{name: main, tty: false}]"), apply("containers: [{name: other, tty: true}]"), ""},
		"ElementField":  {"One field of an element.", apply("containers: [{name: main, tty: false}]"), apply("containers: [{name: x}, {name: main, tty: true}]"), containers + "[name=main].tty"},
		"Nested":        {"A list in an element.", apply("containers: [{name: main, env: [{name: A, value: a}]}]"), apply("containers: [{name: main, env: [{name: B, value: b}]}]"), ""},
		"NestedField":   {"A field in a list in an element.", apply("containers: [{name: main, env: [{name: A, value: a}]}]"), apply("containers: [{name: main, env: [{name: A, value: b}]}]"), containers + "[name=main].env[name=A].value"},
		"DefaultedKey":  {"A key that is not written has its default.", apply("containers: [{name: main, ports: [{containerPort: 80, name: a}]}]"), apply("containers: [{name: main, ports: [{containerPort: 80, protocol: TCP, name: b}]}]"), containers + "[name=main].ports[containerPort=80,protocol=TCP].name"},
		"OtherKey":      {"Another value of a key is another element.", apply("containers: [{name: main, ports: [{containerPort: 80, name: a}]}]"), apply("containers: [{name: main, ports: [{containerPort: 80, protocol: UDP, name: b}]}]"), ""},
		"AtomicList":    {"Of an atomic list there is one value.", apply("tolerations: [{key: a}]"), apply("tolerations: [{key: b}]"), "spec.template.spec.tolerations"},
		"SameList":      {"Both may want the same one.", apply("tolerations: [{key: a}]"), apply("tolerations: [{key: a}]"), ""},
		"Set":           {"Each may add to a set.", "apply: {metadata: {finalizers: [example.com/a]}}", "apply: {metadata: {finalizers: [example.com/b]}}", ""},
		"Replaced":      {"A merge patch replaces the list.", apply("containers: [{name: main, tty: true}]"), "merge: " + pod("containers: [{name: main, image: x}]"), containers + "[name=main].tty"},
		"ByIndex":       {"A JSON patch names the element by its place.", apply("containers: [{name: main, tty: true}]"), "json: [{op: replace, path: /spec/template/spec/containers/0/tty, value: false}]", containers + "[name=main].tty"},
		"OtherByIndex":  {"Or another field of it.", apply("containers: [{name: main, tty: true}]"), "json: [{op: replace, path: /spec/template/spec/containers/0/stdin, value: false}]", ""},
		"ByIndexSecond": {"Or another element.", apply("containers: [{name: main, tty: true}]"), "json: [{op: replace, path: /spec/template/spec/containers/1/tty, value: false}]", ""},
		"Granular":      {"A map that is merged.", apply("containers: [{name: main, resources: {limits: {cpu: 1}}}]"), apply("containers: [{name: main, resources: {limits: {memory: 1Gi}}}]"), ""},
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: n, uid: u, resourceVersion: "1"},
		spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: x}, {name: second, image: x}]}}}}`), &object); err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\nmetadata: {name: s}\nspec:\n  resources: {d: {group: apps, version: v1, resource: deployments}}\n  rules:\n"
			for i, patch := range []string{tc.a, tc.b} {
				text += fmt.Sprintf("  - {name: r%d, watch: d, actions: [{patch: {%s}}]}\n", i, patch)
			}
			set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{Schemas: schema.NewCatalog(builtin.Source())})
			if len(errs) > 0 {
				t.Fatal(errs.Render())
			}
			decided := set.Evaluate(rules.Snapshot{GVR: set.Selections()[0].GVR, Object: object, SelectedBy: set.Selections()})
			var withheld []string
			for _, d := range decided.Decisions {
				if d.Outcome == plan.Withheld {
					withheld = append(withheld, d.Reason)
				}
			}
			var want []string
			if tc.want != "" {
				want = []string{tc.want + " is decided by rule s/r0, which comes first"}
			}
			if !slices.Equal(withheld, want) {
				t.Errorf("%s\nwithheld %q, want %q", tc.reason, withheld, want)
			}
			warned := slices.ContainsFunc(set.Warnings(), func(e *document.Error) bool { return e.Code == document.CodeConflict })
			if certain := !strings.Contains(tc.b, "json: "); certain && warned != (tc.want != "") {
				t.Errorf("%s\nvalidate warns: %t\n%s", tc.reason, warned, set.Warnings().Render())
			}
		})
	}
}

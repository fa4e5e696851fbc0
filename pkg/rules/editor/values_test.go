package editor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

const (
	head       = "apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\n"
	named      = head + "metadata: {name: set}\n"
	pods       = "resources: {pods: {version: v1, resource: pods}}"
	seen       = "{event: {reason: Seen, message: seen}}"
	ruled      = named + "spec:\n  " + pods + "\n  rules: [{name: r, watch: pods, with: {list: {resource: pods, all: true}}, "
	tested     = "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleTest\n"
	testedName = tested + "metadata: {name: t}\n"
	stepped    = testedName + "spec: {rules: [r.yaml], cases: [{name: c, objects: [o.yaml], steps: ["
)

// maps in documents, with a hole for what is written in them.
var places = map[string]string{
	"set":      named + "spec: %s\n",
	"resource": named + "spec: {resources: {pods: %s}, rules: [{name: r, watch: pods, actions: [" + seen + "]}]}\n",
	"rule":     named + "spec: {" + pods + ", rules: [%s]}\n",
	"related":  named + "spec: {" + pods + ", rules: [{name: r, watch: pods, with: {list: %s}, actions: [" + seen + "]}]}\n",
	"onDelete": ruled + "onDelete: %s}]\n",
	"limits":   ruled + "limits: %s, actions: [" + seen + "]}]\n",
	"action":   ruled + "actions: [%s]}]\n",
	"patch":    ruled + "actions: [{patch: %s}]}]\n",
	"apply":    ruled + "actions: [{apply: %s}]}]\n",
	"create":   ruled + "actions: [{create: %s}]}]\n",
	"delete":   ruled + "actions: [{delete: %s}]}]\n",
	"event":    ruled + "actions: [{event: %s}]}]\n",
	"test":     testedName + "spec: %s\n",
	"case":     testedName + "spec: {rules: [r.yaml], cases: [%s]}\n",
}

// said are the mistakes that are told of a text.
func said(text string) document.Errors {
	if strings.Contains(text, "kind: RuleTest") {
		_, errs := simulate.Load("rules_test.yaml", beside{"rules_test.yaml": text})
		return errs
	}
	_, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default"})
	return errs
}

// TestValues holds values of fields against the decoders. What a decoder takes, the
// schema takes. What it refuses, the schema refuses where right is false; beyond
// marks what only the language can know.
func TestValues(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	rest := map[string]string{ // What a place needs besides the field.
		"set":      pods + ", rules: [{name: r, watch: pods, actions: [" + seen + "]}]",
		"resource": "version: v1, resource: pods",
		"rule":     "name: r, watch: pods, actions: [" + seen + "]",
		"related":  "resource: pods, all: true",
		"onDelete": "actions: [" + seen + "]",
		"limits":   "maxObjects: 5",
		"action":   "event: {reason: A, message: a}",
		"patch":    "merge: {a: 1}",
		"apply":    "resource: pods, manifest: {metadata: {name: a}}",
		"create":   "in: list, manifest: {metadata: {name: a}}",
		"event":    "reason: A, message: a",
		"case":     "name: c, objects: [a]",
		"test":     "rules: [a], cases: [{name: c, objects: [a]}]",
	}
	tests := []struct {
		place, field         string
		right, wrong, beyond []string
	}{
		{"set", "description", []string{"a", `""`}, []string{"5", "[a]", "null"}, nil},
		{"set", "mode", []string{"Enforce", "Audit"}, []string{"enforce", "true", "null"}, nil},
		{"set", "params", []string{"{}", "{a: 1, b: [c], d: {e: null}, f: null}"}, []string{"[]", "a", "{a.b: 1}", "null"}, nil},
		{"set", "let", []string{"{}", "{a: 1, b: true, c: 0.5, d: object.metadata}"}, []string{"[]", "{a: [b]}", "{a: {}}", `{a: ""}`, `{a: " "}`, "{a: null}", "{a-b: 1}"}, []string{"{object: 1}", "{a: b}"}},
		{"resource", "group", []string{"apps", `""`, "example.com"}, []string{"apps/v1", "5", "Apps", "null"}, nil},
		{"resource", "namespaces", []string{"[a]", "[a, b-c]"}, []string{"[]", "a", `["*"]`, "[A]", "[5]", "null"}, nil},
		{"resource", "labelSelector", []string{"a=b", `""`}, []string{"5", "{a: b}", "null"}, []string{"a in"}},
		{"resource", "fieldSelector", []string{"metadata.name=a"}, []string{"5", "{a: b}", "null"}, []string{"a"}},
		{"rule", "description", []string{"a"}, []string{"5", "null"}, nil},
		{"rule", "with", []string{"{a: {resource: pods, all: true}}"}, []string{"{}", "[]", "{a: pods}", "{a-b: {resource: pods, all: true}}", "{a: {resource: pods}}"}, []string{"{a: {resource: nodes, all: true}}"}},
		{"rule", "when", []string{"true", "object.metadata.name == 'a'"}, []string{"5", "0.5", "[a]", "{}", `""`, "null"}, []string{"a"}},
		{"rule", "for", []string{"5m", "1h30m", "2d", "1w2d3h", "60", `"duration('5m')"`, `"object.metadata.name == 'a' ? '5m' : '1h'"`, `" duration('5m')"`}, []string{"5 minutes", "5min", "0.5", "true", "[5m]", "0", `""`, "null"}, []string{"0s"}},
		{"rule", "suspend", []string{"true", "false"}, []string{`"true"`, "1", "null"}, nil},
		{"rule", "mode", []string{"Enforce", "Audit"}, []string{"Off", "null"}, nil},
		{"rule", "limits", []string{"{maxObjects: 5}", "{maxObjects: 100%, per: 1h}"}, []string{"{}", "5", "{per: 1h}", "null"}, nil},
		{"rule", "onDelete", []string{"{actions: [{delete: {}}]}"}, []string{"{}", "[]", "{actions: []}", "null"}, nil},
		{"related", "namespace", []string{"a", `"*"`, `"${object.metadata.namespace}"`}, []string{"5", "[a]", "null"}, []string{"A_b"}},
		{"onDelete", "done", []string{"true", "object.metadata.name == 'a'"}, []string{"5", "[a]", "null"}, nil},
		{"onDelete", "hold", []string{"true", "false"}, []string{`"no"`, "null"}, nil},
		{"limits", "per", []string{"10m", "1.5h", "90", "1d12h", "1w", "500ms", ".5s"}, []string{"0", "-5m", "10 m", "1y", "ten", "true", `""`, "null"}, []string{"0s"}},
		{"action", "when", []string{"true", "object.metadata.name == 'a'"}, []string{"5", "[a]", "null"}, nil},
		{"action", "forEach", []string{"{a: [1, 2]}", `{a: "${keys(object.metadata.labels)}"}`}, []string{"{}", "{a: [1], b: [2]}", "[1]", "{a: 5}", "{a: text}", "{a: {}}", "{a: null}", "{a-b: [1]}", "null"}, []string{"{object: [1]}"}},
		{"patch", "subresource", []string{"status", "scale"}, []string{"a/b", "5", `""`, "null"}, nil},
		{"patch", "target", []string{"object", "list"}, []string{`"${list}"`, "a.b", "5", "[object]", "null"}, []string{"unknown"}},
		{"patch", "force", []string{"false"}, []string{"true", `"false"`, "null"}, nil},
		{"apply", "owned", []string{"true", "false"}, []string{`"yes"`, "null"}, nil},
		{"apply", "prune", []string{"true", "false"}, []string{"1", "null"}, nil},
		{"apply", "existing", []string{"Update", "Keep"}, []string{"update", "null"}, nil},
		{"apply", "adopt", []string{"true", "false"}, []string{"1", "null"}, nil},
		{"create", "owned", []string{"true", "false"}, []string{`"yes"`, "null"}, nil},
		{"delete", "gracePeriodSeconds", []string{"0", "30", `"${len(object.metadata.labels)}"`}, []string{"-1", "0.5", `"30"`, "30s", "true", "null"}, nil},
		{"delete", "propagationPolicy", []string{"Background", "Foreground", "Orphan"}, []string{"None", "null"}, nil},
		{"delete", "target", []string{"object", "list"}, []string{"5", "null"}, []string{"unknown"}},
		{"event", "type", []string{"Normal", "Warning", `"${object.metadata.name}"`}, []string{"Error", "5", "null"}, nil},
		{"event", "action", []string{"Reconcile", `"Do${object.metadata.name}"`}, []string{"reconcile", "Do it", "5", `""`, "null"}, nil},
		{"case", "golden", []string{"a.yaml"}, []string{"5", `""`, "null"}, nil},
		{"test", "now", []string{`"2026-01-01T00:00:00Z"`}, []string{"yesterday", "5", "null"}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.place+"."+tc.field, func(t *testing.T) {
			t.Parallel()
			write := func(value string) string {
				written := tc.field + ": " + value
				if more := rest[tc.place]; more != "" {
					written += ", " + more
				}
				return fmt.Sprintf(places[tc.place], "{"+written+"}")
			}
			check := func(values []string, taken, described bool) {
				for _, value := range values {
					errs, err := said(write(value)), g.judge(write(value))
					if (len(errs) == 0) != taken {
						t.Errorf("%s: the decoder says %v", value, errs)
					}
					if (err == nil) != described {
						t.Errorf("%s: the schema says %v", value, err)
					}
				}
			}
			check(tc.right, true, true)
			check(tc.wrong, false, false)
			check(tc.beyond, false, true)
		})
	}
}

// TestForms does that for the forms of with.
func TestForms(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	tests := []struct {
		form                 string
		right, wrong, beyond []string
	}{
		{"name", []string{"a", `"${object.metadata.name}"`}, []string{"5", "[a]", `""`, "null"}, []string{"a/b"}},
		{"names", []string{"[a, b]", `["${object.metadata.name}"]`, `"${[object.metadata.name]}"`}, []string{"a", "[5]", "{a: b}", "null"}, []string{"[]", "[a/b]"}},
		{"matchLabels", []string{"{a: b}", `"${object.metadata.labels}"`}, []string{"{}", "{a: 5}", "a", "[a]", "null"}, []string{`{"a b": c}`}},
		{"selector", []string{"{matchLabels: {a: b}}", "{matchExpressions: [{key: a, operator: Exists}]}", `"${{matchLabels: object.metadata.labels}}"`}, []string{"{}", "{a: b}", "a=b", "{matchExpressions: [{key: a, operator: Is}]}", "{matchLabels: {a: 5}}", "null"}, []string{"{matchExpressions: [{key: a}]}"}},
		{"matchFields", []string{"{spec.nodeName: a}", "{spec.a: 5, spec.b: true}", `"${object.metadata.labels}"`}, []string{"{}", "{a: [b]}", "{a: null}", "a", "null"}, []string{"{a..b: c}"}},
		{"ownedBy", []string{"object"}, []string{`"${object}"`, "5", "[object]", "a.b", "null"}, []string{"unknown"}},
		{"all", []string{"true"}, []string{"false", `"true"`, "null"}, nil},
	}
	for _, tc := range tests {
		write := func(value string) string {
			return fmt.Sprintf(places["related"], "{resource: pods, "+tc.form+": "+value+"}")
		}
		check := func(values []string, taken, described bool) {
			for _, value := range values {
				errs, err := said(write(value)), g.judge(write(value))
				if (len(errs) == 0) != taken || (err == nil) != described {
					t.Errorf("%s: %s: the decoder says %v, the schema %v", tc.form, value, errs, err)
				}
			}
		}
		check(tc.right, true, true)
		check(tc.wrong, false, false)
		check(tc.beyond, false, true)
	}
}

// TestScope holds what depends on the kind of a set.
func TestScope(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	const rules = pods + "\n  rules: [{name: r, watch: pods, actions: [" + seen + "]}]\n"
	tests := map[string]struct {
		reason, text string
		right        bool
	}{
		"namespace": {"A RuleSet is in one.", "kind: RuleSet\nmetadata: {name: a, namespace: b}\nspec:\n  " + rules, true},
		"... of a ClusterRuleSet": {
			"It has none.",
			"kind: ClusterRuleSet\nmetadata: {name: a, namespace: b}\nspec:\n  " + rules, false,
		},
		"account": {"That of a RuleSet is beside it.", "kind: RuleSet\nmetadata: {name: a}\nspec:\n  serviceAccountName: a\n  " + rules, true},
		"... elsewhere": {
			"A RuleSet has no choice.",
			"kind: RuleSet\nmetadata: {name: a}\nspec:\n  serviceAccountName: a\n  serviceAccountNamespace: b\n  " + rules, false,
		},
		"... of a ClusterRuleSet is whole": {
			"It has both.",
			"kind: ClusterRuleSet\nmetadata: {name: a}\nspec:\n  serviceAccountName: a\n  serviceAccountNamespace: b\n  " + rules, true,
		},
		"... without a namespace": {
			"It needs both.",
			"kind: ClusterRuleSet\nmetadata: {name: a}\nspec:\n  serviceAccountName: a\n  " + rules, false,
		},
		"... without a name": {
			"It needs both.",
			"kind: ClusterRuleSet\nmetadata: {name: a}\nspec:\n  serviceAccountNamespace: a\n  " + rules, false,
		},
		"from a cluster": {
			"What the API server adds is no mistake.",
			"kind: RuleSet\nmetadata: {name: a, uid: b, generation: 1, labels: {c: d}}\nstatus: {ready: true}\nspec:\n  " + rules, true,
		},
		"other kind": {"There are three.", "kind: RulesSet\nmetadata: {name: a}\nspec:\n  " + rules, false},
	}
	for name, tc := range tests {
		text := "apiVersion: dyncontroller.dev/v1alpha1\n" + tc.text
		if errs, err := said(text), g.judge(text); (len(errs) == 0) != tc.right || (err == nil) != tc.right {
			t.Errorf("%s: %s\nthe decoder says %v, the schema %v", name, tc.reason, errs, err)
		}
	}
}

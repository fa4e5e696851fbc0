package simulate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

func instant() time.Time { return time.Date(2026, time.February, 3, 4, 5, 6, 0, time.UTC) }

// setOf compiles rules for one resource, declared as given.
func setOf(t *testing.T, resource, rulesText string) *rules.Set {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(`
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    watched: ` + resource + `
  rules:
` + rulesText)}}, rules.Options{})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return set
}

func objectOf(t *testing.T, text string) map[string]any {
	t.Helper()
	objects, errs := simulate.ParseObjects(document.File{Name: "object.yaml", Data: []byte(text)})
	if len(errs) > 0 || len(objects) != 1 {
		t.Fatalf("%d objects, %s", len(objects), errs.Render())
	}
	return objects[0]
}

const always = `
  - name: rule
    watch: watched
    actions:
    - patch: {merge: {metadata: {labels: {seen: "yes"}}}}
`

const never = `
  - name: rule
    watch: watched
    when: object.metadata.name == "never"
    actions:
    - patch: {merge: {metadata: {labels: {seen: "yes"}}}}
`

func TestEvaluate(t *testing.T) {
	set := setOf(t, "{version: v1, resource: configmaps}", always)
	content := objectOf(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: basic, namespace: tidb, managedFields: [{manager: kubectl}]}
data: {a: "1"}
`)
	before, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	got, err := simulate.Evaluate(set, content, instant())
	if err != nil {
		t.Fatal(err)
	}
	const uid = "62e548c5-812f-5839-b73f-2bb9597f10b6"
	want := simulate.Decided{
		Decisions: []simulate.Decision{{Object: "configmaps tidb/basic", Rule: "set/rule", Outcome: plan.Matched}},
		Writes: []simulate.Write{{
			Object: "configmaps tidb/basic", Rules: []string{"set/rule"}, Type: plan.Merge, Manager: "dyncontroller",
			Body: map[string]any{"metadata": map[string]any{
				"uid": uid, "resourceVersion": "1", "labels": map[string]any{"seen": "yes"},
			}},
		}},
		Events: []simulate.Event{},
		Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "1"},
			"metadata": map[string]any{
				"name": "basic", "namespace": "tidb", "uid": uid, "resourceVersion": "1",
				"creationTimestamp": "2026-02-03T04:05:06Z", "labels": map[string]any{"seen": "yes"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if after, _ := json.Marshal(content); string(after) != string(before) {
		t.Errorf("the object was changed:\n%s\n%s", before, after)
	}
}

func TestEvaluateShowsNoObjectWithoutAWrite(t *testing.T) {
	set := setOf(t, "{version: v1, resource: configmaps}", never)
	got, err := simulate.Evaluate(set, objectOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), instant())
	if err != nil {
		t.Fatal(err)
	}
	data, err := got.YAML()
	if err != nil {
		t.Fatal(err)
	}
	want := `decisions:
- object: configmaps a
  rule: set/rule
  outcome: not matched
  reason: object.metadata.name == "never" is false; object.metadata.name is "a"
writes: []
events: []
`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEvaluateLocatesAFailedRule(t *testing.T) {
	set := setOf(t, "{version: v1, resource: configmaps}", strings.Replace(always, `"yes"`, `"${object.metadata.name / 2}"`, 1))
	got, err := simulate.Evaluate(set, objectOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), instant())
	if err != nil {
		t.Fatal(err)
	}
	failed := got.Decisions[0]
	if failed.Outcome != plan.Failed || !strings.HasPrefix(failed.Reason, "spec.rules[0].actions[0]") {
		t.Errorf("have %s: %s", failed.Outcome, failed.Reason)
	}
	var placed *document.Error
	if !errors.As(failed.Err, &placed) || placed.File != "rules.yaml" || placed.Line == 0 {
		t.Errorf("not located: %+v", failed.Err)
	}
}

func TestResourcesOfKinds(t *testing.T) {
	tests := map[string]string{ // The plurals of real kinds.
		"Pod":                        "pods",
		"Ingress":                    "ingresses",
		"NetworkPolicy":              "networkpolicies",
		"Gateway":                    "gateways",
		"Elasticsearch":              "elasticsearches",
		"Endpoints":                  "endpoints",
		"SecurityContextConstraints": "securitycontextconstraints",
	}
	for kind, resource := range tests {
		t.Run(kind, func(t *testing.T) {
			set := setOf(t, "{version: v1, resource: "+resource+"}", never)
			got, err := simulate.Evaluate(set, objectOf(t, "{apiVersion: v1, kind: "+kind+", metadata: {name: a}}"), instant())
			if err != nil || len(got.Decisions) != 1 || got.Decisions[0].Object != resource+" a" {
				t.Errorf("have %+v, err %v", got.Decisions, err)
			}
		})
	}
}

func TestResourcesThatAreNotOfTheKind(t *testing.T) {
	tests := map[string]struct {
		reason   string
		resource string
		version  string
		want     string
	}{
		"singular": {
			reason: "a singular resource is a mistake, not a match", resource: "pod", version: "v1",
			want: "write resource: pods instead of pod",
		},
		"other": {
			reason: "another kind of the same group is not the same", resource: "podtemplates", version: "v1",
			want: "no rule watches the kind Pod of v1; the rules watch podtemplates of v1",
		},
		"near": {
			reason: "either may be misspelt", resource: "podz", version: "v1",
			want: "the rules watch podz, and this would be one of pods: is either misspelt?",
		},
		"version": {
			reason: "a version is watched as it is written", resource: "pods", version: "v2",
			want: "no rule watches the kind Pod of v2; the rules watch pods of v1",
		},
		"malformed": {
			reason: "an apiVersion that is none does not panic", resource: "pods", version: "a/b/c",
			want: "no rule watches the kind Pod",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := setOf(t, "{version: v1, resource: "+test.resource+"}", never)
			content := objectOf(t, "{apiVersion: "+test.version+", kind: Pod, metadata: {name: a}}")
			if _, err := simulate.Evaluate(set, content, instant()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: want %q, have %v", test.reason, test.want, err)
			}
		})
	}
}

func TestSelections(t *testing.T) {
	const node = "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {zone: x}}, spec: {taints: [], big: 9007199254740993}}"
	tests := map[string]struct {
		reason    string
		selection string
		group     string
		held      bool
	}{
		"all":          {reason: "no selector holds everything", held: true},
		"label":        {reason: "labels are compared", selection: "labelSelector: zone=x", held: true},
		"other label":  {reason: "labels are compared", selection: "labelSelector: zone=y"},
		"no label":     {reason: "absence can be asked for", selection: `labelSelector: "!zone"`},
		"name":         {reason: "names are fields", selection: "fieldSelector: metadata.name=a", held: true},
		"other name":   {reason: "names are fields", selection: "fieldSelector: metadata.name=b"},
		"not name":     {reason: "fields can be excluded", selection: `fieldSelector: "metadata.name!=a"`},
		"both":         {reason: "all terms must hold", selection: `fieldSelector: "metadata.name=a,metadata.namespace=b"`},
		"no namespace": {reason: "what is absent is empty", selection: `fieldSelector: metadata.namespace=`, held: true},
		"default": {
			reason:    "Kubernetes' own booleans are false where absent",
			selection: "fieldSelector: spec.unschedulable=false",
			held:      true,
		},
		"not default": {reason: "Kubernetes' own booleans are false where absent", selection: "fieldSelector: spec.unschedulable=true"},
		"no default": {
			reason:    "custom resources have nothing where nothing is",
			selection: "fieldSelector: spec.unschedulable=false",
			group:     "example.com",
		},
		"number":       {reason: "numbers are exact", selection: "fieldSelector: spec.big=9007199254740993", held: true},
		"not a scalar": {reason: "a list is not text", selection: "fieldSelector: 'spec.taints=[]'"},
		"through":      {reason: "a path through a scalar leads nowhere", selection: "fieldSelector: metadata.name.a=a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			version := "v1"
			if test.group != "" {
				version = test.group + "/v1"
			}
			set := setOf(t, fmt.Sprintf("{group: %q, version: v1, resource: nodes, %s}", test.group, test.selection), never)
			_, err := simulate.Evaluate(set, objectOf(t, strings.Replace(node, "apiVersion: v1", "apiVersion: "+version, 1)), instant())
			if held := err == nil; held != test.held || !held && !strings.HasPrefix(err.Error(), `no rule selects the Node "a"; `) {
				t.Errorf("%s: held %v, err %v", test.reason, held, err)
			}
		})
	}
}

func TestOnlyTheRulesThatHoldAnObjectDecide(t *testing.T) {
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(`
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    prod: {version: v1, resource: pods, labelSelector: env=prod}
    test: {version: v1, resource: pods, labelSelector: env=test}
  rules:
  - {name: prod, watch: prod, actions: [{event: {reason: Prod, message: seen}}]}
  - {name: test, watch: test, actions: [{event: {reason: Test, message: seen}}]}
  - {name: both, watch: "prod,test", actions: [{event: {reason: Both, message: seen}}]}
`)}}, rules.Options{})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	got, err := simulate.Evaluate(set, objectOf(t, "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {env: test}}}"), instant())
	if err != nil {
		t.Fatal(err)
	}
	var decided []string
	for _, decision := range got.Decisions {
		decided = append(decided, decision.Rule)
	}
	if diff := cmp.Diff([]string{"set/test", "set/both"}, decided); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseObjectsReturnsNothingBesideErrors(t *testing.T) {
	const data = "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\nkind: Pod\n"
	objects, errs := simulate.ParseObjects(document.File{Name: "o.yaml", Data: []byte(data)})
	if objects != nil || len(errs) == 0 {
		t.Errorf("have %v, %v", objects, errs)
	}
}

package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

var tidbclusters = schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}

const head = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}}
`

func mustLoad(t testing.TB, text string) *rules.Set {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default"})
	if len(errs) > 0 {
		t.Fatalf("loading the rules:\n%s", errs.Render())
	}
	return set
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	out["apiVersion"], out["kind"] = "pingcap.com/v1alpha1", "TidbCluster"
	return out
}

func snapshot(set *rules.Set, object map[string]any) rules.Snapshot {
	return rules.Snapshot{GVR: tidbclusters, Object: object, SelectedBy: set.Selections(), Now: time.Unix(0, 0), Explain: true}
}

// summary writes a plan as lines.
func summary(t testing.TB, p plan.Plan) string {
	t.Helper()
	var b strings.Builder
	for _, d := range p.Decisions {
		fmt.Fprintf(&b, "%s %s", d.Rule.Name, d.Outcome)
		if d.Reason != "" {
			fmt.Fprintf(&b, ": %s", d.Reason)
		}
		b.WriteString("\n")
	}
	for _, o := range p.Operations {
		body, err := json.Marshal(o.Body)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s%s %s\n", o.Type, strings.TrimSuffix(" "+o.Subresource, " "), body)
	}
	for _, e := range p.Events {
		fmt.Fprintf(&b, "%s %s %s %q\n", e.Type, e.Reason, e.Action, e.Message)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestEvaluate(t *testing.T) {
	tests := map[string]struct {
		reason string
		rules  string // under spec
		object string
		want   string
	}{
		"PatchAndEvent": {
			reason: "The example of the README.",
			rules: `
  rules:
  - name: pd-quorum
    watch: tidbclusters
    let: {pd: "object.spec.pd?.replicas ?? 0"}
    when: pd > 0 && pd % 2 == 0
    actions:
    - patch: {merge: {spec: {pd: {replicas: "${pd + 1}"}}}}
    - event: {type: Warning, reason: EvenPD, message: "PD had ${pd} members"}`,
			object: `{spec: {pd: {replicas: 2}}}`,
			want: `pd-quorum matched
merge {"spec":{"pd":{"replicas":3}}}
Warning EvenPD Reconcile "PD had 2 members"`,
		},
		"NotMatched": {
			reason: "The first false clause is the reason, with what it read.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    when: object.spec.pd.replicas > 0 && object.spec.pd.replicas % 2 == 0
    actions: [{event: {reason: R, message: m}}]`,
			object: `{spec: {pd: {replicas: 3}}}`,
			want:   `r not matched: object.spec.pd.replicas % 2 == 0 is false; object.spec.pd.replicas is 3`,
		},
		"AlwaysMaps": {
			reason: "Labels, annotations, spec and status read as empty maps where absent.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    when: object.metadata.labels.a == nil && object.metadata.annotations.b == nil && object.spec.c == nil && object.status.d == nil
    actions: [{patch: {merge: {metadata: {labels: {a: x}}}}}]`,
			object: `{metadata: {name: n}}`,
			want: `r matched
merge {"metadata":{"labels":{"a":"x"}}}`,
		},
		"LetsAreLazy": {
			reason: "A name that is not needed is not evaluated, in whatever order it is written.",
			rules: `
  let: {broken: object.spec.none.deeper, a: b + 1, b: object.spec.num}
  rules:
  - name: r
    watch: tidbclusters
    when: a == 2 || broken
    actions: [{event: {reason: R, message: "${a}"}}]`,
			object: `{spec: {num: 1}}`,
			want: `r matched
Normal R Reconcile "2"`,
		},
		"FailureIsContained": {
			reason: "An error in one rule leaves the others alone; it is located.",
			rules: `
  rules:
  - name: broken
    watch: tidbclusters
    let: {deep: object.spec.none.deeper}
    when: deep == 1
    actions: [{patch: {merge: {spec: {a: 1}}}}]
  - name: fine
    watch: tidbclusters
    actions: [{patch: {merge: {spec: {b: 1}}}}]`,
			object: `{spec: {}}`,
			want: `broken failed: rules.yaml:10:34: spec.rules[0].let.deep: object.spec.none is absent, so object.spec.none.deeper cannot be read; write object.spec.none?.deeper, which is nil then
fine matched
merge {"spec":{"b":1}}`,
		},
		"LaterActionFails": {
			reason: "A rule that fails wants nothing, not half of what it says.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    actions:
    - patch: {merge: {spec: {a: 1}}}
    - patch: {merge: {spec: {b: "${1 + object.spec.text}"}}}`,
			object: `{spec: {text: x}}`,
			want: `r failed: rules.yaml:12:38: spec.rules[0].actions[1].patch.merge.spec.b: + has an integer on one side ` +
				`and a string on the other; write string(x) to join texts, or int(x) to add`,
		},
		"Conflict": {
			reason: "Two rules want different values: the earlier wins, the later is withheld, Event and all.",
			rules: `
  rules:
  - name: first
    watch: tidbclusters
    actions: [{patch: {merge: {spec: {a: 1}}}}]
  - name: second
    watch: tidbclusters
    actions: [{patch: {merge: {spec: {a: 2, b: 2}}}}, {event: {reason: R, message: m}}]`,
			object: `{spec: {}}`,
			want: `first matched
second withheld: spec.a is decided by rule set/first, which comes first
merge {"spec":{"a":1}}`,
		},
		"BeingDeleted": {
			reason: "Nothing is done to an object that is going.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    actions: [{patch: {merge: {spec: {a: 1}}}}]`,
			object: `{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}}`,
			want:   `r skipped: the object is being deleted`,
		},
		"TypedTemplates": {
			reason: "One expression alone keeps its type; omit() drops its key or element; keys may be templated.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    actions:
    - patch:
        merge:
          spec:
            list: "${object.spec.list}"
            text: "n is ${object.spec.num}"
            literal: "$${num}"
            none: "${omit()}"
            "null": "${nil}"
            built: "${ {'a': omit(), 'b': [1, omit()]} }"
            elements: ["${omit()}", x]
            "${object.spec.key}": true`,
			object: `{spec: {list: [1, 2.5, a], num: 9007199254740993, key: dynamic}}`,
			want: `r matched
merge {"spec":{"built":{"b":[1]},"dynamic":true,"elements":["x"],"literal":"${num}","text":"n is 9007199254740993"}}`,
		},
		"Subresource": {
			reason: "A patch of a subresource is a request of its own.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    actions:
    - patch: {merge: {spec: {a: 1}}}
    - patch: {subresource: status, merge: {status: {a: 1}}}`,
			object: `{spec: {}}`,
			want: `r matched
merge {"spec":{"a":1}}
merge status {"status":{"a":1}}`,
		},
		"ApplyDropsNil": {
			reason: "What is applied is owned, and nothing cannot be.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    actions: [{patch: {apply: {spec: {a: "${object.spec.none}", b: 1}}}}]`,
			object: `{spec: {}}`,
			want: `r matched
apply {"spec":{"b":1}}`,
		},
		"ForbiddenAtRunTime": {
			reason: "A templated key cannot smuggle in what a literal one may not write.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    actions: [{patch: {merge: {metadata: {"${'u' + 'id'}": x}}}}]`,
			object: `{spec: {}}`,
			want:   `r failed: rules.yaml:10:42: spec.rules[0].actions[0].patch.merge.metadata: a rule may not write metadata.uid; leave it out, the API server gives it`,
		},
		"NotABoolean": {
			reason: "A condition that is not a boolean is an error, not false.",
			rules: `
  rules:
  - name: r
    watch: tidbclusters
    when: object.spec.paused
    actions: [{event: {reason: R, message: m}}]`,
			object: `{spec: {}}`,
			want: `r failed: rules.yaml:10:11: spec.rules[0].when: object.spec.paused is absent, ` +
				`and a condition wants a boolean; ?? gives a default: (object.spec.paused ?? false)`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := mustLoad(t, head+strings.TrimPrefix(tc.rules, "\n"))
			o := object(t, tc.object)
			got := summary(t, set.Evaluate(snapshot(set, o)))
			if diff := cmp.Diff(strings.Split(tc.want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(object(t, tc.object), o); diff != "" {
				t.Errorf("the object was changed (-before +after):\n%s", diff)
			}
			if again := summary(t, set.Evaluate(snapshot(set, o))); again != got {
				t.Errorf("a second evaluation differs:\n%s\n%s", got, again)
			}
		})
	}
}

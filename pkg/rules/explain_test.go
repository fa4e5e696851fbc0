package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// explained is what Explain tells of each rule of a scene, and holds that it decides as
// Evaluate does.
func (s scene) explained(t *testing.T, change func(*rules.Snapshot)) map[string]trace.Trace {
	t.Helper()
	set := mustLoad(t, world+s.rules)
	snapshot := rules.Snapshot{
		GVR: tidbclusters, SelectedBy: set.Selections(), Now: noon,
		Gone: plan.Object{GVR: tidbclusters, Kind: "TidbCluster", Namespace: "db", Name: "basic", UID: "u-basic"},
		Kinds: map[schema.GroupVersionResource]plan.Kind{
			pods: {Name: "Pod", Namespaced: true}, configMaps: {Name: "ConfigMap", Namespaced: true}, secrets: {Name: "Secret", Namespaced: true},
		},
		Related: lookup.Objects{
			pods: objects(t, "Pod", s.pods), configMaps: objects(t, "ConfigMap", s.maps), secrets: objects(t, "Secret", s.secrets),
		},
	}
	if s.object != "" {
		snapshot.Object = named(t, "TidbCluster", s.object)
	}
	if change != nil {
		change(&snapshot)
	}
	snapshot.Explain = true
	decided := set.Evaluate(snapshot)
	out := map[string]trace.Trace{}
	for _, rule := range set.Rules() {
		told := set.Explain(snapshot, rule.ID)
		out[rule.ID.Name] = told
		agrees(t, told, rule.ID, decided)
	}
	return out
}

// agrees compares what is told of a rule with the plan.
func agrees(t *testing.T, told trace.Trace, id plan.Rule, decided plan.Plan) {
	t.Helper()
	at := slices.IndexFunc(decided.Decisions, func(d plan.Decision) bool { return d.Rule == id })
	if at < 0 {
		if told.Decision.Outcome != "" {
			t.Errorf("%s was explained as %s, and not asked", id, told.Decision.Outcome)
		}
		return
	}
	if want := decided.Decisions[at].Outcome; told.Decision.Outcome != want {
		t.Errorf("%s was %s, and explained as %s", id, want, told.Decision.Outcome)
	}
	var want, got []string
	for _, o := range slices.Concat(decided.Operations, decided.Audited) {
		if slices.Contains(o.Rules, id) {
			want = append(want, string(o.Type)+" "+o.Target.String())
		}
	}
	for i, r := range told.Requests {
		got = append(got, string(r.Type)+" "+r.Object)
		if before, _, masked := strings.Cut(got[i], trace.Masked); masked && i < len(want) && strings.HasPrefix(want[i], before) {
			want[i] = got[i]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: requests (-planned +explained):\n%s", id, diff)
	}
	if next := told.Decision.Next; next != nil && (decided.LookAgainAt.IsZero() || !next.At.IsZero() && next.At.Before(decided.LookAgainAt)) {
		t.Errorf("%s looks again at %s, and the plan at %s", id, next.At, decided.LookAgainAt)
	}
	if _, err := json.Marshal(told); err != nil {
		t.Errorf("%s: %v", id, err)
	}
}

const explainedRules = `
  let: {big: object.spec.size > 2}
  rules:
  - name: plain
    watch: tidbclusters
    when: big && !(object.spec.paused ?? false)
    actions: [{patch: {merge: {spec: {size: 5}}}}]
  - name: twice
    watch: tidbclusters
    let: {also: big, larger: "also ? object.spec.size > 9 : false"}
    when: big && (also || big) && larger
    actions: [{event: {reason: A, message: a}}]
  - name: holds
    watch: tidbclusters
    when: big
    onDelete: {done: "len(left) == 0", actions: [{event: {reason: A, message: a}}]}
    with: {left: {resource: pods, all: true}}
  - name: children
    watch: tidbclusters
    when: big
    actions: [{apply: {resource: configmaps, prune: true, manifest: {metadata: {name: child}, data: {a: b}}}}]
  - name: lasting
    watch: tidbclusters
    when: olderThan(object.metadata.creationTimestamp, "1h")
    for: object.spec.wait ?? "5m"
    actions: [{event: {reason: A, message: a}}]
  - name: many
    watch: tidbclusters
    with: {every: {resource: pods, all: true}}
    actions:
    - forEach: {pod: "${every}"}
      when: pod.spec.count > 1 && index < 40
      delete: {target: pod}
  - name: asleep
    watch: tidbclusters
    suspend: true
    actions: [{event: {reason: A, message: a}}]
  - name: elsewhere
    watch: pods
    actions: [{event: {reason: A, message: a}}]
`

// TestExplain holds what is told of rules, in parts of the tree that people read.
func TestExplain(t *testing.T) {
	var many []string
	for i := range 45 {
		many = append(many, fmt.Sprintf("{metadata: {name: p%d, namespace: db}, spec: {count: %d}}", i, i+1))
	}
	const living = `{metadata: {name: basic, namespace: db, creationTimestamp: "2026-01-01T11:30:00Z"}, spec: {size: 3}}`
	const dying = `{metadata: {name: basic, namespace: db, creationTimestamp: "2026-01-01T11:30:00Z", deletionTimestamp: "2026-01-01T11:59:00Z", finalizers: [FINALIZER]}, spec: {size: 3}}`
	tests := map[string]struct {
		reason string
		scene  scene
		change func(*rules.Snapshot)
		rule   string
		want   []string // parts of the tree
		not    []string
	}{
		"Matches": {
			reason: "Every part of the condition, and what changes.", scene: scene{object: living}, rule: "plain",
			want: []string{
				"result  matched\n",
				"  true       big && !(object.spec.paused ?? false) (16:11)\n",
				"  ├ true       big, a let (16:11)\n  │ └ true       object.spec.size > 2 (12:14)\n  │              object.spec.size is 3\n",
				"  └ true       !(object.spec.paused ?? false) (16:18)\n    └ false      (object.spec.paused ?? false) (16:19)\n",
				"spec.size: 3 -> 5\n",
				"would be sent\n  merge tidbclusters db/basic, as dyncontroller, for set/holds, set/plain\n",
			},
		},
		"OpenedOnce": {
			reason: "A name is opened where it is first met.", scene: scene{object: living}, rule: "twice",
			want: []string{"larger, a let", "also ? object.spec.size > 9 : false", "also is true, from big", "size > 9"},
			not:  []string{"  │ └ true       object.spec.size > 2 (12:14)\n  │ └"},
		},
		"PutsFinalizerOn": {
			reason: "What no action asks for is told too.", scene: scene{object: living}, rule: "holds",
			want: []string{"actions\n  finalizer\n    finalizer tidbclusters db/basic\n", "metadata.finalizers: absent -> ", "left: pods.v1, not asked"},
		},
		"NotDone": {
			reason: "What keeps an object from going.", scene: scene{object: dying, pods: many[:1]}, rule: "holds",
			want: []string{
				"in the way\n  the object is being deleted since 2026-01-01T11:59:00Z (being-deleted)\n",
				"done\n  false      len(left) == 0", "left: pods.v1 by all in db: db/p0", "Normal event A",
			},
			not: []string{"would be sent"},
		},
		"Done":   {"And what lets it go.", scene{object: dying}, nil, "holds", []string{"done\n  true", "  finalizer\n"}, nil},
		"Pruned": {"What is not wanted any more.", scene{object: strings.Replace(living, "size: 3", "size: 1", 1), maps: []string{child}}, nil, "children", []string{"result  not matched", "  prune\n    delete configmaps db/child\n"}, nil},
		"Gone": {
			"An object that is gone.",
			scene{maps: []string{child}},
			nil, "children",
			[]string{"there is no tidbclusters db/basic (no-object)", "skipped: the object is gone"},
			nil,
		},
		"GoneForMost": {"Of which most rules want nothing.", scene{}, nil, "plain", []string{"result  not asked: there is no tidbclusters db/basic\n"}, []string{"when"}},
		"Young": {
			"What changes with time, and when.",
			scene{object: living},
			nil, "lasting",
			[]string{"next    2026-01-01T12:30:00Z: a time in its condition comes", "may change at 2026-01-01T12:30:00Z"},
			[]string{"\nfor\n"},
		},
		"Begins": {
			"What nobody remembers begins now.",
			scene{object: strings.Replace(living, "11:30", "10:30", 1)},
			nil, "lasting",
			[]string{"when holds now, and since when is not known here, and must for 5m0s: until 2026-01-01T12:05:00Z", "its condition has held for long enough"},
			nil,
		},
		"Goes on": {
			"What is remembered counts.",
			scene{object: strings.Replace(living, "11:30", "10:30", 1)},
			func(s *rules.Snapshot) {
				s.State.HeldSince = map[plan.Rule]time.Time{{Kind: "ClusterRuleSet", Set: "set", Name: "lasting"}: noon.Add(-time.Hour)}
			},
			"lasting",
			[]string{"result  matched\n", "when holds since 2026-01-01T11:00:00Z, and must for 5m0s: it has"},
			nil,
		},
		"Bounded": {
			"Of many turns the first are told, and all are carried out.",
			scene{object: living, pods: many},
			nil, "many",
			[]string{"delete, for each pod: 45", "Pod db/p0\n", "and 25 more", "every: pods.v1 by all in db: 45, first db/p0"},
			[]string{"  prune\n"},
		},
		"Asleep":       {"A rule may be off.", scene{object: living}, nil, "asleep", []string{"the rule is suspended: it is kept, and does nothing (suspended)"}, nil},
		"OtherKind":    {"Or for others.", scene{object: living}, nil, "elsewhere", []string{"not asked: the rule watches pods.v1, not tidbclusters.v1alpha1.pingcap.com"}, []string{"when"}},
		"Unsynced":     {"What is not known is not decided.", scene{object: living}, func(s *rules.Snapshot) { s.Related = unsynced{} }, "many", []string{"skipped: a cache that it reads is not complete", "every: pods.v1, fails: reading every: the cache is not synced"}, nil},
		"Not selected": {"A selection that a snapshot knows better.", scene{object: living}, func(s *rules.Snapshot) { s.SelectedBy = nil }, "plain", []string{"it is not among what the selectors of its resource select (not-selected)"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			holder := plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "holds"}
			tc.scene.rules = explainedRules
			tc.scene.object = strings.Replace(tc.scene.object, "FINALIZER", holder.Finalizer(), 1)
			tree := tc.scene.explained(t, tc.change)[tc.rule].Tree()
			for _, part := range tc.want {
				if !strings.Contains(tree, part) {
					t.Errorf("%s\nthe tree lacks %q:\n%s", tc.reason, part, tree)
				}
			}
			for _, part := range tc.not {
				if strings.Contains(tree, part) {
					t.Errorf("%s\nthe tree has %q:\n%s", tc.reason, part, tree)
				}
			}
		})
	}
}

// child is what the rule `children` has made.
var child = func() string {
	maker := plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "children"}
	return fmt.Sprintf(`{metadata: {name: child, namespace: db, labels: {%s: %s, %s: children, %s: u-basic},
		managedFields: [{manager: %s, operation: Apply, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: b}}`,
		plan.LabelSet, maker.SetID(), plan.LabelRule, plan.LabelOwnerUID, maker.FieldManager())
}()

// TestExplainUnknown holds that a rule that is not there is no reason to fail.
func TestExplainUnknown(t *testing.T) {
	told := mustLoad(t, world+explainedRules).Explain(rules.Snapshot{GVR: tidbclusters, Now: noon}, plan.Rule{Set: "set", Name: "nobody"})
	want := []trace.Obstacle{{Kind: trace.Unknown, Text: "there is no such rule"}}
	if diff := cmp.Diff(want, told.Obstacles); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

// TestExplainSecrets holds that what comes from a Secret is told nowhere, in whatever form.
func TestExplainSecrets(t *testing.T) {
	const told = `
  rules:
  - name: r
    watch: tidbclusters
    with:
      login: {resource: secrets, name: login}
      others: {resource: configmaps, matchLabels: {token: "${token[1:]}"}}
      named: {resource: configmaps, names: "${[token[2:]]}"}
    let: {token: "fromBase64(login?.data?.token ?? '')", start: "token[:4]", length: len(start)}
    when: "CONDITION"
    for: duration("1h") + duration(string(length) + "s")
    actions:
    - patch: {merge: {metadata: {annotations: {whole: "${token}", part: "${start}", plain: "${object.metadata.name}", "${token[1:6]}": x}}}}
    - forEach: {c: "${split(token, '-')}"}
      when: c != "x" && object.metadata.name != c
      event: {reason: R, message: "${c}"}
`
	conditions := map[string]string{
		"Reads":   `token != "" && start != "x" && login?.data?.token != nil && length == 4 && len(others) + len(named) == 0`,
		"Locals":  `let x = token; let y = x[2:5]; y != "q" && x != y && any([x], # != y)`,
		"Fails":   `duration(token) > duration("1s")`,
		"Indexes": `split(token, "-")[0] != "x" && {"a": token}.a != "x" && [token][0] != "x" && toJSON(login ?? {}) != "x"`,
	}
	for name, condition := range conditions {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(told, "CONDITION", strings.ReplaceAll(condition, `"`, "'"), 1)
			all := scene{
				rules: text, object: `{metadata: {name: basic, namespace: db}, spec: {}}`,
				secrets: []string{`{metadata: {name: login, namespace: db}, data: {token: Y2FuYXJ5LWluLWEtbWluZQ==}}`},
			}.explained(t, func(s *rules.Snapshot) {
				s.State.HeldSince = map[plan.Rule]time.Time{{Kind: "ClusterRuleSet", Set: "set", Name: "r"}: noon.Add(-2 * time.Hour)}
			})
			shown := all["r"].Tree()
			if reached := len(all["r"].Actions) == 2 && all["r"].Actions[1].Reached; reached == (name == "Fails") {
				t.Errorf("the actions were reached: %t\n%s", reached, shown)
			}
			data, err := json.Marshal(all["r"])
			if err != nil {
				t.Fatal(err)
			}
			shown += string(data)
			tellsNothing(t, shown)
			if !strings.Contains(shown, trace.Masked) && name != "Fails" {
				t.Errorf("nothing is masked:\n%s", shown)
			}
		})
	}
}

// tellsNothing holds that no part of the Secret "canary-in-a-mine", nor a time in it, is in a text.
func tellsNothing(t *testing.T, shown string) {
	t.Helper()
	for _, part := range []string{"canary", "anary", "nary", "cana", "mine", "Y2FuYXJ5", "05:06:07"} {
		if strings.Contains(shown, part) {
			t.Errorf("%q is told:\n%s", part, shown)
		}
	}
}

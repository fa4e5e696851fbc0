package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const family = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: family}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters, labelSelector: "unmanaged!=true"}
    pods: {version: v1, resource: pods}
    maps: {version: v1, resource: configmaps}
  rules:
  - name: parent
    watch: tidbclusters
    when: object.spec.children != nil
    actions:
    - patch: {merge: {metadata: {annotations: {parent: "yes"}}}}
    - forEach: {child: "${object.spec.children}"}
      when: child != "unwanted"
      apply: {resource: maps, prune: true, manifest: {metadata: {name: "${child}"}, data: {of: "${object.metadata.name}"}}}
    - patch: {merge: {metadata: {annotations: {done: "yes"}}}}
`

// names tells which objects of the resource there are, by name.
func (s *stage) names(kind string) string {
	var out []string
	for _, object := range s.objects[resourceFor[kind]] {
		name, _ := metadataOf(object)["name"].(string)
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// born is a stage on which the parent has its children a, b and one that a rule
// did not make.
func born(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, []string{family}, `{kind: TidbCluster, metadata: {name: basic}, spec: {children: [a, b]}}`,
		`{kind: ConfigMap, metadata: {name: foreign}}`)
	if _, err := s.settle(); err != nil {
		t.Fatal(err)
	}
	if s.names("ConfigMap") != "foreign a b" {
		t.Fatalf("there are %s", s.names("ConfigMap"))
	}
	return s
}

func (s *stage) spec() map[string]any {
	spec, _ := s.objects[tidbclusters][0]["spec"].(map[string]any)
	return spec
}

// TestPruneThroughRules holds when what a rule applied is deleted again, and when
// it is not.
func TestPruneThroughRules(t *testing.T) {
	const skipped = "skipped: "
	tests := map[string]struct {
		reason string
		change func(s *stage)
		left   string
		first  string // line of the plan
	}{
		"nothing": {
			reason: "What is wanted stays.",
			change: func(*stage) {}, left: "foreign a b", first: "parent matched",
		},
		"no longer in the list": {
			reason: "What forEach does not name any more goes.",
			change: func(s *stage) { s.spec()["children"] = []any{"b", "c"} }, left: "foreign b c", first: "parent matched",
		},
		"when of the action": {
			reason: "A false condition of the action wants nothing.",
			change: func(s *stage) { s.spec()["children"] = []any{"unwanted", "b"} }, left: "foreign b", first: "parent matched",
		},
		"when of the rule": {
			reason: "So does that of the rule.",
			change: func(s *stage) { delete(s.spec(), "children") }, left: "foreign",
			first: "parent not matched: object.spec.children != nil is false; object.spec.children is absent",
		},
		"an empty list": {
			reason: "Nor does a list of nothing want anything.",
			change: func(s *stage) { s.spec()["children"] = []any{} }, left: "foreign", first: "parent matched",
		},
		"left the selector": {
			reason: "An object that is none of the rule's any more has no children of it.",
			change: func(s *stage) {
				metadataOf(s.objects[tidbclusters][0])["labels"] = map[string]any{"unmanaged": "true"}
			},
			left: "foreign", first: "parent " + skipped + "the rule does not select the object any more",
		},
		"gone": {
			reason: "Nor has one that is gone.",
			change: func(s *stage) { s.objects[tidbclusters] = nil }, left: "foreign", first: "parent " + skipped + "the object is gone",
		},
		"being deleted": {
			reason: "Until it is gone its children stay.",
			change: func(s *stage) {
				metadataOf(s.objects[tidbclusters][0])["deletionTimestamp"] = "2026-01-01T11:00:00Z"
				delete(s.spec(), "children")
			},
			left: "foreign a b", first: "parent " + skipped + "the object is being deleted",
		},
		"being deleted and left": {
			reason: "Until it is gone its children stay, whether or not it is selected still.",
			change: func(s *stage) {
				metadataOf(s.objects[tidbclusters][0])["deletionTimestamp"] = "2026-01-01T11:00:00Z"
				metadataOf(s.objects[tidbclusters][0])["labels"] = map[string]any{"unmanaged": "true"}
			},
			left: "foreign a b", first: "parent " + skipped + "the object is being deleted",
		},
		"made anew": {
			reason: "A watched object of the same name is another one: its children are its own.",
			change: func(s *stage) {
				metadataOf(s.objects[tidbclusters][0])["uid"] = "u-another"
				s.spec()["children"] = []any{"c"}
			},
			left: "foreign a b c", first: "parent matched",
		},
		"failed": {
			reason: "What cannot be told wants everything that is there.",
			change: func(s *stage) { s.spec()["children"] = int64(5) }, left: "foreign a b",
			first: `parent failed: 0.yaml:16:24: spec.rules[0].actions[1].forEach.child: forEach wants a list, have an integer; ` +
				`write a list, such as "${pods}" or "${keys(object.metadata.labels)}"`,
		},
		"refused": {
			reason: "Nor does a rule prune that is refused a child. The other child is made.",
			change: func(s *stage) { s.spec()["children"] = []any{"foreign", "c"} }, left: "foreign a b c",
			first: `parent refused: 0.yaml:18:72: spec.rules[0].actions[1].apply.manifest.metadata.name: ` +
				`configmaps db/foreign is there already, and was not made by the ClusterRuleSet family; write another name, or adopt: true to take it over`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := born(t)
			tc.change(s)
			first, _, _ := strings.Cut(told(t, s.evaluate()), "\n")
			if diff := cmp.Diff(tc.first, first); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if _, err := s.settle(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tc.left, s.names("ConfigMap")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRefusal holds what remains of a rule of which one element of an action is refused: what it asked for before and with
// the other elements, and an Event that says why.
func TestRefusal(t *testing.T) {
	s := newStage(t, []string{family}, `{kind: TidbCluster, metadata: {name: basic}, spec: {children: [a, foreign, c]}}`,
		`{kind: ConfigMap, metadata: {name: foreign}}`)
	p := s.evaluate()
	var writes []string
	for _, o := range p.Operations {
		writes = append(writes, string(o.Type)+" "+o.Target.String())
	}
	if diff := cmp.Diff([]string{"merge tidbclusters db/basic", "apply configmaps db/a", "apply configmaps db/c"}, writes); diff != "" {
		t.Errorf("the wishes before it and for other elements stand (-want +got):\n%s", diff)
	}
	if annotations := metadataOf(p.Operations[0].Predicted)["annotations"]; cmp.Diff(map[string]any{"parent": "yes"}, annotations) != "" {
		t.Errorf("annotations are %v", annotations)
	}
	if len(p.Events) != 1 || p.Events[0].Reason != "NotOurs" || p.Events[0].Regarding.Name != "basic" {
		t.Errorf("events: %+v", p.Events)
	}
	if d := p.Decisions[0]; d.Outcome != plan.Refused || d.Err == nil {
		t.Errorf("%s: %v", d.Outcome, d.Err)
	}
}

// TestPruneOfSuspended holds that a rule that does nothing deletes nothing.
func TestPruneOfSuspended(t *testing.T) {
	s := born(t)
	for _, mode := range []string{"    suspend: true\n", "    mode: Audit\n"} {
		text := strings.Replace(family, "    watch: tidbclusters\n", "    watch: tidbclusters\n"+mode, 1)
		asleep := newStage(t, []string{text})
		asleep.objects = s.objects
		delete(asleep.spec(), "children")
		if p := asleep.evaluate(); len(p.Operations) > 0 {
			t.Errorf("%s wants something:\n%s", strings.TrimSpace(mode), told(t, p))
		}
	}
}

// TestMembers holds that new objects are made until the list has enough of them,
// each evaluation as many as are missing, under the labels of their rule.
func TestMembers(t *testing.T) {
	s := newStage(t, []string{membersSet}, `{kind: TidbCluster, metadata: {name: basic}, spec: {members: 3}}`, `{kind: Pod, metadata: {name: other}}`)
	if _, err := s.settle(); err != nil {
		t.Fatal(err)
	}
	if len(s.objects[pods]) != 4 {
		t.Errorf("there are %s", s.names("Pod"))
	}
	made := s.objects[pods][1]
	labels, _ := metadataOf(made)["labels"].(map[string]any)
	rule := s.set.Rules()[0].ID
	want := map[string]any{plan.LabelSet: rule.SetID(), plan.LabelRule: "scale", plan.LabelOwnerUID: "u-basic"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	s.spec()["members"] = int64(1)
	if _, err := s.settle(); err != nil {
		t.Fatal(err)
	}
	if len(s.objects[pods]) != 2 || !strings.HasPrefix(s.names("Pod"), "other ") {
		t.Errorf("there are %s", s.names("Pod"))
	}
}

const membersSet = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: members}
spec:
  resources: {tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}, pods: {version: v1, resource: pods}}
  rules:
  - name: scale
    watch: tidbclusters
    with: {members: {resource: pods, ownedBy: object}}
    let:
      missing: (object.spec.members ?? 0) - len(members)
      excess: take(members, max(-missing, 0))
    actions:
    - forEach: {number: "${missing > 0 ? 1..missing : []}"}
      create: {in: members, manifest: {metadata: {generateName: m-}, spec: {number: "${number}"}}}
    - delete: {target: excess, gracePeriodSeconds: 0}
`

// TestChildOfAnotherSet holds that a set with the same names is another one.
func TestChildOfAnotherSet(t *testing.T) {
	s := born(t)
	again := strings.Replace(family, "name: family", "name: family-2", 1)
	other := newStage(t, []string{again})
	other.objects = s.objects
	p := other.evaluate()
	if d := p.Decisions[0]; d.Outcome != plan.Refused || !strings.Contains(d.Reason, "not made by the ClusterRuleSet family-2") {
		t.Errorf("%s: %s", d.Outcome, d.Reason)
	}
	delete(other.spec(), "children")
	if p := other.evaluate(); len(p.Operations) > 0 {
		t.Errorf("it prunes what another set made:\n%s", told(t, p))
	}
}

// TestPruneOfTwoDeclarations holds that a child that two declarations of a resource
// select is released once: a second time there is nothing left to give up.
func TestPruneOfTwoDeclarations(t *testing.T) {
	s := scene{
		rules: `
    labelled: {version: v1, resource: configmaps, labelSelector: tier=x}
  rules:
  - name: r
    watch: tidbclusters
    when: object.spec.on == true
    actions:
    - apply: {resource: configmaps, adopt: true, prune: true, manifest: {metadata: {name: one}}}
    - apply: {resource: labelled, adopt: true, prune: true, manifest: {metadata: {name: two, labels: {tier: x}}}}`,
		object: `{}`,
	}
	id := mustLoad(t, world+s.rules).Rules()[0].ID
	s.maps = []string{fmt.Sprintf(`{metadata: {name: two, annotations: {dyncontroller.dev/adopted: "true"}, managedFields: [{manager: %s, operation: Apply}],
		labels: {tier: x, dyncontroller.dev/set: %s, dyncontroller.dev/rule: r, dyncontroller.dev/owner-uid: u-basic}}}`, id.FieldManager(), id.SetID())}
	p := s.evaluate(t)
	if p.Decisions[0].Outcome != plan.Unmatched || len(p.Operations) != 1 || p.Operations[0].Type != plan.JSON {
		t.Errorf("got\n%s", told(t, p))
	}
}

// TestGoneConcernsOnlyWhoPrunes holds that a rule that leaves nothing behind has
// nothing to say of an object that is gone.
func TestGoneConcernsOnlyWhoPrunes(t *testing.T) {
	s := newStage(t, []string{family, sized("ClusterRuleSet", "name: plain", "plain", 1)})
	p := s.evaluate()
	if len(p.Decisions) != 1 || p.Decisions[0].Rule.Name != "parent" || len(p.Operations) > 0 {
		t.Errorf("the plan is\n%s", told(t, p))
	}
	var none rules.Set
	if p := none.Evaluate(s.snapshot()); len(p.Decisions) > 0 {
		t.Errorf("no rules decide %v", p.Decisions)
	}
}

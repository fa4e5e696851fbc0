package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// holders are two rules of one set and one of another that hold objects.
var holders = []string{
	wholeSet("ClusterRuleSet", "name: a", `
  rules:
  - name: first
    watch: tidbclusters
    when: object.spec.keep == true
    with: {mine: {resource: pods, ownedBy: object}}
    actions: [{patch: {merge: {spec: {seen: true}}}}]
    onDelete: {done: len(mine) == 0, actions: [{delete: {target: mine}}]}
  - name: second
    watch: tidbclusters
    onDelete: {actions: [{patch: {merge: {spec: {second: "${object.spec.number + 1}"}}}}]}
`),
	wholeSet("ClusterRuleSet", "name: b", `
  rules:
  - name: third
    watch: tidbclusters
    onDelete: {hold: false, actions: [{event: {reason: Bye, message: bye}}]}
  - name: fourth
    watch: tidbclusters
    onDelete: {actions: [{event: {reason: Last, message: "last words of ${object.metadata.name}"}}]}
`),
}

// finalizers of the object, by the name of their rule.
func (s *stage) finalizers() string {
	byName := map[any]string{"other": "other"}
	for _, rule := range s.set.Rules() {
		byName[rule.ID.Finalizer()] = rule.ID.Name
	}
	list, _ := metadataOf(s.objects[tidbclusters][0])["finalizers"].([]any)
	var out []string
	for _, finalizer := range list {
		out = append(out, byName[finalizer])
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestHoldAndRelease follows an object that several rules hold from its first day
// to its last.
func TestHoldAndRelease(t *testing.T) {
	s := newStage(t, holders, `{kind: TidbCluster, metadata: {name: basic, finalizers: [other]}, spec: {keep: true, number: 1}}`,
		`{kind: Pod, metadata: {name: p-0, ownerReferences: [{uid: u-basic, controller: true}]}}`)

	p := s.evaluate()
	if len(p.Operations) != 1 || len(p.Operations[0].Rules) != 3 {
		t.Fatalf("all finalizers and the first change are one request:\n%s", told(t, p))
	}
	s.mustSettle(t, "first fourth other second")

	s.spec()["keep"] = false
	s.mustSettle(t, "fourth other second")
	s.spec()["keep"] = true
	s.mustSettle(t, "first fourth other second")

	metadataOf(s.objects[tidbclusters][0])["deletionTimestamp"] = "2026-01-01T12:00:00Z"
	s.spec()["keep"] = false // What is being deleted is held, whatever when says.
	p = s.evaluate()
	want := `first matched
second matched
third matched
fourth matched
delete pods db/p-0 {"propagationPolicy":"Background"}
merge tidbclusters db/basic {"metadata":{"finalizers":["other","FIRST"]},"spec":{"second":2}}
event on tidbclusters db/basic: Bye bye
event on tidbclusters db/basic: Last last words of basic
read pods by owner `
	want = strings.Replace(want, "FIRST", s.set.Rules()[0].ID.Finalizer(), 1)
	if diff := cmp.Diff(want, told(t, p)); diff != "" {
		t.Errorf("those that are done let go in one request, the other waits (-want +got):\n%s", diff)
	}
	for _, o := range p.Operations {
		s.carryOut(o)
	}
	if got := s.finalizers(); got != "first other" {
		t.Errorf("finalizers: %s", got)
	}
	s.mustSettle(t, "other")
}

func (s *stage) mustSettle(t *testing.T, finalizers string) {
	t.Helper()
	if _, err := s.settle(); err != nil {
		t.Fatal(err)
	}
	if got := s.finalizers(); got != finalizers {
		t.Errorf("finalizers: %s, want %s", got, finalizers)
	}
}

// TestHoldWhileFailing holds that a rule that could not do what it must before the
// end keeps the object, and no other rule does so for it.
func TestHoldWhileFailing(t *testing.T) {
	s := newStage(t, holders, `{kind: TidbCluster, metadata: {name: basic}, spec: {keep: true}}`)
	if _, err := s.settle(); err != nil {
		t.Fatal(err)
	}
	metadataOf(s.objects[tidbclusters][0])["deletionTimestamp"] = "2026-01-01T12:00:00Z"
	last, err := s.settle()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.finalizers(); got != "second" {
		t.Errorf("finalizers: %s", got)
	}
	if d := last.Decisions[1]; d.Outcome != plan.Failed || !strings.Contains(d.Reason, "object.spec.number is absent") {
		t.Errorf("%s: %s", d.Outcome, d.Reason)
	}
}

// TestOrdinaryActionsWhileDeleting holds that they rest while the watched object is
// going, but not where only a target is.
func TestOrdinaryActionsWhileDeleting(t *testing.T) {
	const rule = `
  rules:
  - name: labels
    watch: tidbclusters
    with: {mine: {resource: pods, ownedBy: object}}
    actions: [{patch: {target: mine, merge: {metadata: {labels: {seen: "yes"}}}}}]
`
	for going, want := range map[string]int{"object": 0, "target": 1} {
		t.Run(going, func(t *testing.T) {
			timestamp := map[string]string{going: `, deletionTimestamp: "2026-01-01T12:00:00Z"`}
			s := newStage(t, []string{wholeSet("ClusterRuleSet", "name: a", rule)},
				fmt.Sprintf(`{kind: TidbCluster, metadata: {name: basic%s}}`, timestamp["object"]),
				fmt.Sprintf(`{kind: Pod, metadata: {name: p-0, ownerReferences: [{uid: u-basic, controller: true}]%s}}`, timestamp["target"]))
			if p := s.evaluate(); len(p.Operations) != want {
				t.Errorf("the plan is\n%s", told(t, p))
			}
		})
	}
}

package rules_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

const judged = `
  let: {size: object.spec.size}
  rules:
  - name: both
    watch: tidbclusters
    when: size > 1 && (size > 2 ||
      object.metadata.name == "a")
    actions: [{event: {reason: A, message: a}}]
  - name: always
    watch: tidbclusters
    actions: [{event: {reason: A, message: a}}]
  - name: idle
    watch: tidbclusters
    suspend: true
    when: size > 1
    actions: [{event: {reason: A, message: a}}]
  - name: going
    watch: tidbclusters
    when: size > 1
    onDelete: {hold: false, actions: [{event: {reason: A, message: a}}]}
  - name: held
    watch: tidbclusters
    when: size > 1
    onDelete: {actions: [{event: {reason: A, message: a}}]}
  - name: related
    watch: tidbclusters
    with: {others: {resource: pods, all: true}}
    when: size > 1 && len(others) > 0
    actions: [{event: {reason: A, message: a}}]
  - name: elsewhere
    watch: pods
    when: object.spec.x == 1
    actions: [{event: {reason: A, message: a}}]
`

func TestClauses(t *testing.T) {
	var got []string
	for _, rule := range mustLoad(t, world+judged).Rules() {
		place := rule.Place()
		got = append(got, fmt.Sprintf("%s at %d:%d", rule.ID.Name, place.Line, place.Column))
		for _, clause := range rule.Clauses() {
			got = append(got, fmt.Sprintf("  %s (%d) at %d:%d", clause.Text, clause.Offset, clause.At.Line, clause.At.Column))
		}
	}
	want := []string{
		"both at 14:11",
		"  size > 1 (0) at 16:11",
		"  size > 2 (13) at 16:24",
		`  object.metadata.name == "a" (25) at 17:7`,
		"always at 19:11",
		"idle at 22:11", "  size > 1 (0) at 25:11",
		"going at 27:11", "  size > 1 (0) at 29:11",
		"held at 31:11", "  size > 1 (0) at 33:11",
		"related at 35:11", "  size > 1 (0) at 38:11", "  len(others) > 0 (12) at 38:23",
		"elsewhere at 40:11", "  object.spec.x == 1 (0) at 42:11",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

// unsynced knows nothing for certain.
type unsynced struct{}

func (unsynced) Read(plan.Read) ([]map[string]any, error) { return nil, lookup.ErrNotSynced }

func TestJudge(t *testing.T) {
	yes, no := map[int]bool{0: true}, map[int]bool{0: false}
	tests := map[string]struct {
		reason, object string
		related        lookup.Source
		want           map[string]map[int]bool
	}{
		"small": {
			"one false clause decides", "{metadata: {name: a, namespace: db}, spec: {size: 1}}",
			lookup.Objects{},
			map[string]map[int]bool{"both": no, "going": no, "held": no, "related": no},
		},
		"middle": {
			"a later clause may save it", "{metadata: {name: a, namespace: db}, spec: {size: 2}}",
			lookup.Objects{pods: nil},
			map[string]map[int]bool{"both": {0: true, 13: false, 25: true}, "going": yes, "held": yes, "related": {0: true, 12: false}},
		},
		"large": {
			"or needs no more than one", "{metadata: {name: b, namespace: db}, spec: {size: 3}}",
			lookup.Objects{pods: nil},
			map[string]map[int]bool{"both": {0: true, 13: true}, "going": yes, "held": yes, "related": {0: true, 12: false}},
		},
		"unsynced": {
			"what a cache does not know is not judged", "{metadata: {name: b, namespace: db}, spec: {size: 3}}",
			unsynced{},
			map[string]map[int]bool{"both": {0: true, 13: true}, "going": yes, "held": yes, "related": yes},
		},
		"absent": {
			"nor what fails", "{metadata: {name: b, namespace: db}, spec: {}}", nil,
			map[string]map[int]bool{"both": {}, "going": {}, "held": {}, "related": {}},
		},
		"deleted": {
			"only rules that react look at it", `{metadata: {name: b, namespace: db, deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {size: 3}}`, nil,
			map[string]map[int]bool{"going": yes},
		},
		"gone": {"and none at what is gone", "", nil, map[string]map[int]bool{}},
	}
	set := mustLoad(t, world+judged)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			snapshot := rules.Snapshot{GVR: tidbclusters, SelectedBy: set.Selections(), Now: noon, Related: test.related}
			snapshot.Kinds = map[schema.GroupVersionResource]plan.Kind{pods: {Name: "Pod", Namespaced: true}}
			if test.object != "" {
				snapshot.Object = object(t, test.object)
			}
			got := map[string]map[int]bool{}
			for _, judgement := range set.Judge(snapshot) {
				got[judgement.Rule.Name] = judgement.Holds
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
		})
	}
	snapshot := rules.Snapshot{GVR: tidbclusters, Object: object(t, "{spec: {size: 3}}"), Now: noon.Add(time.Hour)}
	if got := set.Judge(snapshot); len(got) > 0 {
		t.Errorf("rules that do not select the object judge it: %v", got)
	}
}

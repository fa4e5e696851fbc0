package rules_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// telling makes a child for each name, and says why one could not be made; the actions may stand in any order.
const telling = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: telling}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    maps: {version: v1, resource: configmaps}
  rules:
  - name: parent
    watch: tidbclusters
    actions:
    - patch: {merge: {metadata: {annotations: {why: "${failure?.reason ?? 'fine'}: ${failure?.message ?? ''}"}}}}
    - forEach: {child: "${object.spec.children}"}
      apply: {resource: maps, manifest: {metadata: {name: "${child}"}}}
    - patch: {merge: {metadata: {labels: {made: "yes"}}}}
`

// TestFailure holds what an action reads of why others are refused, and when it is sent: after all others, whatever became of them.
func TestFailure(t *testing.T) {
	parent := plan.Rule{Kind: "ClusterRuleSet", Set: "telling", Name: "parent"}
	tests := map[string]struct {
		reason   string
		children string
		failures map[plan.Rule]rules.Failure
		want     []string
	}{
		"None": {
			"Nothing has failed.", "[a]", nil,
			[]string{"2 apply a", "3 merge basic", "last merge basic why=fine: "},
		},
		"Before": {
			"The last attempt has failed.", "[a]",
			map[plan.Rule]rules.Failure{parent: {Reason: "Forbidden", Message: "quota"}},
			[]string{"2 apply a", "3 merge basic", "last merge basic why=Forbidden: quota"},
		},
		"OfAnother": {
			"What keeps another rule is not read.", "[a]",
			map[plan.Rule]rules.Failure{{Set: "telling", Name: "other"}: {Reason: "Forbidden"}},
			[]string{"2 apply a", "3 merge basic", "last merge basic why=fine: "},
		},
		"Refused": {
			"The evaluation itself refuses a child: later actions wait, this one does not.", "[foreign, a]", nil,
			[]string{"2 apply a", "last merge basic why=NotOurs: configmaps db/foreign is there already, and was not made by the ClusterRuleSet telling"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, []string{telling}, `{kind: TidbCluster, metadata: {name: basic}, spec: {children: `+tc.children+`}}`,
				`{kind: ConfigMap, metadata: {name: foreign}}`)
			snapshot := s.snapshot()
			snapshot.State.Failures = tc.failures
			var got []string
			for _, o := range s.set.Evaluate(snapshot).Operations {
				part := o.Part(parent)
				number := strconv.Itoa(part.First)
				if part.Reacts {
					number = "last"
				}
				text := number + " " + string(o.Type) + " " + o.Target.Name
				if why, found := plan.Lookup(o.Body, plan.Path{"metadata", "annotations", "why"}); found {
					text += " why=" + why.(string)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFailureHidesSecrets holds that a refusal tells no more to the actions of a rule than to its Events, once the rule has read a Secret.
func TestFailureHidesSecrets(t *testing.T) {
	text := strings.NewReplacer(
		"    maps: ", "    secrets: {version: v1, resource: secrets}\n    maps: ",
		"    actions:\n", "    with: {login: {resource: secrets, name: login}}\n    actions:\n", "object.spec.children", "[login?.data.name]",
	).Replace(telling)
	s := newStage(t, []string{text}, `{kind: TidbCluster, metadata: {name: basic}}`, `{kind: Secret, metadata: {name: login}, data: {name: foreign}}`,
		`{kind: ConfigMap, metadata: {name: foreign}}`)
	found := false
	for _, o := range s.evaluate().Operations {
		why, has := plan.Lookup(o.Body, plan.Path{"metadata", "annotations", "why"})
		found = found || has
		if text, _ := why.(string); strings.Contains(text, "foreign") {
			t.Errorf("the failure is told as %q", text)
		}
	}
	if !found {
		t.Error("no failure is told")
	}
}

// TestFailureAmongRefusals holds what becomes of an evaluation in which the action that reads failure is refused itself, or takes the
// fields of another apply.
func TestFailureAmongRefusals(t *testing.T) {
	tests := map[string]struct {
		reason, apply string
		outcome       plan.Outcome
		says          string
		events        int
	}{
		"BothRefused": {
			"Each of the objects is named in an Event.", `{metadata: {name: foreign2}, data: {why: "${failure?.reason ?? 'none'}"}}`,
			plan.Refused, "configmaps db/foreign is there already", 2,
		},
		"SameObject": {
			"Each of the two requests would take back what the other applied.", `{metadata: {name: a}, data: {why: "${failure?.reason ?? 'none'}"}}`,
			plan.Failed, "write them into one action", 0,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			children := "[foreign]"
			if tc.outcome == plan.Failed {
				children = "[a]"
			}
			s := newStage(t, []string{telling + "    - apply: {resource: maps, manifest: " + tc.apply + "}\n"},
				`{kind: TidbCluster, metadata: {name: basic}, spec: {children: `+children+`}}`,
				`{kind: ConfigMap, metadata: {name: foreign}}`, `{kind: ConfigMap, metadata: {name: foreign2}}`)
			got := s.evaluate()
			decision := got.Decisions[0]
			if decision.Outcome != tc.outcome || !strings.Contains(decision.Reason, tc.says) || len(got.Events) != tc.events {
				t.Errorf("%s It is %s, %q, with %d Events", tc.reason, decision.Outcome, decision.Reason, len(got.Events))
			}
		})
	}
}

// TestFailureOfAnotherSubresource holds that an apply of the status may say why that of the object is refused: they own different fields.
func TestFailureOfAnotherSubresource(t *testing.T) {
	s := newStage(t, []string{strings.SplitAfter(telling, "    actions:\n")[0] + `    - patch: {apply: {metadata: {labels: {made: "yes"}}}}
    - patch: {subresource: status, apply: {status: {why: "${failure?.reason ?? 'none'}"}}}
`}, `{kind: TidbCluster, metadata: {name: basic}}`)
	if got := s.evaluate(); len(got.Operations) != 2 {
		t.Errorf("%d operations: %s", len(got.Operations), got.Decisions[0].Reason)
	}
}

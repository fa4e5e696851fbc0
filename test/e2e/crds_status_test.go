package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// TestCRDStatus writes a status through our types, and reads with kubectl what it says.
func TestCRDStatus(t *testing.T) {
	alongside(t)
	installOwnCRDs(t)
	set := keep(t, v1alpha1.RuleSets(), "default", decode(t, ruleSet("told")))
	want := v1alpha1.Status{
		ObservedGeneration: set.GetGeneration(),
		Conditions: []metav1.Condition{{
			Type: "Ready", Status: metav1.ConditionTrue, Reason: "InEffect", Message: "2 rules are in effect",
			ObservedGeneration: set.GetGeneration(), LastTransitionTime: metav1.Now().Rfc3339Copy(),
		}},
		Summary: v1alpha1.Summary{Rules: 2, Matched: 3, Errors: 1},
		Rules: []v1alpha1.RuleStatus{{
			Name: "second", Matched: 3, Writes: 1 << 40, Errors: 1, LastError: "no",
			Missing: []v1alpha1.Permission{{Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "default", Name: "a"}, {Verb: "list", Group: "apps", Resource: "deployments"}},
		}, {Name: "first"}},
		Inventory: []v1alpha1.Leftover{
			{Rule: "second", Kind: "fields", Version: "v1", Resource: "pods", Namespace: "default", Release: "Remove", ServiceAccount: "rules", ServiceAccountNamespace: "default"},
			{Rule: "gone", Kind: "children", Group: "apps", Version: "v1", Resource: "deployments", Prune: true},
		},
	}
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&want)
	if err != nil {
		t.Fatal(err)
	}
	set.Object["status"] = status
	updated, err := client(t).Resource(v1alpha1.RuleSets()).Namespace("default").UpdateStatus(t.Context(), set, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Status v1alpha1.Status }
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"Status": updated.Object["status"]}, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Status); diff != "" || updated.GetGeneration() != set.GetGeneration() {
		t.Errorf("generation %d (-sent +stored):\n%s", updated.GetGeneration(), diff)
	}
	if _, err := controlPlane(t).Kubectl(t.Context(), "wait", "--for=condition=Ready", "--timeout=30s", "ruleset/told"); err != nil {
		t.Error(err)
	}
	showsColumns(t)
}

// showsColumns holds what a user sees of the set that is told about.
func showsColumns(t *testing.T) {
	t.Helper()
	for _, tc := range []struct{ command, want string }{
		{"get rset told", "NAME READY REASON RULES MATCHED ERRORS AGE told True InEffect 2 3 1 "},
		{"get rulesets told -o wide", "NAME READY REASON RULES MATCHED ERRORS AGE ACCOUNT MESSAGE told True InEffect 2 3 1 "},
		{"get dyncontroller", "NAME READY REASON RULES MATCHED ERRORS AGE ruleset.dyncontroller.dev/told True InEffect 2 3 1 "},
		{"explain ruleset.spec.rules.when", "A condition; without it the rule always matches."},
	} {
		out, err := controlPlane(t).Kubectl(t.Context(), strings.Fields(tc.command)...)
		if shown := strings.Join(strings.Fields(out), " "); err != nil || !strings.Contains(shown, tc.want) {
			t.Errorf("kubectl %s shows %q, want %q, err %v", tc.command, out, tc.want, err)
		}
	}
}

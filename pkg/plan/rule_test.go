package plan

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
)

func TestRuleNames(t *testing.T) {
	long := strings.Repeat("abcde-", 12) + "end"
	tests := map[string]struct {
		reason           string
		rule             Rule
		setID, finalizer string
	}{
		"Short": {
			reason:    "Names are readable. What earlier versions put on objects must be found again, so these never change.",
			rule:      Rule{Kind: "ClusterRuleSet", Set: "s", Name: "r"},
			setID:     "s-94f02a6bae7b5725",
			finalizer: "dyncontroller.dev/s.r-c741b8792303fc7f",
		},
		"Namespaced": {
			reason:    "A set in a namespace is another set.",
			rule:      Rule{Kind: "RuleSet", Namespace: "a", Set: "s", Name: "r"},
			setID:     "s-f521005274c4bb74",
			finalizer: "dyncontroller.dev/s.r-c129ea524053e3ce",
		},
		"Cut": {
			reason:    "A long name is cut, and told apart by the digest of all of it.",
			rule:      Rule{Kind: "ClusterRuleSet", Set: long, Name: "r"},
			setID:     "abcde-abcde-abcde-abcde-abcde-abcde-abcde-abcd-51c86a67ea24b8dd",
			finalizer: "dyncontroller.dev/abcde-abcde-abcde-abcde-abcde-abcde-abcde-abcd-498459cd9b130966",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.rule.SetID(); got != tc.setID {
				t.Errorf("%s SetID: got %s, want %s", tc.reason, got, tc.setID)
			}
			if got := tc.rule.Finalizer(); got != tc.finalizer {
				t.Errorf("%s Finalizer: got %s, want %s", tc.reason, got, tc.finalizer)
			}
			if !strings.HasSuffix(tc.finalizer, "-"+tc.rule.ID()) {
				t.Errorf("%s ID: got %s", tc.reason, tc.rule.ID())
			}
		})
	}
}

// TestRuleNamesValid holds that the API server takes them, wherever the cut
// falls.
func TestRuleNamesValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rule{
			Kind: "RuleSet", Namespace: "a",
			Set:  rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?`).Draw(t, "set"),
			Name: rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`).Draw(t, "rule"),
		}
		if errs := validation.IsValidLabelValue(r.SetID()); len(errs) > 0 {
			t.Errorf("%q: %v", r.SetID(), errs)
		}
		if errs := validation.IsQualifiedName(r.Finalizer()); len(errs) > 0 {
			t.Errorf("%q: %v", r.Finalizer(), errs)
		}
	})
	for _, key := range []string{LabelSet, LabelRule, LabelOwnerUID, AdoptedAnnotation} {
		if errs := validation.IsQualifiedName(key); len(errs) > 0 {
			t.Errorf("%q: %v", key, errs)
		}
	}
}

// TestOfSet holds that the rules of a set stand for the same, and those of others do not.
func TestOfSet(t *testing.T) {
	one := Rule{Kind: "RuleSet", Namespace: "shop", Set: "guard", Name: "one"}
	other := one
	other.Name = "other"
	if one.OfSet() != other.OfSet() || one.OfSet().SetName() != "RuleSet shop/guard" {
		t.Errorf("got %v and %v", one.OfSet(), other.OfSet())
	}
	if other.Namespace = ""; one.OfSet() == other.OfSet() || other.SetName() != "RuleSet guard" {
		t.Errorf("got %v", other)
	}
}

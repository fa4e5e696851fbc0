package operator

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// TestConsumed holds from when on what a set asks for counts again.
func TestConsumed(t *testing.T) {
	rule := ruleOf(source.Key{Kind: "RuleSet", Namespace: "shop", Name: "color"})
	rule.Name = "paint"
	at := consumed{"uid", "9"}
	tests := map[string]struct {
		reason           string
		uid              types.UID
		version, resumes string
		want             bool
	}{
		"Before":    {"It is what was taken off.", "uid", "8", "paint", false},
		"Then":      {"That version has none, but who knows.", "uid", "9", "paint", true},
		"After":     {"It was put on anew.", "uid", "10", "paint", true},
		"Another":   {"It is another set.", "other", "8", "paint", true},
		"None":      {"It is off.", "uid", "8", "", true},
		"Others":    {"It is for others.", "uid", "8", "other", true},
		"Unordered": {"Nobody can tell, so it does not resume a rule that has gone too far.", "uid", "x", "paint", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := &object{Object: source.Object{UID: tc.uid, ResourceVersion: tc.version, Annotations: map[string]string{spec.ResumeAnnotation: tc.resumes}}}
			if got := at.over(set, rule); got != tc.want {
				t.Errorf("%s got %t", tc.reason, got)
			}
		})
	}
	if !at.over(nil, rule) {
		t.Error("a set that is gone asks for nothing")
	}
}

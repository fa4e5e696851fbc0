package spec_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// FuzzParse holds that no file makes the parser panic, that every mistake has its
// place in the file, and that what has none is a set whose parts are all there.
func FuzzParse(f *testing.F) {
	for _, d := range archive.Documents(f, "../testdata/wrong/*.txtar") {
		f.Add(d.Text)
	}
	f.Add([]byte(everything))
	f.Fuzz(func(t *testing.T, data []byte) {
		sets, errs := spec.Parse([]document.File{{Name: "f.yaml", Data: data}}, "default")
		for _, err := range errs.Sorted() {
			wholeFile := err.Line == 0 && err.Path == "" // It is not even text.
			if err.File != "f.yaml" || !wholeFile && (err.Line < 1 || err.Column < 1) || err.Message == "" || err.Render() == "" {
				t.Errorf("not located: %+v", err)
			}
		}
		for _, set := range sets {
			if len(errs) == 0 {
				checkSound(t, set)
			}
		}
	})
}

func checkSound(t *testing.T, set *spec.Set) {
	if set.Name == "" || len(set.Resources) == 0 || len(set.Rules) == 0 {
		t.Errorf("a set without a name, resources or rules: %+v", set)
	}
	if (set.Kind == spec.KindRuleSet) != (set.Namespace != "") {
		t.Errorf("a %s in the namespace %q", set.Kind, set.Namespace)
	}
	for _, rule := range set.Rules {
		if rule.Name == "" || rule.Watch == nil || len(rule.Actions) == 0 && rule.OnDelete == nil {
			t.Errorf("a rule without a name, watch or actions: %+v", rule)
		}
		if limits := rule.Limits; limits != nil && (limits.Objects > 0) == (limits.Percent > 0) {
			t.Errorf("limits of %d objects and %g percent", limits.Objects, limits.Percent)
		}
	}
}

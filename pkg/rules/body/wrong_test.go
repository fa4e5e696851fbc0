package body_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// TestWrong makes the mistakes that templates, conditions and names can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	for _, part := range []string{"wrong/actions", "wrong/apply", "wrong/names", "wrong/places", "wrong/rule-conditions", "wrong/with"} {
		for _, d := range archive.Documents(t, "../testdata/"+part+"*.txtar") {
			_, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: d.Text}}, rules.Options{DefaultNamespace: "default"})
			if diff := cmp.Diff(string(d.Want), archive.Told(errs)+"\n"); diff != "" {
				t.Errorf("%s (-want +got):\n%s", d.Name, diff)
			}
		}
	}
}

package relation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// TestWrong makes every mistake that an entry of with can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	for _, d := range archive.Documents(t, "../testdata/wrong/with*.txtar") {
		_, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: d.Text}}, rules.Options{DefaultNamespace: "default"})
		if diff := cmp.Diff(string(d.Want), archive.Told(errs)+"\n"); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name, diff)
		}
	}
}

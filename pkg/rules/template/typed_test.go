package template_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

// TestTyped makes the mistakes of templates that only the types of the objects show, in the archives of package rules.
func TestTyped(t *testing.T) {
	known := schemas.Catalog(t)
	for _, d := range archive.Documents(t, "../testdata/typed/wrong/*.txtar") {
		set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: d.Text}}, rules.Options{DefaultNamespace: "default", Schemas: known})
		if set != nil {
			errs = set.Warnings()
		}
		errs = slices.DeleteFunc(errs, func(err *document.Error) bool { return err.Code == document.CodeUnchecked })
		if diff := cmp.Diff(strings.TrimSpace(string(d.Want)), strings.TrimSpace(archive.Told(errs))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name, diff)
		}
	}
}

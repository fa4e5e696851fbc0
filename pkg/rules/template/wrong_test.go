package template_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/test/archive"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

// TestWrong makes the mistakes that templates, conditions and names can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	archive.Wrong(t, rules.Options{DefaultNamespace: "default"}, "wrong/actions*", "wrong/apply*", "wrong/names*", "wrong/places*", "wrong/rule-conditions*", "wrong/with*")
}

// TestTyped makes the mistakes of templates that only the types of the objects show, in the archives of package rules.
func TestTyped(t *testing.T) {
	archive.Wrong(t, rules.Options{DefaultNamespace: "default", Schemas: schemas.Catalog(t)}, "typed/wrong/*")
}

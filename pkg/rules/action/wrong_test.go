package action_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/test/archive"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

// TestWrong makes every mistake that an action can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	archive.Wrong(t, rules.Options{DefaultNamespace: "default"}, "wrong/actions*", "wrong/apply*", "wrong/create*", "wrong/delete*", "wrong/event*", "wrong/patch*")
}

// TestTyped makes the mistakes of actions that only the types of the objects show, in the archives of package rules.
func TestTyped(t *testing.T) {
	archive.Wrong(t, rules.Options{DefaultNamespace: "default", Schemas: schemas.Catalog(t)}, "typed/wrong/*")
}

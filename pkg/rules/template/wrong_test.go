package template_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// TestWrong makes the mistakes that templates, conditions and names can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	archive.Wrong(t, func(text []byte) document.Errors {
		_, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: text}}, rules.Options{DefaultNamespace: "default"})
		return errs
	}, "actions", "apply", "names", "places", "rule-conditions", "with")
}

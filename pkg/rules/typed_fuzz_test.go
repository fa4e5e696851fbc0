package rules_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/test/archive"
	"github.com/dyncontroller/dyncontroller/test/generate"
)

// FuzzTyped checks any text against known types as checkTyped does.
func FuzzTyped(f *testing.F) {
	for _, d := range archive.Documents(f, "testdata/typed/*/*.txtar") {
		f.Add(d.Text)
	}
	schemas := typed(f).Schemas
	f.Fuzz(func(t *testing.T, data []byte) { checkTyped(t, schemas, data) })
}

// FuzzTypedRules holds the same for files that are mostly right.
func FuzzTypedRules(f *testing.F) {
	schemas := typed(f).Schemas
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { generatedTyped(t, schemas) }))
}

func TestGeneratedTyped(t *testing.T) {
	schemas := typed(t).Schemas
	rapid.Check(t, func(t *rapid.T) { generatedTyped(t, schemas) })
}

func generatedTyped(t *rapid.T, schemas *schema.Catalog) {
	set := generate.RuleSet(pieces()).Draw(t, "set")
	checkTyped(t, schemas, []byte(generate.YAML(t, set)))
}

// longest is far more than any file of the size of these takes.
const longest = 10 * time.Second

// checkTyped holds that everything that is found is at a place in the file, that it is the same every time, that types only add to
// it, and that it does not take for ever.
func checkTyped(t rapid.TB, schemas *schema.Catalog, data []byte) {
	files := []document.File{{Name: "f.yaml", Data: data}}
	options := rules.Options{DefaultNamespace: "default", Schemas: schemas}
	start := time.Now()
	set, errs := rules.Load(files, options)
	if took := time.Since(start); took > longest {
		t.Fatalf("it took %s:\n%s", took, data)
	}
	if (set == nil) != (len(errs) > 0) {
		t.Fatalf("a set: %t, and %d mistakes", set != nil, len(errs))
	}
	found := errs
	if set != nil {
		found = set.Warnings()
	}
	for _, err := range found {
		located(t, data, err)
		if set != nil && err.Severity == document.Mistake {
			t.Fatalf("a mistake in a set that is used: %v", err)
		}
	}
	again, errs := rules.Load(files, options)
	if again != nil {
		errs = again.Warnings()
	}
	if found.Render() != errs.Render() {
		t.Fatalf("not the same again:\n%s\n%s", found.Render(), errs.Render())
	}
	if untyped, errs := rules.Load(files, rules.Options{DefaultNamespace: "default"}); set != nil && untyped == nil {
		t.Fatalf("it is wrong only where nothing is known:\n%s", errs.Render())
	}
}

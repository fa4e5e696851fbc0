package document_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// TestUnseen holds that a place in a text that nobody has is told by its path alone.
func TestUnseen(t *testing.T) {
	documents, errs := document.Parse(document.File{Name: "RuleSet shop/guard", Data: []byte(`{"spec": {"rules": [{"when": "a b"}]}}`), Unseen: true})
	if len(errs) > 0 || len(documents) != 1 {
		t.Fatal(documents, errs)
	}
	err := documents[0].Get("spec").Get("rules").Elements()[0].Get("when").ErrorAt(2, 1, "write it", "it is wrong")
	if got, want := err.Render(), "RuleSet shop/guard: spec.rules[0].when: it is wrong\n  hint: write it\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	spec := documents[0].Get("spec")
	others, _ := document.Parse(document.File{Name: "a.yaml", Data: []byte("a: b")})
	if here, elsewhere := spec.Place(documents[0]), spec.Place(others[0]); here != "at spec" || elsewhere != "at spec of RuleSet shop/guard" {
		t.Errorf("it is %q, and %q", here, elsewhere)
	}
	if other := others[0].Place(documents[0]); other != "in a.yaml:1" {
		t.Errorf("a document of a file is %q", other)
	}
	if whole := documents[0].Place(others[0]); whole != "in RuleSet shop/guard" {
		t.Errorf("a whole document is %q", whole)
	}
	if _, errs := document.Parse(document.File{Name: "RuleSet shop/guard", Data: []byte("spec:\n  a: 1\n  a: 2\n"), Unseen: true}); len(errs) != 1 || errs[0].Message != `duplicate key "a", first written at spec.a` {
		t.Errorf("a duplicate key: %v", errs)
	}
}

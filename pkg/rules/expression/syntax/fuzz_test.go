package syntax_test

import (
	"errors"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

// FuzzParse makes sure that any text gives a tree, or an error that is placed in it.
func FuzzParse(f *testing.F) {
	for _, row := range function.All() {
		f.Add(row.Example.Expression)
	}
	for _, text := range []string{"a?.b[0]['c'](d)", "let x = 1; if x > 2 {x} else {-x}", "{a: 1, (b): #}", "groups(a, #index)", "a ?? b == c", "${a}", "\"ä\" ~ `", "1e999", "((((((", "a | f", "#"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := parse(text)
		if err != nil {
			located, is := errors.AsType[*syntax.Error](err)
			if !is || located.Offset < 0 || located.Length < 0 || located.Offset+located.Length > len(text) || located.Message == "" {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if whole := tree.Whole(); at(tree, whole) != text {
			t.Errorf("the whole is %v", whole)
		}
		if span := tree.Span(tree.Node); span.Offset < 0 || span.End() > len(text) {
			t.Errorf("%q is at %v", text, span)
		}
	})
}

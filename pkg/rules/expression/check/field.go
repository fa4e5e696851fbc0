package check

import (
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// unknownField is the error that a map never has a field.
func (w *walk) unknownField(i int, key string) *expression.Error {
	parent := w.text(i)
	err := w.keySpan(i).Errorf("%s has no field %q", parent, value.Excerpt(key))
	if w.unheard() {
		return err // A hint takes work.
	}
	if other := sameWord(key, w.on.Names()); other != "" {
		return err.WithHint("did you mean %s%s?", parent, syntax.KeyText(other))
	}
	if below := oneDeeper(w.on, key); below != "" {
		return err.WithHint("did you mean %s%s%s?", parent, syntax.KeyText(below), syntax.KeyText(key))
	}
	if i > 0 && w.above.Known() {
		grandparent := w.text(i - 1)
		if _, found := w.above.Field(key); found == typing.Found {
			return err.WithHint("did you mean %s%s?", grandparent, syntax.KeyText(key))
		}
		if beside := oneDeeper(w.above, key); beside != "" {
			return err.WithHint("did you mean %s%s%s?", grandparent, syntax.KeyText(beside), syntax.KeyText(key))
		}
	}
	return err.WithHint("%s", fieldHint(parent, key, w.on.Names()))
}

// keySpan is the key of access i, which may be in brackets.
func (w *walk) keySpan(i int) syntax.Span {
	member, _ := w.accesses[i].(*ast.MemberNode)
	return w.tree.Span(member.Property)
}

// fieldHint names the field that was most likely meant, or all if these are few.
func fieldHint(parent, key string, names []string) string {
	const few = 8
	if other := document.Suggest(key, names); other != "" {
		return "did you mean " + parent + syntax.KeyText(other) + "?"
	}
	if len(names) == 0 || len(names) > few {
		return ""
	}
	return "it has " + strings.Join(names, ", ")
}

// sameWord finds a name that is written in another case or with other separators.
func sameWord(word string, names []string) string {
	plain := func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), "_", ""), "-", "")
	}
	wanted := plain(word)
	for _, name := range names {
		if plain(name) == wanted {
			return name
		}
	}
	return ""
}

// oneDeeper finds the field of a map below which there is a field called key.
func oneDeeper(t typing.Type, key string) string {
	const most = 100
	names := t.Schema().Names()
	for _, name := range names[:min(len(names), most)] {
		below := t.Schema().Map.Fields[name].Type
		if below == nil || below.Map == nil {
			continue
		}
		if _, declared := below.Map.Fields[key]; declared {
			return name
		}
	}
	return ""
}

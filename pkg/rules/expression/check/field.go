package check

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// unknownField is the error that a map never has a field.
func (w *walk) unknownField(i int, key string) *expression.Error {
	parent := w.path.Before(i)
	err := w.path.Steps[i].At.Errorf("%s has no field %q", parent, value.Excerpt(key))
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
		grandparent := w.path.Before(i - 1)
		if _, found := w.above.Field(key); found == typing.Found {
			return err.WithHint("did you mean %s%s?", grandparent, syntax.KeyText(key))
		}
		if beside := oneDeeper(w.above, key); beside != "" {
			return err.WithHint("did you mean %s%s%s?", grandparent, syntax.KeyText(beside), syntax.KeyText(key))
		}
	}
	return err.WithHint("%s", fieldHint(parent, key, w.on.Names()))
}

// noNamespace reports the namespace of an object of the cluster as a whole.
func (w *walk) noNamespace(key string) bool {
	s := w.on.Schema()
	return key == "namespace" && s != nil && s.Map != nil && s.Map.NoNamespace
}

func (w *walk) clusterScoped(i int) *expression.Error {
	return w.path.Steps[i].At.Errorf("%s has no namespace, for its object is cluster-scoped", w.path.Before(i)).WithHint("did you mean %s.name?", w.path.Before(i))
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

// sameWord finds a name that is written in another case or with other separators. Of
// very many it looks at the first.
func sameWord(word string, names []string) string {
	const most = 500
	for _, name := range names[:min(len(names), most)] {
		if sameLetters(word, name) {
			return name
		}
	}
	return ""
}

// sameLetters compares without case, hyphens and underscores.
func sameLetters(a, b string) bool {
	for {
		a, b = strings.TrimLeft(a, "-_"), strings.TrimLeft(b, "-_")
		if a == "" || b == "" {
			return a == b
		}
		of, in := utf8.DecodeRuneInString(a)
		other, at := utf8.DecodeRuneInString(b)
		if unicode.ToLower(of) != unicode.ToLower(other) {
			return false
		}
		a, b = a[in:], b[at:]
	}
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

func (w *walk) absent(i int) {
	is := "may be"
	if w.on.Kinds() == value.Nil {
		is = "is"
	}
	parent, access := w.path.Before(i), w.path.Steps[i].Text
	w.fail(mayBeAbsent, w.path.Steps[i].At.Errorf("%s %s absent, so %s%s cannot be read", parent, is, parent, access).
		WithHint("write %s%s, which is nil then%s", parent, syntax.Optional(access), w.orFalse(i)))
}

// orFalse adds to a hint what to write for a boolean, for which nil will not do.
func (w *walk) orFalse(i int) string {
	s := &w.path.Steps[i]
	if field, _ := w.on.NonNil().Field(s.Key); s.Kind != expression.ByKey || i+1 < len(w.path.Steps) || field.Kinds()&^value.Nil != value.Bool {
		return ""
	}
	return ", or (" + w.path.Before(i+1) + " ?? false)"
}

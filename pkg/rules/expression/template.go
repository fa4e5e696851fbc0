package expression

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// maxParts limits the expressions of one template.
const maxParts = 200

// Template is a text with expressions in ${ }. It is immutable and safe for
// concurrent use.
type Template struct {
	parts []part
	// alone says that the template is one expression and gives its typed value.
	alone bool
}

// part is a literal text, or an expression and where it starts.
type part struct {
	literal string
	program *Program
	offset  int
}

// CompileTemplate returns the template for a text whose expressions may use the
// names of scope, or an [*Error] that is placed in the whole text.
func CompileTemplate(text string, scope *Scope) (*Template, error) {
	if !utf8.ValidString(text) {
		return nil, syntax.Span{Length: len(text)}.Errorf("the text is not valid UTF-8")
	}
	t := &Template{}
	var literal strings.Builder // A text may hold thousands of $${.
	rest := 0
	for {
		start := strings.Index(text[rest:], "${")
		if start < 0 {
			literal.WriteString(text[rest:])
			t.literal(literal.String())
			return t.finish(), nil
		}
		start += rest
		if start > rest && text[start-1] == '$' {
			literal.WriteString(text[rest:start-1] + "${")
			rest = start + 2
			continue
		}
		literal.WriteString(text[rest:start])
		t.literal(literal.String())
		literal.Reset()
		end, err := t.expression(text, start, scope)
		if err != nil {
			return nil, err
		}
		rest = end
	}
}

func (t *Template) literal(text string) {
	if text != "" {
		t.parts = append(t.parts, part{literal: text})
	}
}

// expression compiles the one whose ${ is at start and returns where the text
// goes on.
func (t *Template) expression(text string, start int, scope *Scope) (end int, err error) {
	if len(t.parts) > 2*maxParts {
		return 0, syntax.Span{Offset: start, Length: 2}.Errorf("the text has more than %d expressions", maxParts)
	}
	offset := start + 2
	tree, err := syntax.Scan(text[offset:], true)
	if err != nil {
		return 0, syntax.Shift(err, offset)
	}
	end = offset + len(tree.Text) + 1
	if strings.TrimSpace(tree.Text) == "" {
		return 0, syntax.Span{Offset: start, Length: end - start}.Errorf("the expression in ${} is empty").
			WithHint("write $${ for a literal ${")
	}
	program, err := compile(tree, scope)
	if located, is := errors.AsType[*Error](err); is && shellVariable.MatchString(tree.Text) {
		located.Hint = "write $${ for a literal ${"
	}
	if err != nil {
		return 0, syntax.Shift(err, offset)
	}
	t.parts = append(t.parts, part{program: program, offset: offset})
	return end, nil
}

// shellVariable is what a script or a configuration file has between ${ and }.
var shellVariable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*(:?[-=+?].*)?$`)

// finish decides whether the template is one expression with nothing but white
// space around it.
func (t *Template) finish() *Template {
	inner := slices.Clone(t.parts)
	blank := func(p part) bool { return p.program == nil && strings.TrimSpace(p.literal) == "" }
	for len(inner) > 0 && blank(inner[0]) {
		inner = inner[1:]
	}
	for len(inner) > 0 && blank(inner[len(inner)-1]) {
		inner = inner[:len(inner)-1]
	}
	if len(inner) == 1 && inner[0].program != nil {
		t.parts, t.alone = inner, true
	}
	return t
}

// Constant returns the text of a template without expressions.
func (t *Template) Constant() (text string, ok bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].program == nil:
		return t.parts[0].literal, true
	default:
		return "", false
	}
}

// Names returns the names of the scope that the expressions mention, in order of
// first mention.
func (t *Template) Names() []string {
	var names []string
	for _, p := range t.parts {
		if p.program == nil {
			continue
		}
		for _, name := range p.program.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Part is an expression of a template, and where it is in the text.
type Part struct {
	Program *Program
	Offset  int
}

// Parts returns the expressions of the template, and whether it is one that stands
// alone and gives its typed value.
func (t *Template) Parts() (parts []Part, alone bool) {
	for _, p := range t.parts {
		if p.program != nil {
			parts = append(parts, Part{p.program, p.offset})
		}
	}
	return parts, t.alone
}

// Eval returns the value of an expression that stands alone, with its type, or
// else the text with the values of all expressions in it. Its errors are [*Error],
// placed in the whole text.
func (t *Template) Eval(e *Evaluation) (any, error) {
	if text, ok := t.Constant(); ok {
		return text, nil
	}
	if t.alone {
		v, err := t.parts[0].program.Eval(e)
		return v, syntax.Shift(err, t.parts[0].offset)
	}
	var text strings.Builder
	for _, p := range t.parts {
		piece := p.literal
		if p.program != nil {
			var err error
			if piece, err = p.text(e); err != nil {
				return nil, syntax.Shift(err, p.offset)
			}
		}
		// A builder that grows holds the text up to twice and leaves as much behind.
		if err := e.Budget.Text(3 * len(piece)); err != nil {
			return nil, syntax.Span{}.Locate(err)
		}
		text.WriteString(piece)
	}
	return text.String(), nil
}

// text evaluates an expression inside a text.
func (p part) text(e *Evaluation) (string, error) {
	v, err := p.program.Eval(e)
	if err != nil {
		return "", err
	}
	text, ok := value.Text(v)
	if ok {
		return text, nil
	}
	return "", NotText(p.program, value.KindOf(v), false)
}

// NotText is the error that the value of an expression inside a text is, or may be, of a kind that has no text.
func NotText(p *Program, kind value.Kind, may bool) *Error {
	const user, wanted = "the text around ${ }", value.String | value.Number | value.Bool
	o := &Operand{At: p.Whole(), Text: p.root.Written().Text}
	err := o.Wants(user, wanted, kind)
	switch {
	case may:
		err = o.MayBeNil(user, wanted)
		fallthrough
	case kind == value.Nil:
		return err.WithHint(`say when: %[1]s != nil if nothing is to be done then, or give a default: ${%[1]s ?? "none"}`, cmp.Or(o.Text, "x"))
	case kind&(value.List|value.Map) != 0:
		return err.WithHint("write toJSON(...) around it, or join(...) around a list of strings")
	case kind == value.Omission:
		return err.WithHint("omit() drops a whole value and must stand alone")
	default:
		return err
	}
}

package expression

import (
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
	// texts are before, between and behind the parts, one more than those.
	texts []string
	parts []Part
}

// Part is an expression of a template, and where it is in the text.
type Part struct {
	Program *Program
	Offset  int
}

// CompileTemplate returns the template for a text whose expressions may use the
// names of scope, or an [*Error] that is placed in the whole text.
func CompileTemplate(text string, scope *Scope) (*Template, error) {
	if !utf8.ValidString(text) {
		return nil, syntax.Span{Length: len(text)}.Errorf("the text is not valid UTF-8")
	}
	t := &Template{}
	var literal strings.Builder // A text may hold thousands of $${.
	for rest := 0; ; {
		start := strings.Index(text[rest:], "${")
		if start < 0 {
			literal.WriteString(text[rest:])
			t.texts = append(t.texts, literal.String())
			return t, nil
		}
		start += rest
		if start > rest && text[start-1] == '$' {
			literal.WriteString(text[rest:start-1] + "${")
			rest = start + 2
			continue
		}
		if len(t.parts) == maxParts {
			return nil, syntax.Span{Offset: start, Length: 2}.Errorf("the text has more than %d expressions", maxParts)
		}
		literal.WriteString(text[rest:start])
		t.texts = append(t.texts, literal.String())
		literal.Reset()
		program, err := compileBraced(text[start+2:], scope)
		if err != nil {
			return nil, syntax.Shift(err, start+2)
		}
		t.parts = append(t.parts, Part{program, start + 2})
		rest = start + 2 + len(program.text) + 1
	}
}

// compileBraced compiles the expression before the } that closes it.
func compileBraced(text string, scope *Scope) (*Program, error) {
	tree, err := syntax.Scan(text, true)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(tree.Text) == "" {
		return nil, syntax.Span{Offset: -2, Length: len("${}") + len(tree.Text)}.Errorf("the expression in ${} is empty").
			WithHint("write $${ for a literal ${")
	}
	program, err := compile(tree, scope)
	if located, is := errors.AsType[*Error](err); is && shellVariable.MatchString(tree.Text) {
		located.Hint = "write $${ for a literal ${"
	}
	return program, err
}

// shellVariable is what a script or a configuration file has between ${ and }.
var shellVariable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*(:?[-=+?].*)?$`)

// Constant returns the text of a template without expressions.
func (t *Template) Constant() (text string, ok bool) {
	if len(t.parts) > 0 {
		return "", false
	}
	return t.texts[0], true
}

// Names returns the names of the scope that the expressions mention, in order of
// first mention.
func (t *Template) Names() []string {
	var names []string
	for _, p := range t.parts {
		for _, name := range p.Program.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Parts returns the expressions of the template, and whether it is one with nothing but white space around it, which gives its
// typed value.
func (t *Template) Parts() (parts []Part, alone bool) {
	return t.parts, len(t.parts) == 1 && strings.TrimSpace(t.texts[0]+t.texts[1]) == ""
}

// Eval returns the value of an expression that stands alone, with its type, or
// else the text with the values of all expressions in it. Its errors are [*Error],
// placed in the whole text.
func (t *Template) Eval(e *Evaluation) (any, error) {
	if text, ok := t.Constant(); ok {
		return text, nil
	}
	if parts, alone := t.Parts(); alone {
		v, err := parts[0].Program.Eval(e)
		return v, syntax.Shift(err, parts[0].Offset)
	}
	var text strings.Builder
	for i, p := range t.parts {
		piece, err := p.text(e)
		if err != nil {
			return nil, syntax.Shift(err, p.Offset)
		}
		// A builder that grows holds the text up to twice and leaves as much behind.
		if err := e.Budget.Text(3 * (len(t.texts[i]) + len(piece) + len(t.texts[i+1]))); err != nil {
			return nil, syntax.Span{}.Locate(err)
		}
		text.WriteString(t.texts[i])
		text.WriteString(piece)
	}
	text.WriteString(t.texts[len(t.parts)])
	return text.String(), nil
}

// Cut returns the text of Eval in parts: every second one is what some expressions make.
func (t *Template) Cut(e *Evaluation, by map[*Program]bool) ([]string, error) {
	parts := []string{""}
	for i, p := range t.parts {
		piece, err := p.text(e)
		if err != nil {
			return nil, syntax.Shift(err, p.Offset)
		}
		parts[len(parts)-1] += t.texts[i]
		if by[p.Program] {
			parts = append(parts, piece, "")
		} else {
			parts[len(parts)-1] += piece
		}
	}
	parts[len(parts)-1] += t.texts[len(t.parts)]
	return parts, nil
}

// text evaluates an expression inside a text.
func (p Part) text(e *Evaluation) (string, error) {
	v, err := p.Program.Eval(e)
	if err != nil {
		return "", err
	}
	text, ok := value.Text(v)
	if ok {
		return text, nil
	}
	return "", NotText(p.Program, value.KindOf(v), false)
}

// NotText is the error that the value of an expression inside a text is, or may be, of a kind that has no text.
func NotText(p *Program, kind value.Kind, may bool) *Error {
	const user, wanted = "the text around ${ }", value.String | value.Number | value.Bool
	o := &Operand{At: p.Whole(), Text: p.root.Written().Text}
	err := o.Wants(user, wanted, kind)
	switch {
	case may:
		err = o.MayBeNil(user, wanted, wanted)
		fallthrough
	case kind == value.Nil:
		if strings.Contains(o.Text, "...") || o.Text == "" { // What when says of it, does not count here.
			return err.WithHint(`give it a name in let, and say when: NAME != nil if nothing is to be done then; or give a default with ?? "none"`)
		}
		return err.WithHint(`say when: %[1]s != nil if nothing is to be done then, or give a default: ${%[1]s ?? "none"}`, o.Text)
	case kind&(value.List|value.Map) != 0:
		return err.WithHint("write toJSON(...) around it, or join(...) around a list of strings")
	case kind == value.Omission:
		return err.WithHint("omit() drops a whole value and must stand alone")
	default:
		return err
	}
}

// Package field says what may be written in the documents of the language: a field is declared once, with its name, its type and its
// doc.
//
//	Type, document.Node -> Read -> Values, what is wrong
//
// Whoever compiles a part of a document reads it by its type. The schema for editors and the definitions for an API server are
// rendered from the same types, by package editor.
package field

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Type is what may be written in one place. It is immutable.
type Type struct {
	// Name is that of its definition in schemas, empty where it is written out there. A type that has nothing else stands for the one
	// of this name.
	Name string
	// Kinds are those of a value, 0 where every one may be written, or where who compiles it says what may.
	Kinds document.Kind
	// Words are the only texts, the default first.
	Words []string
	// Pattern is that of a text, in the syntax that RE2 and ECMAScript share, nil for any text, and Message says what it is. Most is
	// how long the text may be, 0 for any length.
	Pattern *regexp.Regexp
	Message string
	Most    int
	// Template says that ${ } may be written there, too, whatever the kinds.
	Template bool
	// Hint says what to write in place of a value of another kind.
	Hint string
	// Check finds what the rest of the type cannot say. It is asked of values of the right kind.
	Check func(*document.Node) *document.Error

	// Fields are those of a map.
	Fields []Field
	// Else is the hint for a key that is no field, by its value, empty where there is none.
	Else func(key, value string) string
	// OneOf are fields of which a map has exactly one, and SomeOf those of which it has at least one.
	OneOf, SomeOf []string
	// Missing is what an API server says of a text that is empty, and of a map that has no field of SomeOf if it knows the types of
	// these: an expression of CEL cannot see others.
	Missing string

	// Keys and Values are those of a map whose keys the user chooses.
	Keys, Values *Type
	// Items are the elements of a list, and ByName says that they are told apart by their names.
	Items  *Type
	ByName bool
	// Filled refuses an empty map or list, which would quietly do nothing.
	Filled bool

	// Schema has more keywords of JSON schema, for editors.
	Schema Schema

	placed bool // Hints know where its fields belong.
}

// Schema is a JSON schema, or keywords of one.
type Schema = map[string]any

// Field is a field of a map.
type Field struct {
	Name     string
	Doc      string
	Required bool // it must be there and not be null
	Type     *Type
}

// Required returns a field that must be there.
func Required(name string, t *Type, doc string) Field { return Field{name, doc, true, t} }

// Optional returns a field that may be left out.
func Optional(name string, t *Type, doc string) Field { return Field{name, doc, false, t} }

// Object returns a map with these fields and no others.
func Object(name string, fields ...Field) *Type {
	return &Type{Name: name, Kinds: document.KindMap, Fields: fields}
}

// With returns a copy of the type that has exactly one of some fields.
func (t *Type) With(oneOf ...string) *Type {
	out := *t
	out.OneOf = oneOf
	return &out
}

// Otherwise returns a copy of the type that has hints for keys that are no fields.
func (t *Type) Otherwise(hint func(key, value string) string) *Type {
	out := *t
	out.Else = hint
	return &out
}

// Ref stands for the type of a name, which is read by itself.
func Ref(name string) *Type { return &Type{Name: name} }

// Free takes any value; an editor goes by keywords of JSON schema.
func Free(schema Schema) *Type { return &Type{Schema: schema} }

// Words takes one of some words; without the field it is the first.
func Words[T ~string](words ...T) *Type {
	out := &Type{Kinds: document.KindString}
	for _, word := range words {
		out.Words = append(out.Words, string(word))
	}
	out.Hint = "write one of " + strings.Join(out.Words, ", ")
	return out
}

// List takes a list that is not empty.
func List(items *Type) *Type {
	return &Type{Kinds: document.KindList, Items: items, Filled: true}
}

// Map takes a map with keys of the user's choice.
func Map(keys, values *Type) *Type {
	return &Type{Kinds: document.KindMap, Keys: keys, Values: values}
}

// Matching takes a text of a pattern.
func Matching(pattern, message string) *Type {
	return &Type{Kinds: document.KindString, Pattern: regexp.MustCompile(pattern), Message: message}
}

// The types that have no parts.
var (
	Text     = &Type{Kinds: document.KindString}
	Bool     = &Type{Kinds: document.KindBool}
	Any      = &Type{}
	Ignored  = Free(Schema{"doNotSuggest": true})
	NotBlank = Matching(`\S`, "a text that is not blank")
	// BareName is that of a value of the rule.
	BareName = &Type{
		Kinds: document.KindString, Pattern: Identifier.Pattern, Message: "a bare name, without ${ }", Hint: "to name the value of an expression, put it into let",
		Schema: Schema{"examples": []string{"object"}},
	}
	// Identifier is what expressions can call a value.
	Identifier = Matching(`^[A-Za-z_][A-Za-z0-9_]*$`, "a name of letters, digits and _, with no digit first")
	// Expression takes what can be the source of one: true and 5 are, too.
	Expression = Free(Schema{"type": []string{"string", "boolean", "number"}, "pattern": `\S`, "patternErrorMessage": "an expression is empty"})
	// Condition is an expression that is true or false.
	Condition = Free(Schema{"type": []string{"string", "boolean"}, "pattern": `\S`, "patternErrorMessage": "a condition is empty"})
)

// Templates lists the fields of a map that hold templates.
func (t *Type) Templates() (names []string) {
	for _, f := range t.Fields {
		if f.Type.Template {
			names = append(names, f.Name)
		}
	}
	return names
}

// Values are those of the fields of a map that are written well, by name. A node that is not there is nil, whose text is empty.
type Values map[string]*document.Node

// Word returns the text of a field, or else the default.
func (v Values) Word(name, otherwise string) string {
	if n := v[name]; n != nil {
		return n.Text()
	}
	return otherwise
}

// Bool returns true or false, or else the default.
func (v Values) Bool(name string, otherwise bool) bool {
	if set, is := v[name].Value().(bool); is {
		return set
	}
	return otherwise
}

// Read returns the values of a map that has the fields of the type, and what is wrong with them. A value that is a map with fields
// itself is not looked into: it is read by itself.
func (t *Type) Read(n *document.Node) (Values, document.Errors) {
	if n.Kind() == document.KindInvalid {
		return nil, nil // The parser has reported it.
	}
	if wrong := n.Expect(document.KindMap); wrong != nil {
		return nil, document.Errors{wrong}
	}
	var errs document.Errors
	if t.Filled && len(n.Entries()) == 0 {
		errs = append(errs, t.empty(n))
	}
	values := Values{}
	for _, entry := range n.Entries() {
		name := entry.Key.Text()
		i := slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == name })
		switch {
		case entry.Key.Kind() == document.KindInvalid:
		case i < 0:
			errs = append(errs, entry.Key.Errorf(t.known(name, entry.Value.Text()), "unknown field %q", value.Excerpt(name)).Coded(document.CodeUnknownField))
		case t.Fields[i].Required && entry.Value.Kind() == document.KindNull:
			errs = append(errs, entry.Value.Errorf("give it one", "the field %q has no value", value.Excerpt(name)).Coded(document.CodeMissingField))
		default:
			right, wrong := t.Fields[i].Type.check(entry.Value)
			if errs = append(errs, wrong...); right {
				values[name] = entry.Value
			}
		}
		if errs.Enough() {
			return values, errs
		}
	}
	for _, f := range t.Fields {
		if f.Required && n.Get(f.Name) == nil && !t.misspelt(n, f.Name) {
			errs = append(errs, n.Errorf("add "+f.Name+": ...", "the field %q is missing", f.Name).Coded(document.CodeMissingField))
		}
	}
	if wrong := t.count(n, len(errs) == 0); wrong != nil {
		errs = append(errs, wrong)
	}
	return values, errs
}

func (t *Type) names() []string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return names
}

// known is the hint for a field that is not.
func (t *Type) known(name, given string) string {
	if t.Else != nil {
		if hint := t.Else(name, given); hint != "" {
			return hint
		}
	}
	if hint := t.elsewhere(name); hint != "" {
		return hint
	}
	if near := document.Suggest(name, t.names()); near != "" {
		return `did you mean "` + near + `"?`
	}
	return t.fieldsHere()
}

func (t *Type) fieldsHere() string { return "the fields here are " + strings.Join(t.names(), ", ") }

// misspelt reports whether a key that is no field is meant for this one; that is told at the key.
func (t *Type) misspelt(n *document.Node, name string) bool {
	return slices.ContainsFunc(n.Entries(), func(e document.Entry) bool {
		return !slices.Contains(t.names(), e.Key.Text()) && document.Suggest(e.Key.Text(), t.names()) == name
	})
}

// count refuses a map that has none of the fields of which it wants one, or several. Where something else is wrong with it, a field
// that is missing may be that.
func (t *Type) count(n *document.Node, right bool) *document.Error {
	var have []string
	for _, entry := range n.Entries() {
		if slices.Contains(t.OneOf, entry.Key.Text()) {
			have = append(have, entry.Key.Text())
		}
	}
	switch {
	case len(have) > 1:
		return n.Errorf("write one of them", "%s exclude each other", strings.Join(have, " and "))
	case len(have) == 0 && len(t.OneOf) > 0 && right:
		return n.Errorf("write one of "+strings.Join(t.OneOf, ", "), "none of %s is there", strings.Join(t.OneOf, ", "))
	case len(t.SomeOf) > 0 && right && !slices.ContainsFunc(t.SomeOf, func(name string) bool { return n.Get(name) != nil }):
		return n.Errorf("add "+strings.Join(t.SomeOf, ": ..., or ")+": ...",
			"the field %q is missing", t.SomeOf[0]).Coded(document.CodeMissingField)
	default:
		return nil
	}
}

// Errors are what is wrong with a value that is no map with fields.
func (t *Type) Errors(n *document.Node) document.Errors {
	_, errs := t.check(n)
	return errs
}

// check reports whether a value is right but for what is in it, and what is wrong.
func (t *Type) check(n *document.Node) (right bool, errs document.Errors) {
	if wrong := t.wrong(n); wrong != nil {
		return false, document.Errors{wrong}
	}
	for _, element := range n.Elements() {
		if t.Items != nil && t.Items.Fields == nil {
			_, wrong := t.Items.check(element)
			if errs = append(errs, wrong...); errs.Enough() {
				break
			}
		}
	}
	for _, entry := range n.Entries() {
		if t.Keys != nil && entry.Key.Kind() != document.KindInvalid {
			if wrong := t.Keys.content(entry.Key); wrong != nil {
				errs = append(errs, wrong)
			}
		}
		if t.Values != nil && t.Values.Fields == nil {
			_, wrong := t.Values.check(entry.Value)
			if errs = append(errs, wrong...); errs.Enough() {
				break
			}
		}
	}
	return n.Kind() != document.KindInvalid, errs
}

func (t *Type) wrong(n *document.Node) *document.Error {
	kind := n.Kind()
	template := t.Template && kind == document.KindString && strings.Contains(n.Text(), "${")
	switch {
	case kind == document.KindInvalid || template:
	case t.Kinds != 0 && t.Kinds&kind == 0:
		wrong := n.Expect(t.Kinds)
		wrong.Hint = cmp.Or(t.Hint, wrong.Hint)
		return wrong
	case t.Filled && len(n.Entries())+len(n.Elements()) == 0:
		return t.empty(n)
	default:
		return t.content(n)
	}
	return nil
}

// content refuses a value of the right kind.
func (t *Type) content(n *document.Node) *document.Error {
	if t.Check != nil {
		if wrong := t.Check(n); wrong != nil {
			return wrong
		}
	}
	return t.CheckText(n, n.Text())
}

func (t *Type) empty(n *document.Node) *document.Error {
	return n.Errorf(cmp.Or(t.Hint, "add one, or remove what needs none"), "%s without elements does nothing", n.Kind())
}

// CheckText refuses a text that is none of the words, or is not like the pattern.
func (t *Type) CheckText(n *document.Node, text string) *document.Error {
	switch near := document.Suggest(text, t.Words); {
	case len(t.Words) == 0 && (t.Pattern == nil || t.Pattern.MatchString(text)), slices.Contains(t.Words, text):
		return nil
	case len(t.Words) == 0:
		return n.Errorf(t.Hint, "want %s, have %q", t.Message, value.Excerpt(text))
	case near != "":
		return n.Errorf("did you mean "+near+"?", "%q is not known here", value.Excerpt(text)).Coded(document.CodeNotInEnum)
	default:
		return n.Errorf(t.Hint, "%q is not known here", value.Excerpt(text)).Coded(document.CodeNotInEnum)
	}
}

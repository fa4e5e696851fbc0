package document

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Decoder takes a value out of a node and returns what is wrong with it. A
// decoder has nothing to say about an invalid node.
type Decoder func(*Node) Errors

// Field is a key that a map may have.
type Field struct {
	Name        string
	Required    bool // it must be there and not be null
	Unsupported bool // part of the language, but refused for now
	Decode      Decoder
}

// Required returns a field that must be there.
func Required(name string, decode Decoder) Field {
	return Field{Name: name, Required: true, Decode: decode}
}

// Optional returns a field that may be left out. Whether it may be null is up
// to the decoder: all but [Raw] refuse that.
func Optional(name string, decode Decoder) Field {
	return Field{Name: name, Decode: decode}
}

// Unsupported returns a field that is refused by name.
func Unsupported(name string) Field {
	return Field{Name: name, Unsupported: true}
}

// Decode hands the values of a map to the decoders of its fields. Keys that are
// none of the fields are errors, as are required fields that are not there.
func (n *Node) Decode(fields ...Field) Errors {
	if n.Kind() == KindInvalid {
		return nil
	}
	if err := n.Expect(KindMap); err != nil {
		return Errors{err}
	}
	var errs Errors
	for _, entry := range n.children {
		if errs = append(errs, entry.decode(fields)...); errs.Enough() {
			return errs
		}
	}
	for _, field := range fields {
		if field.Required && n.Get(field.Name) == nil && !n.misspells(field.Name, fields) {
			errs = append(errs, n.Errorf(fmt.Sprintf("add %s: ...", field.Name),
				"the field %s is missing", quote(field.Name)).Coded(CodeMissingField))
		}
	}
	return errs
}

// misspells reports whether a key that is no field is meant for this one; that
// is told at the key.
func (n *Node) misspells(name string, fields []Field) bool {
	var all []string
	for _, field := range fields {
		all = append(all, field.Name)
	}
	return slices.ContainsFunc(n.children, func(e Entry) bool {
		return !slices.Contains(all, e.Key.text) && Suggest(e.Key.text, all) == name
	})
}

func (e Entry) decode(fields []Field) Errors {
	if e.Key.kind == KindInvalid {
		return nil
	}
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == e.Key.text })
	if i < 0 {
		return Errors{e.Key.Errorf(known(e.Key.text, fields), "unknown field %s", quote(e.Key.text)).Coded(CodeUnknownField)}
	}
	field := fields[i]
	switch {
	case field.Unsupported:
		return Errors{e.Key.Errorf("remove it", "field %s is not supported yet", quote(field.Name)).Coded(CodeNotSupported)}
	case field.Required && e.Value.kind == KindNull:
		return Errors{e.Value.Errorf("give it one", "the field %s has no value", quote(field.Name)).Coded(CodeMissingField)}
	default:
		return field.Decode(e.Value)
	}
}

// known is the hint for a field that is not.
func known(name string, fields []Field) string {
	var all, usable []string
	for _, field := range fields {
		all = append(all, field.Name)
		if !field.Unsupported {
			usable = append(usable, field.Name)
		}
	}
	if near := Suggest(name, all); near != "" {
		return fmt.Sprintf("did you mean %s?", quote(near))
	}
	if len(usable) == 0 {
		return "remove it, there are no fields here"
	}
	return "the fields here are " + strings.Join(usable, ", ")
}

// Expect returns an error unless the node is of one of the kinds, or invalid,
// which has been reported.
func (n *Node) Expect(kinds ...Kind) *Error {
	if n.Kind() == KindInvalid || slices.Contains(kinds, n.kind) {
		return nil
	}
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.String()
	}
	return n.Errorf(n.expected(kinds[0]), "want %s, have %s", strings.Join(names, " or "), n.kind).Coded(CodeTypeMismatch)
}

// unspaced is a key and a value without the space that YAML needs between them.
var unspaced = regexp.MustCompile(`^([A-Za-z][\w.-]*):(\S.*)$`)

// expected says how to write a node of the kind, best with what is there.
func (n *Node) expected(kind Kind) string {
	value, _, _ := Resolve(n.text)
	match := unspaced.FindStringSubmatch(n.text)
	switch {
	case n.kind == KindNull:
		return "give it a value or remove it"
	case kind == KindString && n.kind < KindList:
		return "put it in quotes: " + quote(n.text)
	case n.kind == KindString && kind < KindString && kindOf(value) == kind:
		return "write it without quotes: " + n.text
	case kind == KindMap && n.kind == KindString && match != nil:
		return fmt.Sprintf("put a space after the colon: %s: %s", match[1], shorten(match[2]))
	default:
		return map[Kind]string{
			KindNull:   "remove the value",
			KindBool:   "write true or false",
			KindInt:    "write a whole number like 3",
			KindFloat:  "write a number like 0.5",
			KindString: "write text",
			KindList:   `write "- " before each element, or [a, b]`,
			KindMap:    "write lines of key: value, or {key: value}",
		}[kind]
	}
}

// String takes a string, which may be empty.
func String(into *string) Decoder { return scalar(into, KindString) }

// Bool takes true or false.
func Bool(into *bool) Decoder { return scalar(into, KindBool) }

// Int takes an integer.
func Int(into *int64) Decoder { return scalar(into, KindInt) }

func scalar[T any](into *T, kind Kind) Decoder {
	return func(n *Node) Errors {
		if err := n.Expect(kind); err != nil {
			return Errors{err}
		}
		if value, ok := n.Value().(T); ok {
			*into = value
		}
		return nil
	}
}

// OneOf takes a string that is one of the values.
func OneOf[T ~string](into *T, values ...T) Decoder {
	return func(n *Node) Errors {
		text := n.Text()
		names := make([]string, len(values))
		for i, value := range values {
			if names[i] = string(value); names[i] == text && n.Kind() == KindString {
				*into = value
				return nil
			}
		}
		hint := "write one of " + strings.Join(names, ", ")
		switch n.Kind() {
		case KindString:
		case KindInvalid:
			return nil
		default:
			return Errors{n.Errorf(hint, "want a string, have %s", n.Kind()).Coded(CodeTypeMismatch)}
		}
		if near := Suggest(text, names); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return Errors{n.Errorf(hint, "%s is not known here", quote(text)).Coded(CodeNotInEnum)}
	}
}

// Raw takes the node itself, whatever it is, even null.
func Raw(into **Node) Decoder {
	return func(n *Node) Errors {
		*into = n
		return nil
	}
}

// Fields takes the fields of a map, as [Node.Decode] does.
func Fields(fields ...Field) Decoder {
	return func(n *Node) Errors { return n.Decode(fields...) }
}

// Each takes a map with keys of the user's choice and hands over its entries in
// the order written, except those whose key is invalid, until there are enough
// mistakes.
func Each(entry func(Entry) Errors) Decoder {
	return func(n *Node) Errors {
		if err := n.Expect(KindMap); err != nil {
			return Errors{err}
		}
		var errs Errors
		for _, e := range n.Entries() {
			if e.Key.kind != KindInvalid {
				errs = append(errs, entry(e)...)
			}
			if errs.Enough() {
				break
			}
		}
		return errs
	}
}

// List takes a list whose elements are taken one by one, such as
// List(&names, String). A wrong element keeps its place with what the decoder
// made of it.
func List[T any](into *[]T, element func(*T) Decoder) Decoder {
	return func(n *Node) Errors {
		if err := n.Expect(KindList); err != nil {
			return Errors{err}
		}
		var errs Errors
		elements := n.Elements()
		*into = make([]T, len(elements))
		for i, e := range elements {
			if errs = append(errs, element(&(*into)[i])(e)...); errs.Enough() {
				break
			}
		}
		return errs
	}
}

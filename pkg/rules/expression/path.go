package expression

import (
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// owner is [Step.Owner] of step i.
func (p *Path) owner(i int) int {
	switch s := p.Steps[i]; {
	case s.Kind != ByKey:
		return 0
	case s.Key == "spec" || s.Key == "status":
		return 1
	case i > 0 && p.Steps[i-1].Kind == ByKey && p.Steps[i-1].Key == "metadata" &&
		(s.Key == "labels" || s.Key == "annotations"):
		return 2
	default:
		return 0
	}
}

func (p *Path) eval(e *Evaluation) any {
	v := p.follow(e)
	if e.recorder != nil {
		e.recorder.read(p.Text, v)
	}
	return v
}

func (p *Path) follow(e *Evaluation) any {
	v := p.Root.eval(e)
	var parent any
	for i := range p.Steps {
		s := &p.Steps[i]
		if v == nil {
			if s.Optional {
				return nil
			}
			if s.Kind != BySlice {
				before := p.Before(i)
				value.Must(s.At.Errorf("%s is absent, so %s%s cannot be read", before, before, s.Text()).
					WithHint("write %s%s, which is nil then", before, syntax.Optional(s.Text())))
			}
		}
		grandparent := parent
		parent = v
		switch s.Kind {
		case ByKey:
			v = p.field(i, parent, grandparent)
		case ByValue:
			v = p.element(e, i, parent)
		case BySlice:
			v = p.cut(e, i, parent)
		}
	}
	return v
}

func (p *Path) field(i int, on, grandparent any) any {
	s := &p.Steps[i]
	m, ok := on.(map[string]any)
	if !ok {
		value.Must(p.NoField(i, value.KindOf(on)))
	}
	v := m[s.Key]
	if v != nil || s.Owner == 0 {
		return v
	}
	owner := m
	if s.Owner > 1 {
		owner, _ = grandparent.(map[string]any)
	}
	if owner["apiVersion"] == nil || owner["kind"] == nil {
		return nil
	}
	return map[string]any{}
}

// NoField is the error that what step i reads a key of is of a kind that has no fields.
func (p *Path) NoField(i int, kind value.Kind) *Error {
	s, before := &p.Steps[i], p.Before(i)
	failure := s.At.Errorf("%s is %s and has no field %q", before, kind, value.Excerpt(s.Key))
	switch access := syntax.KeyText(s.Key); {
	case (s.Key == "length" || s.Key == "size" || s.Key == "count") && kind&(value.List|value.String) != 0:
		return failure.WithHint("write len(%s)", before)
	case kind == value.List:
		return failure.WithHint("write map(%s, #%s) for all elements, or %s[0]%s for the first", before, access, before, syntax.Optional(access))
	default:
		return failure
	}
}

// element reads an element or key that an expression gives. Where there is none
// it gives nil.
func (p *Path) element(e *Evaluation, i int, on any) any {
	s := &p.Steps[i]
	index := s.Index.eval(e)
	switch container := on.(type) {
	case []any:
		if n, ok := index.(int64); ok {
			return value.Element(container, n)
		}
		value.Must(wants(s.Index, "the index of a list", value.Int, index))
	case map[string]any:
		if key, ok := index.(string); ok {
			return container[key]
		}
		value.Must(wants(s.Index, "the key of a map", value.String, index))
	default:
		value.Must(p.NoElements(i, value.KindOf(on)))
	}
	return nil
}

// NoElements is the error that what step i reads an element of is of a kind that has none.
func (p *Path) NoElements(i int, kind value.Kind) *Error {
	failure := p.Steps[i].At.Errorf("%s is %s and has no elements", p.Before(i), kind)
	if kind == value.String {
		failure.Hint = "a character is a slice, as in text[0:1]"
	}
	return failure
}

// NoSlice is the error that what step i takes a slice of is of a kind that has none.
func (p *Path) NoSlice(i int, kind value.Kind) *Error {
	return p.Steps[i].At.Errorf("%s is %s and cannot be sliced", p.Before(i), kind)
}

// cut takes a slice of a list or of the characters of a string. Bounds count from
// the end where negative and are clamped; what is absent is an empty list.
func (p *Path) cut(e *Evaluation, i int, on any) any {
	s := &p.Steps[i]
	length := 0
	switch v := on.(type) {
	case nil:
	case []any:
		length = len(v)
	case string:
		value.Must(s.At.Locate(e.Budget.Steps(1 + len(v)/16)))
		length = utf8.RuneCountInString(v)
	default:
		value.Must(p.NoSlice(i, value.KindOf(on)))
	}
	from, to := bound(e, s.Bounds[0], 0, length), bound(e, s.Bounds[1], length, length)
	if text, ok := on.(string); ok {
		return characters(text, min(from, to), to)
	}
	list, _ := on.([]any)
	return value.Slice(list, from, to)
}

// characters returns text from one character to before another.
func characters(text string, from, to int) string {
	start, n := len(text), 0
	for offset := range text {
		if n == from {
			start = offset
		}
		if n == to {
			return text[start:offset]
		}
		n++
	}
	return text[start:]
}

// bound evaluates an end of a slice; n is nil where it was left out.
func bound(e *Evaluation, n Node, otherwise, length int) int {
	if n == nil {
		return otherwise
	}
	result := n.eval(e)
	at, ok := result.(int64)
	if !ok {
		value.Must(wants(n, "a bound of a slice", value.Int, result))
	}
	if at < 0 {
		at += int64(length)
	}
	return int(min(max(at, 0), int64(length)))
}

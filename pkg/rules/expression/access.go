package expression

import (
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func (p *path) eval(e *Evaluation) (any, error) {
	v, err := p.root.eval(e)
	if err != nil {
		return nil, err
	}
	var parent any
	for i := range p.steps {
		s := &p.steps[i]
		if v == nil {
			if s.optional {
				return nil, nil
			}
			if s.kind != bySlice {
				return nil, p.absent(i)
			}
		}
		grandparent := parent
		parent = v
		switch s.kind {
		case byKey:
			v, err = p.field(i, parent, grandparent)
		case byValue:
			v, err = p.element(e, i, parent)
		case bySlice:
			v, err = p.cut(e, i, parent)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (p *path) field(i int, on, grandparent any) (any, error) {
	s := &p.steps[i]
	m, ok := on.(map[string]any)
	if !ok {
		return nil, p.noField(i, on)
	}
	v := m[s.key]
	if v == nil && s.always != neverMap {
		return s.always.read(m, grandparent), nil
	}
	return v, nil
}

// read returns an empty map for the parts that every Kubernetes object has, and
// nil for the same key elsewhere, as in a pod template.
func (a alwaysMap) read(on map[string]any, grandparent any) any {
	whole := on
	if a == labelsOrAnnotations {
		whole, _ = grandparent.(map[string]any)
	}
	if whole["apiVersion"] == nil || whole["kind"] == nil {
		return nil
	}
	return map[string]any{}
}

// element reads an element or key that an expression gives. Where there is none
// it gives nil.
func (p *path) element(e *Evaluation, i int, on any) (any, error) {
	s := &p.steps[i]
	index, err := s.index.eval(e)
	if err != nil {
		return nil, err
	}
	switch container := on.(type) {
	case []any:
		if n, ok := index.(int64); ok {
			return value.Element(container, n), nil
		}
		return nil, s.index.wants("the index of a list", value.Int, index)
	case map[string]any:
		if key, ok := index.(string); ok {
			return container[key], nil
		}
		return nil, s.index.wants("the key of a map", value.String, index)
	default:
		failure := s.at.Errorf("%s is %s and has no elements", p.text(i), value.KindOf(on))
		if value.KindOf(on) == value.String {
			failure.Hint = "a character is a slice, as in text[0:1]"
		}
		return nil, failure
	}
}

// cut takes a slice of a list or of the characters of a string. Bounds count from
// the end where negative and are clamped; what is absent is an empty list.
func (p *path) cut(e *Evaluation, i int, on any) (any, error) {
	s := &p.steps[i]
	length := 0
	switch v := on.(type) {
	case nil:
	case []any:
		length = len(v)
	case string:
		if err := e.Budget.Steps(1 + len(v)/16); err != nil {
			return nil, s.at.Locate(err)
		}
		length = utf8.RuneCountInString(v)
	default:
		return nil, s.at.Errorf("%s is %s and cannot be sliced", p.text(i), value.KindOf(on))
	}
	from, err := bound(e, s.from, 0, length)
	if err != nil {
		return nil, err
	}
	to, err := bound(e, s.to, length, length)
	if err != nil {
		return nil, err
	}
	if text, ok := on.(string); ok {
		return characters(text, min(from, to), to), nil
	}
	list, _ := on.([]any)
	return value.Slice(list, from, to), nil
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

// bound evaluates an end of a slice; v is nil where it was left out.
func bound(e *Evaluation, v *code, otherwise, length int) (int, error) {
	if v == nil {
		return otherwise, nil
	}
	result, err := v.eval(e)
	if err != nil {
		return 0, err
	}
	n, ok := result.(int64)
	if !ok {
		return 0, v.wants("a bound of a slice", value.Int, result)
	}
	if n < 0 {
		n += int64(length)
	}
	return int(min(max(n, 0), int64(length))), nil
}

func (p *path) absent(i int) *Error {
	s := &p.steps[i]
	parent := p.text(i)
	return s.at.Errorf("%s is absent, so %s%s cannot be read", parent, parent, s.text).
		WithHint("write %s%s, which is nil then", parent, syntax.Optional(s.text))
}

func (p *path) noField(i int, on any) *Error {
	s := &p.steps[i]
	parent, kind := p.text(i), value.KindOf(on)
	failure := s.at.Errorf("%s is %s and has no field %q", parent, kind, s.key)
	if kind == value.List {
		return failure.WithHint("write map(%s, #%s) for all elements, or %s[0]?%s for the first", parent, s.text, parent, s.text)
	}
	return failure
}

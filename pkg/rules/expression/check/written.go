package check

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Given is what a template gives.
type Given struct {
	typing.Type
	// Written are the values that stand in the template, and those it chooses among.
	Written []Written
}

// Written is a part of what a template gives, in one of its branches.
type Written struct {
	// Path leads to it in the value: the keys of maps, and the indexes of lists as int.
	Path []any
	At   syntax.Span
	// Value is what is written, with [schema.Unknown] for what is Written itself; it is
	// that alone where only Type is known.
	Value any
	Type  typing.Type
	// Where says when it is given, as in "where x is present", or is "".
	Where  string
	branch branch
}

// Conversion is a hint how to make one of these kinds of a value and its default, or "".
func (w Written) Conversion(kinds value.Kind) string {
	if w.Where == "" {
		return ""
	}
	return w.branch.conversion(kinds, w.Type.Kinds()&^value.Nil)
}

// maxWritten is more than a template for a person has.
const maxWritten = 1000

// listed lists what a template writes at an offset of its text.
func listed(m *made, offset int) []Written {
	l := &listing{offset: offset}
	l.made(m, nil)
	return l.found
}

type listing struct {
	offset int
	found  []Written
}

func (l *listing) made(m *made, path []any) {
	if m == nil {
		return
	}
	for _, b := range m.branches {
		l.branch(b, path)
	}
	for _, e := range m.entries {
		l.branch(e.branch, append(slices.Clip(path), e.step))
	}
}

func (l *listing) branch(b branch, path []any) {
	if len(l.found) == maxWritten || b.of.Kinds() == value.Nil || b.needless {
		return
	}
	if b.made == nil || b.made.branches == nil {
		at := b.at
		at.Offset += l.offset
		l.found = append(l.found, Written{Path: path, At: at, Value: draft(b), Type: b.of, Where: b.where(), branch: b})
	}
	l.made(b.made, path)
}

// draft is as much of a value as is written. What is empty may well be meant for nothing
// at all.
func draft(b branch) any {
	if b.made == nil || len(b.made.entries) == 0 {
		if v, literal := expression.LiteralOf(b.node); literal {
			return v
		}
		return schema.Unknown{}
	}
	switch b.node.(type) {
	case *expression.List:
		return slices.Repeat([]any{schema.Unknown{}}, len(b.made.entries))
	case *expression.Map:
		m := make(map[string]any, len(b.made.entries))
		for _, e := range b.made.entries {
			key, _ := e.step.(string)
			m[key] = schema.Unknown{}
		}
		if b.made.open {
			m[schema.SomeKeys] = schema.Unknown{}
		}
		return m
	default:
		return schema.Unknown{}
	}
}

func (b branch) where() string {
	if b.otherwise == nil || b.text == "" {
		return ""
	}
	return "where " + b.text + " is present"
}

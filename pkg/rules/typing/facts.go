package typing

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Facts say what is not nil where an expression is evaluated: a value and, below it, what is at these keys. Those that are
// exported are about roots, numbers that whoever checks has given to names. Facts are immutable, and the same pointer says the
// same; nil says nothing.
type Facts struct {
	below map[string]*Facts
	// text is all that the value can be if it is a text, "" where that is not known.
	text string
}

// With adds that what is at a path, and all that leads there, is not nil. It returns
// f itself where that is known.
func (f *Facts) With(root int, path ...string) *Facts { return f.Is("", root, path...) }

// Is is [Facts.With] for what is this text, if it is a text and this is not "".
func (f *Facts) Is(text string, root int, path ...string) *Facts {
	if known := f.at(root, path); known != nil && (text == "" || known.text != "") {
		return f
	}
	return f.set(strconv.Itoa(root), f.child(strconv.Itoa(root)).is(text, path))
}

func (f *Facts) is(text string, path []string) *Facts {
	switch {
	case len(path) > 0:
		return f.set(path[0], f.child(path[0]).is(text, path[1:]))
	case f == nil:
		return &Facts{text: text}
	default:
		return &Facts{below: f.below, text: text}
	}
}

// set returns the facts with others below a key.
func (f *Facts) set(key string, below *Facts) *Facts {
	if f == nil {
		return &Facts{below: map[string]*Facts{key: below}}
	}
	more := &Facts{below: make(map[string]*Facts, len(f.below)+1), text: f.text}
	maps.Copy(more.below, f.below)
	more.below[key] = below
	return more
}

// Named returns the facts about roots that are not below zero.
func (f *Facts) Named() *Facts {
	if f == nil {
		return nil
	}
	var named *Facts
	for root := range f.below {
		if root[0] == '-' && named == nil {
			named = &Facts{below: maps.Clone(f.below)}
		}
		if root[0] == '-' {
			delete(named.below, root)
		}
	}
	if named == nil {
		return f
	}
	return named
}

// Common returns what both say, as either holds where one of two conditions does. It
// returns f itself where g says all of it too.
func (f *Facts) Common(g *Facts) *Facts {
	if both := f.common(g); !both.empty() {
		return both
	}
	return nil
}

// Has reports whether it is known that what is at a path is not nil.
func (f *Facts) Has(root int, path ...string) bool { return f.at(root, path) != nil }

func (f *Facts) at(root int, path []string) *Facts {
	f = f.child(strconv.Itoa(root))
	for _, key := range path {
		f = f.child(key)
	}
	return f
}

// Apply returns the type of a root with what is known of it.
func (f *Facts) Apply(root int, t Type) Type { return t.refined(f.at(root, nil)) }

func (f *Facts) child(key string) *Facts {
	if f == nil {
		return nil
	}
	return f.below[key]
}

// empty reports whether nothing is known of what is below.
func (f *Facts) empty() bool { return f == nil || len(f.below) == 0 }

// plus says what either says. It is f itself where g adds nothing.
func (f *Facts) plus(g *Facts) *Facts {
	if f == nil || g == nil || f == g {
		return cmp.Or(f, g)
	}
	sum := &Facts{below: make(map[string]*Facts, len(f.below)+1), text: cmp.Or(f.text, g.text)}
	same := sum.text == f.text
	maps.Copy(sum.below, f.below)
	for key, below := range g.below {
		sum.below[key] = f.below[key].plus(below)
		same = same && sum.below[key] == f.below[key]
	}
	if same {
		return f
	}
	return sum
}

// common says what both say. It is f itself where that is all of f.
func (f *Facts) common(g *Facts) *Facts {
	if f == nil || g == nil || f == g || f.empty() && f.text == "" {
		if g == nil {
			return nil
		}
		return f
	}
	both := &Facts{below: map[string]*Facts{}}
	if f.text == g.text {
		both.text = f.text
	}
	same := both.text == f.text
	for key, below := range f.below {
		shared := below.common(g.below[key])
		if shared != nil {
			both.below[key] = shared
		}
		same = same && shared == below
	}
	if same {
		return f
	}
	return both
}

func (f *Facts) equal(g *Facts) bool {
	if f == nil || g == nil {
		return f == g
	}
	return f == g || f.text == g.text && maps.EqualFunc(f.below, g.below, (*Facts).equal)
}

// Present returns the type where what is at a path of keys, and all that leads
// there, is not nil. An empty path is the value itself.
func (t Type) Present(path []string) Type { return t.Is("", path...) }

// Is is [Type.Present] for what is this text, if it is a text and this is not "".
func (t Type) Is(text string, path ...string) Type { return t.refined((*Facts)(nil).is(text, path)) }

func (t Type) refined(f *Facts) Type {
	if t.unknown || f == nil {
		return t
	}
	if f.empty() {
		return t.NonNil()
	}
	var parts []part
	for _, one := range t.parts {
		if f.fit(one.field) {
			one.present = one.present.plus(f)
			parts = append(parts, one)
		}
	}
	switch built := t.fields != nil && f.fit(t.entry); {
	case built:
		t.fields = maps.Clone(t.fields)
		for key, below := range f.below {
			field, _ := t.entry(key)
			t.fields[key] = field.refined(below)
		}
	case parts == nil:
		return t.NonNil() // It is never the case, so that it does not matter.
	default:
		t.fields, t.values = nil, nil
	}
	t.parts = parts
	return t.NonNil()
}

// fit reports whether a map with such fields can have all that is present.
func (f *Facts) fit(field func(key string) (Type, bool)) bool {
	for key, below := range f.below {
		if of, possible := field(key); !possible || !of.canHave(below) {
			return false
		}
	}
	return true
}

func (t Type) canHave(f *Facts) bool {
	return t.unknown || t.kinds&^value.Nil != 0 && (f.empty() || t.fields != nil && f.fit(t.entry) ||
		slices.ContainsFunc(t.parts, func(p part) bool { return f.fit(p.field) }))
}

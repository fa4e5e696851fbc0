package typing

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// presence says what is known not to be nil: the value itself and, below it, what
// is at these keys. It is immutable; nil says nothing.
type presence struct {
	below map[string]*presence
	// text is all that the value can be if it is a text, "" where that is not known.
	text string
}

// at says that what is at a path is present, with a text if one is known, and all that leads there.
func at(path []string, text string) *presence {
	if len(path) == 0 {
		return &presence{text: text}
	}
	return &presence{below: map[string]*presence{path[0]: at(path[1:], text)}}
}

func (p *presence) child(key string) *presence {
	if p == nil {
		return nil
	}
	return p.below[key]
}

// empty reports whether nothing is known of what is below.
func (p *presence) empty() bool { return p == nil || len(p.below) == 0 }

// plus says what either says. It is p itself where q adds nothing.
func (p *presence) plus(q *presence) *presence {
	switch {
	case p == nil:
		return q
	case q.empty() && (q == nil || q.text == "" || p.text != "") || p == q:
		return p
	}
	sum := p
	if p.text == "" && q.text != "" {
		sum = &presence{below: maps.Clone(p.below), text: q.text}
		if sum.below == nil {
			sum.below = map[string]*presence{}
		}
	}
	for key, below := range q.below {
		old := p.below[key]
		joined := old.plus(below)
		if joined == old && old != nil {
			continue
		}
		if sum == p {
			sum = &presence{below: make(map[string]*presence, len(p.below)+1), text: p.text}
			maps.Copy(sum.below, p.below)
		}
		sum.below[key] = joined
	}
	return sum
}

// common says what both say. It is p itself where that is all of p.
func (p *presence) common(q *presence) *presence {
	switch {
	case p == nil || q == nil:
		return nil
	case p == q || p.empty() && (p.text == "" || p.text == q.text):
		return p
	}
	both, all := &presence{below: map[string]*presence{}}, p.text == "" || p.text == q.text
	if all {
		both.text = p.text
	}
	for key, below := range p.below {
		joined := below.common(q.below[key])
		if joined != nil {
			both.below[key] = joined
		}
		all = all && joined == below
	}
	if all {
		return p
	}
	return both
}

func (p *presence) equal(q *presence) bool {
	if p == nil || q == nil {
		return p == q
	}
	return p == q || p.text == q.text && maps.EqualFunc(p.below, q.below, (*presence).equal)
}

// Present returns the type where what is at a path of keys, and all that leads
// there, is not nil. An empty path is the value itself.
func (t Type) Present(path []string) Type { return t.Is("", path...) }

// Is is [Type.Present] for what is this text, if it is a text and this is not "".
func (t Type) Is(text string, path ...string) Type { return t.refined(at(path, text)) }

func (t Type) refined(p *presence) Type {
	if t.unknown || p == nil {
		return t
	}
	if p.empty() {
		return t.NonNil()
	}
	var parts []part
	for _, one := range t.parts {
		if one.canHave(p) {
			one.present = one.present.plus(p)
			parts = append(parts, one)
		}
	}
	built := t.fields != nil && t.entriesCanHave(p)
	if !built && parts == nil {
		return t.NonNil() // It is never the case, so that it does not matter.
	}
	t.parts = parts
	if !built {
		t.fields, t.values = nil, nil
		return t.NonNil()
	}
	t.fields = maps.Clone(t.fields)
	for key, below := range p.below {
		field, _ := t.entry(key)
		t.fields[key] = field.refined(below)
	}
	return t.NonNil()
}

// canHave reports whether any of what the value can be has what is present.
func (t Type) canHave(p *presence) bool {
	if t.unknown || p.empty() {
		return t.unknown || t.kinds&^value.Nil != 0
	}
	has := func(one part) bool { return one.canHave(p) }
	if slices.ContainsFunc(t.parts, has) {
		return true
	}
	return t.fields != nil && t.entriesCanHave(p)
}

func (p part) canHave(present *presence) bool {
	for key, below := range present.below {
		if field, possible := p.field(key); !possible || !field.canHave(below) {
			return false
		}
	}
	return true
}

// entriesCanHave is canHave for a map that an expression builds.
func (t Type) entriesCanHave(p *presence) bool {
	for key, below := range p.below {
		if field, possible := t.entry(key); !possible || !field.canHave(below) {
			return false
		}
	}
	return true
}

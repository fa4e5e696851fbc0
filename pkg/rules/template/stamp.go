package template

import (
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Stamped returns the value of a body with each [value.Stamp] in it resolved against what is there, which is nil for what is to be
// created. A stamp keeps what is there, unless something else that the map around it mentions changes, or nothing is there: then it is
// now, as Kubernetes writes times. The values are not changed; a body without a stamp is returned as it is.
//
// How it is written decides what is a change: server-side apply leaves elements of lists to other owners, and null says nothing; all
// other ways replace lists as a whole, and null deletes. Stamped knows no schema. A value that the server keeps in another form counts
// as a change each time, keys that the body does not mention as none.
func Stamped(body, current any, now time.Time, how schema.Writing) any {
	if !HoldsStamp(body) {
		return body
	}
	s := stamps{now: now.UTC().Format(time.RFC3339), applied: how == schema.Applied}
	resolved, _ := s.resolve(body, current)
	return resolved
}

// HoldsStamp reports whether a value has a [value.Stamp] in it.
func HoldsStamp(part any) bool {
	switch part := part.(type) {
	case value.Stamp:
		return true
	case map[string]any:
		for _, below := range part {
			if HoldsStamp(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(part, HoldsStamp)
	}
	return false
}

type stamps struct {
	now     string
	applied bool
}

// resolve returns a part with its stamps resolved, and whether it differs from what is there.
func (s *stamps) resolve(part, current any) (resolved any, differs bool) {
	switch part := part.(type) {
	case value.Stamp:
		if current == nil {
			return s.now, true
		}
		return current, false
	case map[string]any:
		return s.mapping(part, current)
	case []any:
		return s.list(part, current)
	case nil:
		return nil, current != nil && !s.applied
	default:
		same, err := value.Equal(part, current, nil)
		return part, err != nil || !same
	}
}

func (s *stamps) mapping(m map[string]any, current any) (any, bool) {
	there, isMap := current.(map[string]any)
	out, differs := make(map[string]any, len(m)), !isMap && current != nil
	for key, part := range m {
		below, changed := s.resolve(part, there[key])
		out[key], differs = below, differs || changed
	}
	for key, part := range m {
		if _, is := part.(value.Stamp); is && differs { // The stamps of a map move together.
			out[key] = s.now
		}
	}
	return out, differs
}

func (s *stamps) list(list []any, current any) (any, bool) {
	there, isList := current.([]any)
	out, differs := slices.Clone(list), !isList && current != nil || !s.applied && len(list) != len(there)
	others := s.counterparts(there)
	for i, part := range list {
		counterpart, found := others.take(s.identity(part), i)
		below, changed := s.resolve(part, counterpart)
		out[i], differs = below, differs || changed || !found
	}
	return out, differs
}

// identity is what makes an element of a list the same one at another position: of a map, its type and name, so far as it has them.
// What is applied to a list of scalars may be to a set, and is its text. It is zero where the position counts.
type identity struct {
	kind, name, text string
	quoted           bool
}

func (s *stamps) identity(element any) (id identity) {
	if m, ok := element.(map[string]any); ok {
		id.kind, _ = m["type"].(string)
		id.name, _ = m["name"].(string)
	} else if text, ok := value.Text(element); ok && s.applied {
		id.text = text
		_, id.quoted = element.(string)
	}
	return id
}

// counterparts is the elements that are there, each to be taken once.
type counterparts struct {
	list  []any
	known map[identity][]int
	taken map[int]bool
}

func (s *stamps) counterparts(list []any) *counterparts {
	c := &counterparts{list: list, known: map[identity][]int{}, taken: map[int]bool{}}
	for i, element := range list {
		// A body may mention only one of type and name.
		whole := s.identity(element)
		for _, id := range []identity{whole, {kind: whole.kind}, {name: whole.name}} {
			c.known[id] = append(c.known[id], i)
		}
	}
	return c
}

// take returns the element that is there for one of the body at position i.
func (c *counterparts) take(id identity, i int) (element any, found bool) {
	if id != (identity{}) {
		free := func(at int) bool { return !c.taken[at] }
		at := slices.IndexFunc(c.known[id], free)
		if at < 0 {
			return nil, false
		}
		c.known[id] = c.known[id][at:]
		i = c.known[id][0]
		c.taken[i] = true
	}
	if i >= len(c.list) {
		return nil, false
	}
	return c.list[i], true
}

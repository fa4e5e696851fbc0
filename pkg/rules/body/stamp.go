package body

import (
	"maps"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Writing is how a body will be written, which decides what of it is a change of
// what is there.
type Writing int

const (
	// Replacing replaces lists as a whole, and null deletes: merge and JSON patches.
	Replacing Writing = iota
	// Applying leaves elements of lists to other owners, and null says nothing:
	// server-side apply.
	Applying
)

// Stamped returns the value of a body with each [value.Stamp] in it resolved
// against what is there, which is nil for what is to be created. A stamp keeps
// what is there, unless something else that the map around it mentions changes,
// or nothing is there: then it is now, as Kubernetes writes times. The values
// are not changed; what holds no stamp is shared.
//
// It knows no schema. A value that the server keeps in another form counts as a
// change each time, keys that the body does not mention as none.
func Stamped(body, current any, now time.Time, writing Writing) any {
	if !holdsStamp(body) {
		return body
	}
	s := stamps{now: now.UTC().Format(time.RFC3339), writing: writing}
	return s.resolve(body, current).value
}

func holdsStamp(part any) bool {
	switch part := part.(type) {
	case value.Stamp:
		return true
	case map[string]any:
		for _, below := range part {
			if holdsStamp(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(part, holdsStamp)
	}
	return false
}

type stamps struct {
	now     string
	writing Writing
}

// resolved is a part of a body. It is a copy if there was a stamp in it.
type resolved struct {
	value            any
	stamped, differs bool
}

func (s *stamps) resolve(part, current any) resolved {
	switch part := part.(type) {
	case value.Stamp:
		if current == nil {
			return resolved{value: s.now, stamped: true, differs: true}
		}
		return resolved{value: current, stamped: true}
	case map[string]any:
		return s.mapping(part, current)
	case []any:
		return s.list(part, current)
	case nil:
		return resolved{differs: current != nil && s.writing == Replacing}
	default:
		same, err := value.Equal(part, current, nil)
		return resolved{value: part, differs: err != nil || !same}
	}
}

func (s *stamps) mapping(m map[string]any, current any) resolved {
	there, isMap := current.(map[string]any)
	out := resolved{value: m, differs: !isMap && current != nil}
	copied := m
	var own []string // The keys of stamps, which move together.
	for key, part := range m {
		below := s.resolve(part, there[key])
		out.differs = out.differs || below.differs
		if !below.stamped {
			continue
		}
		if !out.stamped {
			copied, out.stamped = maps.Clone(m), true
		}
		copied[key] = below.value
		if _, is := part.(value.Stamp); is {
			own = append(own, key)
		}
	}
	if out.differs {
		for _, key := range own {
			copied[key] = s.now
		}
	}
	out.value = copied
	return out
}

func (s *stamps) list(list []any, current any) resolved {
	there, isList := current.([]any)
	out := resolved{differs: !isList && current != nil || s.writing == Replacing && len(list) != len(there)}
	copied := list
	others := s.counterparts(there)
	for i, part := range list {
		counterpart, found := others.take(s.identity(part), i)
		below := s.resolve(part, counterpart)
		out.differs = out.differs || below.differs || !found
		if !below.stamped {
			continue
		}
		if !out.stamped {
			copied, out.stamped = slices.Clone(list), true
		}
		copied[i] = below.value
	}
	out.value = copied
	return out
}

// identity is what makes an element of a list the same one at another position.
type identity struct {
	kind, name string
	text       string
	quoted     bool
}

// identity returns what an element is known by, or zero where it is its position:
// a map by its type and name, so far as it has them; and what is applied to a list
// of scalars by itself, since that may be a set.
func (s *stamps) identity(element any) identity {
	if m, ok := element.(map[string]any); ok {
		kind, _ := m["type"].(string)
		name, _ := m["name"].(string)
		return identity{kind: kind, name: name}
	}
	if text, ok := value.Text(element); ok && s.writing == Applying {
		_, quoted := element.(string)
		return identity{text: text, quoted: quoted}
	}
	return identity{}
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
	if id == (identity{}) {
		if i >= len(c.list) {
			return nil, false
		}
		return c.list[i], true
	}
	queue := c.known[id]
	for len(queue) > 0 && c.taken[queue[0]] {
		queue = queue[1:]
	}
	c.known[id] = queue
	if len(queue) == 0 {
		return nil, false
	}
	c.taken[queue[0]] = true
	return c.list[queue[0]], true
}

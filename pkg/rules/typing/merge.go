package typing

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// How deep maps in maps are merged, and how many entries of all of them. Schemas may
// nest without end.
const (
	maxMerged  = 4
	maxEntries = 5 * maxSize
)

// merging is how much of that is left.
type merging struct{ depth, entries int }

// Merge returns the type of a map with all entries of two, of which the second wins:
// maps among the values are merged too. What is no map counts as an empty one.
func Merge(base, over Type) Type {
	m := &merging{maxMerged, maxEntries}
	return m.merged(base.orEmptyMap(), over.orEmptyMap())
}

// orEmptyMap is what can be a map, or an empty one in the place of nil.
func (t Type) orEmptyMap() Type {
	m := t.Only(value.Map)
	if t.CanBeNil() || m.None() {
		return m.or(Map(nil))
	}
	return m
}

// merged is Merge for types that are maps alone.
func (m *merging) merged(base, over Type) Type {
	switch {
	case base.isEmpty():
		return over
	case over.isEmpty(), base.Equal(over):
		return base
	}
	m.entries -= 1 + base.width() + over.width()
	if m.depth == 0 || m.entries < 0 {
		return Of(value.Map)
	}
	b, o := base.entries(), over.entries()
	m.depth--
	defer func() { m.depth++ }()
	all := entries{fields: map[string]entry{}, others: m.under(b.others, o.others)}
	for _, key := range slices.Concat(slices.Sorted(maps.Keys(b.fields)), slices.Sorted(maps.Keys(o.fields))) {
		if _, done := all.fields[key]; !done {
			all.fields[key] = m.under(b.of(key), o.of(key))
		}
	}
	return all.build()
}

// entry is what a map has under a key, apart from whether it has it.
type entry struct {
	value           Type
	absent, omitted bool // omitted by an expression
}

// under is the entry of the merged map where o is that of the map that wins.
func (m *merging) under(e, o entry) entry {
	value := m.covered(e.value, o.value)
	if e.absent {
		value = value.or(o.value)
	}
	if o.absent {
		value = value.or(e.value)
	}
	return entry{value, e.absent && o.absent, e.omitted || o.omitted}
}

// covered is what the merged map has where both have a value.
func (m *merging) covered(base, over Type) Type {
	switch {
	case base.kinds == 0 || over.kinds == 0:
		return Type{}
	case base.unknown && over.kinds&value.Map != 0:
		return over.Only(^value.Map).or(Of(value.Map))
	case base.kinds&over.kinds&value.Map == 0:
		return over
	}
	result := over
	if base.kinds == value.Map {
		result = over.Only(^value.Map)
	}
	return result.or(m.merged(base.Only(value.Map), over.Only(value.Map)))
}

// entries are those of a map: some under keys that are known, and others.
type entries struct {
	fields map[string]entry
	others entry
}

// width is how many fields are known by name, one that several maps have for each.
func (t Type) width() int {
	n := len(t.fields)
	for _, p := range t.parts {
		if p.schema.Map != nil {
			n += len(p.schema.Map.Fields)
		}
	}
	return n
}

func (t Type) isEmpty() bool { return t.width() == 0 && t.others().None() }

func (e entries) of(key string) entry {
	if known, is := e.fields[key]; is {
		return known
	}
	return e.others
}

// build makes a type of entries. It does not tell what is absent from nil.
func (e entries) build() Type {
	fields := make(map[string]Type, len(e.fields))
	for key, field := range e.fields {
		fields[key] = field.value
		switch {
		case field.absent && field.omitted:
			fields[key] = field.value.or(Of(value.Omission))
		case field.absent:
			fields[key] = field.value.Nilable()
		}
	}
	if e.others.value.None() {
		return Map(fields)
	}
	return Map(fields, e.others.value)
}

// entries lists those of a map.
func (t Type) entries() entries {
	e := entries{fields: map[string]entry{}, others: entry{absent: true}}
	for _, key := range t.Names() {
		e.fields[key] = t.named(key)
	}
	e.others.value = t.others()
	return e
}

// others is what a map has under keys that are not known by name.
func (t Type) others() (values Type) {
	if t.values != nil {
		values = t.values.present()
	}
	for _, p := range t.parts {
		switch below := p.schema.Map; {
		case below == nil:
		case below.Open:
			return unknown
		case below.Values != nil:
			values = values.or(fromSchema(below.Values, inPart))
		}
	}
	return values
}

// named is the entry under a key. A map that an expression builds can hold nil, and
// so can a schema say.
func (t Type) named(key string) entry {
	var e entry
	for _, p := range t.parts {
		field, _ := p.field(key)
		f, _ := p.declared(key)
		e.absent = e.absent || field.CanBeNil()
		if !f.Type.Known() || f.Type.Kinds&value.Nil == 0 {
			field = field.NonNil()
		}
		e.value = e.value.or(field)
	}
	if written, is := t.fields[key]; is && !written.unknown && written.kinds&value.Omission != 0 {
		e.absent, e.omitted = true, true
		e.value = e.value.or(written.present())
	} else if t.fields != nil {
		field, possible := t.entry(key)
		field = field.present()
		e.absent = e.absent || field.CanBeNil()
		if possible {
			e.value = e.value.or(field)
		}
	}
	return e
}

package main

import (
	"reflect"
	"slices"
)

// survey is what was seen of the fields of each schema within one kind.
type survey struct {
	world    *world
	required map[string][]string // By schema.
	found    map[string]map[string]*finding
	types    map[string]reflect.Type
	fields   map[reflect.Type][]field // Found once, as they are asked for all the time.
}

// finding is what was seen of a field.
type finding struct {
	always bool   // It was there each time.
	value  string // What it was first.
	same   bool   // It was that each time.
	zero   bool   // It was the zero value at least once.
}

func (f *finding) see(value string, present, zero bool) *finding {
	if f == nil {
		return &finding{always: present, value: value, same: true, zero: zero}
	}
	f.always = f.always && present
	f.same = f.same && f.value == value
	f.zero = f.zero || zero
	return f
}

func newSurvey(w *world, required map[string][]string) *survey {
	return &survey{
		world: w, required: required, found: map[string]map[string]*finding{},
		types: map[string]reflect.Type{}, fields: map[reflect.Type][]field{},
	}
}

func (s *survey) fieldsOf(t reflect.Type) []field {
	if s.fields[t] == nil {
		s.fields[t] = fieldsOf(t)
	}
	return s.fields[t]
}

// kind surveys a kind with all that it contains.
func (s *survey) kind(r root) {
	detached := func(t reflect.Type) {
		if _, done := s.types[model(t)]; !done {
			s.types[model(t)] = t
			s.kind(root{typ: t})
		}
	}
	for _, p := range places(r, detached) {
		at := r.typ
		if len(p) > 0 {
			at, _, _ = structOf(p[len(p)-1].typ)
		}
		s.types[model(at)] = at
		s.place(r, p, at)
	}
}

// place tries all variants at a place. Fields that must be written are set, as they may decide too; each of them is
// also looked at where it is not. A field that was missing once is not looked at again.
func (s *survey) place(r root, p place, at reflect.Type) {
	name := model(at)
	for _, v := range s.world.variants(p, at) {
		var open bool
		for _, f := range s.fieldsOf(at) {
			switch seen := s.found[name][f.name]; {
			case seen != nil && v.depth >= 0 && (!seen.always || f.typ.Kind() == reflect.Struct && !leaf(f.typ)):
			case s.written(name, f):
				s.try(r, p, v, &f, func(other field) bool { return other.name == f.name })
			default:
				open = true
			}
		}
		if open {
			s.try(r, p, v, nil, func(f field) bool { return !s.written(name, f) })
		}
	}
}

// written reports whether a field is set in all objects that are tried.
func (s *survey) written(model string, f field) bool {
	switch f.typ.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return false
	default:
		return slices.Contains(s.required[model], f.name)
	}
}

// try makes an object that has the place, defaults it, and notes what the fields have become that are asked for.
func (s *survey) try(r root, p place, v variant, unset *field, asked func(field) bool) {
	made := reflect.New(r.typ)
	structs, _ := p.structs(made.Elem(), s.complete)
	if v.depth >= 0 {
		v.set(structs[v.depth].FieldByIndex(v.field.index))
	}
	if unset != nil {
		structs[len(p)].FieldByIndex(unset.index).SetZero()
	}
	if r.applyTo != nil {
		r.applyTo(made.Interface())
	}
	structs, ok := p.structs(made.Elem(), nil)
	if !ok {
		return // Defaulting has removed what the place is in.
	}
	at := structs[len(p)]
	seen := s.found[model(at.Type())]
	if seen == nil {
		seen = map[string]*finding{}
		s.found[model(at.Type())] = seen
	}
	for _, f := range s.fieldsOf(at.Type()) {
		if asked(f) && !(v.depth == len(p) && v.field.name == f.name) {
			value, present := f.present(at)
			seen[f.name] = seen[f.name].see(value, present, at.FieldByIndex(f.index).IsZero())
		}
	}
}

// complete sets the fields of a struct that must be written.
func (s *survey) complete(v reflect.Value) {
	name := model(v.Type())
	for _, f := range s.fieldsOf(v.Type()) {
		if s.written(name, f) {
			v.FieldByIndex(f.index).Set(values(f.typ, s.world.enums[name][f.name])[0])
		}
	}
}

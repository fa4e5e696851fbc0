package main

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// variant is an object that differs from the plain one in one field, which may decide over defaults.
type variant struct {
	depth int   // Of the struct that has the field, on the way to a place; -1 for the plain object.
	field field // The field of that struct.
	set   func(v reflect.Value)
}

// variants lists what may decide over the defaults at a place: the fields beside the way there, one at a time.
func (w *world) variants(p place, at reflect.Type) []variant {
	all := []variant{{depth: -1}}
	for depth, t := range append(p.types(), at) {
		next := ""
		if depth < len(p) {
			next = p[depth].name
		}
		for _, f := range fieldsOf(t) {
			if f.name == next || depth == 0 && (f.name == "kind" || f.name == "apiVersion" || f.name == "metadata") {
				continue
			}
			for _, set := range w.alternatives(model(t), f, next) {
				all = append(all, variant{depth: depth, field: f, set: set})
			}
		}
	}
	return all
}

func (p place) types() []reflect.Type {
	var all []reflect.Type
	for _, s := range p {
		all = append(all, s.from)
	}
	return all
}

// alternatives lists what a field can be set to. A field that says which member of a union is there is not set to
// another member than the one on the way: the convention of Kubernetes names the members as its values.
func (w *world) alternatives(name string, f field, member string) []func(reflect.Value) {
	var all []func(reflect.Value)
	texts := w.enums[name][f.name]
	for _, text := range texts {
		if strings.EqualFold(text, member) {
			texts = []string{text}
			break
		}
	}
	for _, v := range values(f.typ, texts) {
		all = append(all, func(at reflect.Value) { at.Set(v) })
	}
	if f.typ.Kind() == reflect.Struct && !leaf(f.typ) {
		for _, inner := range fieldsOf(f.typ) {
			for _, set := range w.alternatives(model(f.typ), inner, "") {
				all = append(all, func(at reflect.Value) { set(at.FieldByIndex(inner.index)) })
			}
		}
	}
	return all
}

// values lists some values of a type other than its zero value.
func values(t reflect.Type, texts []string) []reflect.Value {
	var all []reflect.Value
	add := func(v any) { all = append(all, reflect.ValueOf(v).Convert(t)) }
	switch t.Kind() {
	case reflect.Bool:
		add(true)
	case reflect.String:
		if len(texts) == 0 {
			texts = []string{"x", "y"}
		}
		for _, text := range texts {
			add(text)
		}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		add(1)
		add(2)
	case reflect.Slice, reflect.Map:
		all = append(all, filled(t))
	case reflect.Pointer:
		all = append(all, filled(t))
		for _, v := range values(t.Elem(), texts) {
			p := filled(t)
			p.Elem().Set(v)
			all = append(all, p)
		}
	case reflect.Struct:
		if t == reflect.TypeFor[intstr.IntOrString]() {
			add(intstr.FromInt32(1))
			add(intstr.FromString("x"))
		}
	default:
	}
	return all
}

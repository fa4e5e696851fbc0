package main

import (
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// field is a field of a Go struct as JSON knows it. Those of inlined structs count as fields of the outer one.
type field struct {
	name      string
	index     []int
	typ       reflect.Type
	omitEmpty bool
	omitZero  bool
}

func fieldsOf(t reflect.Type) []field {
	var found []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" && f.Anonymous {
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				found = append(found, inner)
			}
			continue
		}
		one := field{name: name, index: []int{i}, typ: f.Type}
		for option := range strings.SplitSeq(options, ",") {
			one.omitEmpty = one.omitEmpty || option == "omitempty"
			one.omitZero = one.omitZero || option == "omitzero"
		}
		found = append(found, one)
	}
	return found
}

// zeroIsAbsent reports whether the API server keeps no zero value of the field. Lists and maps that are empty come back
// from its storage as none, whether the field is left out then or null.
func (f field) zeroIsAbsent() bool {
	switch f.typ.Kind() {
	case reflect.Slice, reflect.Map:
		return true
	case reflect.Pointer, reflect.Interface:
		return false
	case reflect.Struct:
		return f.omitZero && !leaf(f.typ)
	default:
		return f.omitEmpty || f.omitZero
	}
}

// present returns the JSON of a field of a struct if it is in the JSON of the struct, and not as null.
func (f field) present(of reflect.Value) (string, bool) {
	v := of.FieldByIndex(f.index)
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		if v.IsNil() {
			return "", false
		}
	default:
	}
	if f.omitZero && v.IsZero() || f.omitEmpty && empty(v) {
		return "", false
	}
	data, err := json.Marshal(v.Interface())
	return string(data), err == nil && string(data) != "null"
}

// empty is what encoding/json means by omitempty.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// leaf reports whether a struct encodes itself, and so is no JSON object with its fields.
func leaf(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) || t == reflect.TypeFor[metav1.ObjectMeta]()
}

// structOf returns the struct that a field holds, through pointers, lists and maps, if it holds one with fields.
func structOf(t reflect.Type) (inside reflect.Type, throughMap, ok bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return structOf(t.Elem())
	case reflect.Map:
		inside, _, ok = structOf(t.Elem())
		return inside, true, ok
	case reflect.Struct:
		return t, false, !leaf(t)
	default:
		return nil, false, false
	}
}

// model returns the name of the schema of a struct.
func model(t reflect.Type) string {
	named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		return ""
	}
	return named.OpenAPIModelName()
}

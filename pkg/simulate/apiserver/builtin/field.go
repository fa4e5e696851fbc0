package builtin

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// member is a field of an object's Go type by its path, such as Spec.Selector. The table
// names only fields that are there, which tests hold.
func member(object runtime.Object, path string) reflect.Value {
	value := reflect.ValueOf(object).Elem()
	for name := range strings.SplitSeq(path, ".") {
		value = value.FieldByName(name)
	}
	return value
}

// clearMember sets a field to its zero value.
func clearMember(object runtime.Object, path string) { member(object, path).SetZero() }

// restore gives a field the value that it had.
func restore(object, old runtime.Object, path string) { member(object, path).Set(member(old, path)) }

// differs reports whether one of the fields has another value, where nil and empty are the same.
func differs(object, old runtime.Object, paths []string) bool {
	for _, path := range paths {
		if !equality.Semantic.DeepEqual(member(object, path).Interface(), member(old, path).Interface()) {
			return true
		}
	}
	return false
}

// location is the path of a field as it is written in JSON: the names of Go begin with a
// capital letter, else they are the same in the fields that the table names.
func location(path string) *field.Path {
	var out *field.Path
	for name := range strings.SplitSeq(path, ".") {
		name = strings.ToLower(name[:1]) + name[1:]
		if out == nil {
			out = field.NewPath(name)
		} else {
			out = out.Child(name)
		}
	}
	return out
}

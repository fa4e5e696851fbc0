package apiserver

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// misfits finds the fields of a definition that its type does not have, and values of
// another kind than theirs. A strict decoder would find less: it does not look into the
// schemas of the elements of lists and maps, and does not say in which of a list a
// mistake is.
func misfits(definition map[string]any) []crd.Fault {
	f := fitting{fields: map[reflect.Type]map[string]reflect.Type{}}
	for _, name := range slices.Sorted(maps.Keys(definition)) {
		if name != "status" { // Nobody takes over what an author says there.
			f.field(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition](), name, definition[name], name)
		}
	}
	return f.faults
}

// fitting compares values with types of Go.
type fitting struct {
	faults []crd.Fault
	fields map[reflect.Type]map[string]reflect.Type // of the structs met so far, by name
}

func (f *fitting) add(path string, code document.Code, hint, format string, args ...any) {
	f.faults = append(f.faults, crd.Fault{Path: path, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// value looks at a value that is to be of a type.
func (f *fitting) value(t reflect.Type, v any, path string) {
	t = written(t, v)
	if v == nil || t == nil {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if m, ok := v.(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(m)) {
				f.field(t, name, m[name], path+"."+name)
			}
			return
		}
		f.wrong(path, "a map", v)
	case reflect.Map:
		if m, ok := v.(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(m)) {
				f.value(t.Elem(), m[name], path+"["+name+"]")
			}
			return
		}
		f.wrong(path, "a map", v)
	case reflect.Slice:
		f.list(t, v, path)
	default:
		f.scalar(t.Kind(), v, path)
	}
}

// written returns the type that a value has in a file, nil for any. Some types stand for
// one of several.
func written(t reflect.Type, v any) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, isList := v.([]any)
	_, isMap := v.(map[string]any)
	schema := reflect.TypeFor[apiextensionsv1.JSONSchemaProps]()
	switch t {
	case reflect.TypeFor[apiextensionsv1.JSON](), reflect.TypeFor[metav1.FieldsV1](), reflect.TypeFor[metav1.Time]():
		return nil
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():
		if _, isBool := v.(bool); isBool {
			return nil
		}
		return schema
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():
		if isList {
			return reflect.SliceOf(schema)
		}
		return schema
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray]():
		if isMap {
			return schema
		}
		return reflect.TypeFor[[]string]()
	}
	return t
}

func (f *fitting) list(t reflect.Type, v any, path string) {
	if _, isText := v.(string); isText && t.Elem().Kind() == reflect.Uint8 {
		return
	}
	list, ok := v.([]any)
	if !ok {
		f.wrong(path, "a list", v)
	}
	for i, element := range list {
		f.value(t.Elem(), element, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (f *fitting) field(t reflect.Type, name string, v any, path string) {
	fields := f.fields[t]
	if fields == nil {
		fields = fieldsOf(t)
		f.fields[t] = fields
	}
	if of, known := fields[name]; known {
		f.value(of, v, path)
		return
	}
	hint := ""
	if near := document.Suggest(name, slices.Sorted(maps.Keys(fields))); near != "" {
		hint = "did you mean " + near + "?"
	}
	f.add(path, document.CodeUnknownField, hint, "unknown field %q", name)
}

// fieldsOf returns the types of the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "":
			fields[name] = field.Type
		case field.Anonymous:
			maps.Copy(fields, fieldsOf(field.Type))
		}
	}
	return fields
}

func (f *fitting) scalar(kind reflect.Kind, v any, path string) {
	switch have := kindOf(v); kind {
	case reflect.String:
		if have != "a string" {
			f.wrong(path, "a string", v)
		}
	case reflect.Bool:
		if have != "a boolean" {
			f.wrong(path, "true or false", v)
		}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		if have != "a number" {
			f.wrong(path, "a number", v)
		}
	default: // The decoder knows.
	}
}

func (f *fitting) wrong(path, want string, v any) {
	f.add(path, document.CodeTypeMismatch, "", "want %s, have %s", want, kindOf(v))
}

// kindOf returns what a value of YAML or JSON is called.
func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	default:
		return "a number"
	}
}

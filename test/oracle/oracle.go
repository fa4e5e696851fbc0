// Package oracle tells for tests whether what is said of a value is true.
package oracle

import (
	"reflect"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Admits reports whether all that a type says is true of a value.
func Admits(t typing.Type, v any) bool {
	kind := value.KindOf(v)
	switch constants, known := t.Constants(); {
	case !t.Known():
		return !t.None()
	case t.Kinds()&kind == 0:
		return false
	case known && kind != value.Nil && kind != value.Omission:
		return slices.ContainsFunc(constants, func(c any) bool { return reflect.DeepEqual(c, v) })
	}
	switch v := v.(type) {
	case map[string]any:
		keys := t.Names()
		for key := range v {
			keys = append(keys, key)
		}
		return !slices.ContainsFunc(keys, func(key string) bool { return !Admits(t.At(key), v[key]) })
	case []any:
		return !slices.ContainsFunc(v, func(element any) bool { return !Admits(t.Items(), element) })
	default:
		return true
	}
}

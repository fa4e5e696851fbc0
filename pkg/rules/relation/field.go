package relation

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// stepPattern is a field of an object as a path can name it.
var stepPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// fieldPath reads a path such as spec.nodeName. It leads through maps only, since
// the field that it names is an index.
func fieldPath(written string) (plan.Path, *mistake) {
	path := plan.Path(strings.Split(written, "."))
	for _, step := range path {
		if !stepPattern.MatchString(step) {
			return nil, mistakef("write a path such as spec.nodeName; for more, select otherwise and filter(...)",
				"%q is not a path of fields", value.Excerpt(written)).inKey(written)
		}
	}
	return path, nil
}

func fieldPart(key string, v any, known bool) *mistake {
	if _, wrong := fieldPath(key); wrong != nil || !known {
		return wrong
	}
	switch kind := value.KindOf(v); {
	case kind == value.Nil:
		return mistakef("?? gives a default, and ?? omit() leaves the field out", "the field %s has no value", value.Excerpt(key)).inValue(key)
	case kind&(value.String|value.Number|value.Bool) == 0:
		return mistakef("select otherwise and filter(...)",
			"the field %s can only equal a string, a number or a boolean, have %s", value.Excerpt(key), kind).inValue(key)
	default:
		return nil
	}
}

// askMatchFields never asks for less than was written: a field without a value
// would match objects that lack it.
func askMatchFields(q *plan.Read, v any) (bool, *mistake) {
	written, ok := v.(map[string]any)
	switch {
	case v == nil || ok && len(written) == 0:
		return false, mistakef(emptyHint, "matchFields is empty")
	case !ok:
		return false, mistakef("write {spec.nodeName: node-1}", "matchFields must be a map of fields, have %s", value.KindOf(v))
	}
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if wrong := fieldPart(key, written[key], true); wrong != nil {
			return false, wrong
		}
		path, _ := fieldPath(key) // fieldPart has seen the mistake.
		q.Fields = append(q.Fields, plan.FieldValue{Path: path, Value: written[key]})
	}
	return true, nil
}

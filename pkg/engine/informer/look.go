package informer

import (
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// What is looked up here is what [plan.Read.Matches] looks at.

// textAt is empty where there is no text.
func textAt(path ...string) func(map[string]any) (string, bool) {
	return func(object map[string]any) (string, bool) {
		return plan.Text(object, path...), true
	}
}

// scalar is the same for values that are equal: 1 and 1.0 are.
func scalar(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case int:
		return number(float64(value))
	case int64:
		return number(float64(value))
	case float64:
		return number(value)
	default:
		return "" // Null, and what is not asked for.
	}
}

func number(value float64) string {
	if value == 0 {
		value = 0 // There is a negative zero, which is equal.
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}

// label is empty where it is there and not a text.
func label(key string) func(map[string]any) (string, bool) {
	return func(object map[string]any) (string, bool) {
		value, ok := labelsOf(object)[key]
		text, _ := value.(string)
		return text, ok
	}
}

func hasLabel(key string) func(map[string]any) (string, bool) {
	return func(object map[string]any) (string, bool) {
		_, has := labelsOf(object)[key]
		return strconv.FormatBool(has), true
	}
}

func labelsOf(object map[string]any) map[string]any {
	value, _ := plan.Lookup(object, plan.Path{"metadata", "labels"})
	given, _ := value.(map[string]any)
	return given
}

// controller is the uid of the object's controller.
func controller(object map[string]any) (uid string, ok bool) {
	uid = string(plan.ControllerUID(object))
	return uid, uid != ""
}

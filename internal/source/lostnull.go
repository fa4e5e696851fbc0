package source

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// lostNull is where a null was lost on its way into the cluster, such as
// "spec.rules[0].when", and empty where none was. A client-side apply sends a patch that
// cannot say null, and the API server takes null for nothing where a schema does not
// have it. A condition that is written and empty, which a file refuses, would so become
// none, and match everything.
//
// What was applied is known from the annotation of kubectl. It only counts where it is
// what the object says now, but for nulls: who has changed the object since by other
// means did not mean what was applied then.
func lostNull(u *unstructured.Unstructured) string {
	text := u.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	if !strings.Contains(text, "null") {
		return ""
	}
	var applied map[string]any
	if err := utiljson.Unmarshal([]byte(text), &applied); err != nil {
		return "" // Somebody else has written it.
	}
	if !reflect.DeepEqual(withoutNulls(applied["spec"]), withoutNulls(u.Object["spec"])) {
		return ""
	}
	return firstLost(applied["spec"], u.Object["spec"], "spec")
}

// withoutNulls is a value without the keys that are null. The elements of a list are
// where they are, so they stay.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, element := range value {
			if element != nil {
				out[key] = withoutNulls(element)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = withoutNulls(element)
		}
		return out
	default:
		return value
	}
}

// firstLost is the first place in order at which there was a null, and is nothing now.
// The values are the same but for nulls.
func firstLost(applied, stored any, path string) string {
	switch applied := applied.(type) {
	case map[string]any:
		now, _ := stored.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(applied)) {
			at := path + "." + key
			if _, there := now[key]; applied[key] == nil && !there {
				return at
			}
			if lost := firstLost(applied[key], now[key], at); lost != "" {
				return lost
			}
		}
	case []any:
		now, _ := stored.([]any)
		for i := range min(len(applied), len(now)) {
			if lost := firstLost(applied[i], now[i], fmt.Sprintf("%s[%d]", path, i)); lost != "" {
				return lost
			}
		}
	}
	return ""
}

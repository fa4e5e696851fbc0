package plan

import (
	"maps"
	"math"
	"slices"
	"strconv"
)

// mergePatched returns current with an RFC 7386 patch applied, except that no map
// is made only to remove something from it. What the patch does not change is
// shared with current, and what is new with the patch. Neither is changed: where the
// patch changes nothing, the result is current.
func mergePatched(current any, patch map[string]any) map[string]any {
	before, _ := current.(map[string]any)
	after := before
	own := func() map[string]any {
		if after == nil {
			after = map[string]any{}
		} else if sameMap(before, after) {
			after = maps.Clone(before)
		}
		return after
	}
	for key, value := range patch {
		old, there := before[key]
		switch value := value.(type) {
		case nil:
			if there {
				delete(own(), key)
			}
		case map[string]any:
			was, isMap := old.(map[string]any)
			if !there && onlyRemoves(value) {
				continue
			}
			if below := mergePatched(old, value); !isMap || !sameMap(was, below) {
				own()[key] = below
			}
		default:
			if !there || !Equal(old, value) {
				own()[key] = value
			}
		}
	}
	if after == nil {
		return map[string]any{}
	}
	return after
}

// onlyRemoves reports whether a patch has nothing but nulls, at any depth.
func onlyRemoves(patch map[string]any) bool {
	for _, value := range patch {
		below, isMap := value.(map[string]any)
		if value != nil && (!isMap || !onlyRemoves(below)) {
			return false
		}
	}
	return len(patch) > 0
}

// MergePatch is the smallest RFC 7386 patch that leads from before to after.
func MergePatch(before, after map[string]any) map[string]any {
	return mergePatchOf(changes(Rule{}, before, after))
}

// mergePatchOf is the smallest RFC 7386 patch with the changes between two objects. It cannot write a null, which no merge patch asks for.
func mergePatchOf(changes []Change) map[string]any {
	patch := map[string]any{}
	for _, change := range changes {
		put(patch, change.Path, change.After)
	}
	return patch
}

// put writes a field of a patch, in which all maps above it are its own.
func put(patch map[string]any, path Path, value any) {
	last := len(path) - 1
	for _, step := range path[:last] {
		below, _ := patch[step].(map[string]any)
		if below == nil {
			below = map[string]any{}
			patch[step] = below
		}
		patch = below
	}
	patch[path[last]] = value
}

// nested is the merge patch that writes one field.
func nested(path Path, value any) map[string]any {
	patch := map[string]any{}
	put(patch, path, value)
	return patch
}

// WithField returns an object with another value of a field, or without the field where that is nil.
func WithField(object map[string]any, path Path, value any) map[string]any {
	return mergePatched(object, nested(path, value))
}

// WithoutMetadata returns an object without some fields of its metadata.
func WithoutMetadata(object map[string]any, keys ...string) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, key := range keys {
		delete(metadata, key)
	}
	return replaced(object, Path{"metadata"}, metadata)
}

// replaced returns a copy of an object in which a field has another value.
func replaced(object map[string]any, path Path, value any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, object)
	if below, _ := object[path[0]].(map[string]any); len(path) > 1 {
		value = replaced(below, path[1:], value)
	}
	out[path[0]] = value
	return out
}

// changes lists the fields that differ, deepest first where maps nest; a list
// is one field.
func changes(rule Rule, before, after map[string]any) []Change {
	return appendChanges(nil, rule, nil, before, after)
}

func appendChanges(out []Change, rule Rule, path Path, before, after map[string]any) []Change {
	if sameMap(before, after) {
		return out
	}
	keys := make([]string, 0, len(after))
	for key, value := range after {
		if old, existed := before[key]; !existed || !Equal(old, value) {
			keys = append(keys, key)
		}
	}
	for key := range before {
		if _, exists := after[key]; !exists {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		old, existed := before[key]
		value := after[key]
		oldMap, oldIsMap := old.(map[string]any)
		newMap, newIsMap := value.(map[string]any)
		if oldIsMap && newIsMap || !existed && newIsMap && len(newMap) > 0 {
			out = appendChanges(out, rule, path.child(key), oldMap, newMap)
			continue
		}
		out = append(out, Change{Rule: rule, Path: path.child(key), Before: old, After: value})
	}
	return out
}

// Equal compares JSON values exactly: 1 and 1.0 are the same number, an absent
// key and a null are not the same map.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case int64, int, float64:
		return equalNumbers(a, b)
	default:
		return a == b
	}
}

// equalMaps knows a map from itself at once: two versions of an object share
// all that has not changed.
func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	if sameMap(a, b) {
		return true
	}
	for key, value := range a {
		other, ok := b[key]
		if !ok || !Equal(value, other) {
			return false
		}
	}
	return true
}

// sameMap reports whether both are one map.
func sameMap(a, b map[string]any) bool {
	return a != nil && memory(a) == memory(b)
}

// equalNumbers avoids the rounding of large integers that a conversion to float
// would bring.
func equalNumbers(a, b any) bool {
	x, i, isInt := number(a)
	y, j, areInts := number(b)
	return isInt == areInts && i == j && (isInt || x == y)
}

// number is a whole number as an integer where it is one, and what is no number as NaN.
func number(value any) (f float64, i int64, whole bool) {
	switch value := value.(type) {
	case int64:
		return 0, value, true
	case int:
		return 0, int64(value), true
	case float64:
		if value == math.Trunc(value) && value >= math.MinInt64 && value < math.MaxInt64 {
			return 0, int64(value), true
		}
		return value, 0, false
	default:
		return math.NaN(), 0, false
	}
}

// ScalarText is the same for scalars that are equal, such as 1 and 1.0, and for some that are not, such as 1 and "1". It is
// empty for what is no scalar.
func ScalarText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	}
	switch float, integer, whole := number(value); {
	case whole:
		return strconv.FormatInt(integer, 10)
	case math.IsNaN(float):
		return ""
	default:
		return strconv.FormatFloat(float, 'g', -1, 64)
	}
}

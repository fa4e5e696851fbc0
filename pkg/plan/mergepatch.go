package plan

import (
	"maps"
	"slices"
)

// mergePatched returns current with an RFC 7386 patch applied, except that no map
// is made only to remove something from it. What the patch does not touch is
// shared with current, which is not changed.
func mergePatched(current any, patch map[string]any) map[string]any {
	before, _ := current.(map[string]any)
	after := maps.Clone(before)
	if after == nil {
		after = map[string]any{}
	}
	for key, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(after, key)
		case map[string]any:
			if _, there := before[key]; there || !onlyRemoves(value) {
				after[key] = mergePatched(before[key], value)
			}
		default:
			after[key] = value
		}
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

// mergeDifference is the smallest RFC 7386 patch that leads from before to
// after. It cannot write a null, which no merge patch asks for.
func mergeDifference(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for key, value := range after {
		old, existed := before[key]
		oldMap, oldIsMap := old.(map[string]any)
		newMap, newIsMap := value.(map[string]any)
		switch {
		case existed && Equal(old, value):
		case oldIsMap && newIsMap:
			patch[key] = mergeDifference(oldMap, newMap)
		default:
			patch[key] = value
		}
	}
	for key := range before {
		if _, kept := after[key]; !kept {
			patch[key] = nil
		}
	}
	return patch
}

// changes lists the fields that differ, deepest first where maps nest; a list
// is one field.
func changes(rule Rule, path Path, before, after map[string]any) []Change {
	var out []Change
	keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		old, existed := before[key]
		value, exists := after[key]
		if existed == exists && Equal(old, value) {
			continue
		}
		oldMap, oldIsMap := old.(map[string]any)
		newMap, newIsMap := value.(map[string]any)
		nests := oldIsMap && newIsMap || !existed && newIsMap && len(newMap) > 0
		if nests {
			out = append(out, changes(rule, path.child(key), oldMap, newMap)...)
			continue
		}
		out = append(out, Change{Rule: rule, Path: path.child(key), Before: old, After: value, existed: existed})
	}
	return out
}

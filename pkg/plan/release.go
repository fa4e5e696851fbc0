package plan

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// ReleasePolicy says what becomes of applied fields that a rule gives up.
type ReleasePolicy string

// The policies.
const (
	OrphanFields ReleasePolicy = "Orphan" // ownership is dropped, the values stay
	RemoveFields ReleasePolicy = "Remove" // values that nobody else owns go
)

// Release returns the RFC 6902 patch by which a rule gives an object up without
// changing the values that it applied: its ownership of fields, the controller
// reference to owner, and the marks that it put there when it made or adopted
// the object for owner. The patch is nil where there is nothing to give up.
//
// An empty owner gives up no reference, and the marks whoever they name. The
// entries of managedFields must be at their places in the object, as they are in
// a cache: with other indexes than the API server has, the tests in the patch fail.
func Release(rule Rule, owner types.UID, current map[string]any) []any {
	out := releaseFields(rule.FieldManager(), current)
	out = append(out, releaseOwner(owner, current)...)
	return append(out, releaseMarks(rule, owner, current)...)
}

// GiveUp returns the RFC 6902 patch by which a manager gives up what it has
// applied and body, which it is about to apply, does not have. The values stay,
// where the apply alone would remove those that nobody else owns; what body has
// stays the manager's. The patch is nil where there is nothing to give up.
//
// The entries of managedFields must be at their places, as for [Release].
func GiveUp(manager, subresource string, body, current map[string]any) []any {
	return releaseEntries(manager, current, func(entry map[string]any) (map[string]any, bool) {
		fields := FieldSet(entry)
		if Text(entry, "subresource") != subresource {
			return fields, false
		}
		return kept(fields, body)
	})
}

// releaseFields drops all that the manager has applied.
func releaseFields(manager string, current map[string]any) []any {
	return releaseEntries(manager, current, func(map[string]any) (map[string]any, bool) { return nil, true })
}

// releaseEntries replaces the fields of the manager's entries by what keep returns
// for those of which it says that there is less, and drops what has none left. An
// empty list of entries would leave those of a custom resource alone; a list of one
// empty entry resets them always.
func releaseEntries(manager string, current map[string]any, keep func(entry map[string]any) (fields map[string]any, less bool)) []any {
	path := Path{"metadata", "managedFields"}
	entries := elements(current, path...)
	var out []any
	left := len(entries)
	for i, entry := range slices.Backward(entries) {
		if !appliedBy(entry, manager) {
			continue
		}
		fields, less := keep(entry)
		if !less {
			continue
		}
		at := path.child(strconv.Itoa(i))
		out = append(out, step("test", at.child("manager"), manager), step("test", at.child("operation"), entry["operation"]))
		if len(fields) > 0 {
			out = append(out, step("replace", at.child("fieldsV1"), fields))
			continue
		}
		out = append(out, removal(at))
		left--
	}
	if len(out) == 0 || left > 0 {
		return out
	}
	return append(out, step("test", path, []any{}), step("replace", path, []any{map[string]any{}})) // Nobody else has an entry.
}

// kept cuts a FieldsV1 tree down to what who applies body owns still. It reports
// whether that is less. The tree is not changed, but shared.
func kept(fields map[string]any, body any) (out map[string]any, less bool) {
	out = map[string]any{}
	for name, value := range fields {
		below, _ := value.(map[string]any)
		next, there := itemOf(body, name)
		if !there {
			less = true
			continue
		}
		cut, cuts := kept(below, next)
		out[name] = cut
		less = less || cuts
	}
	return out, less
}

func releaseOwner(owner types.UID, current map[string]any) []any {
	if owner == "" {
		return nil
	}
	path := Path{"metadata", "ownerReferences"}
	var out []any
	for i, reference := range slices.Backward(elements(current, path...)) {
		if isController(reference) && Text(reference, "uid") == string(owner) {
			at := path.child(strconv.Itoa(i))
			out = append(out, step("test", at.child("uid"), string(owner)), removal(at))
		}
	}
	return out
}

// releaseMarks leaves the marks of another rule, or for another owner, alone.
func releaseMarks(rule Rule, owner types.UID, current map[string]any) []any {
	if Label(current, LabelSet) != rule.SetID() || Label(current, LabelRule) != rule.Name ||
		owner != "" && Label(current, LabelOwnerUID) != string(owner) {
		return nil
	}
	var out []any
	for _, at := range []Path{
		{"metadata", "annotations", AdoptedAnnotation},
		{"metadata", "labels", LabelOwnerUID},
		{"metadata", "labels", LabelRule},
		{"metadata", "labels", LabelSet},
	} {
		if _, there := Lookup(current, at); there {
			out = append(out, removal(at))
		}
	}
	return out
}

func step(op string, at Path, value any) map[string]any {
	return map[string]any{"op": op, "path": at.Pointer(), "value": value}
}

func removal(at Path) map[string]any { return map[string]any{"op": "remove", "path": at.Pointer()} }

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
// object must be a whole one: a cache that keeps only our own entries of
// managedFields has other indexes than the API server, and the tests in the
// patch fail.
func Release(rule Rule, owner types.UID, current map[string]any) []any {
	out := releaseFields(rule.FieldManager(), current)
	out = append(out, releaseOwner(owner, current)...)
	return append(out, releaseMarks(rule, owner, current)...)
}

// releaseFields drops what the manager has applied. An empty list would mean
// that managedFields are left alone; a list of one empty entry resets them.
func releaseFields(manager string, current map[string]any) []any {
	path := Path{"metadata", "managedFields"}
	entries := elements(current, path...)
	var out []any
	for i, entry := range slices.Backward(entries) {
		if !appliedBy(entry, manager) {
			continue
		}
		at := path.child(strconv.Itoa(i))
		out = append(out,
			step("test", at.child("manager"), manager),
			step("test", at.child("operation"), entry["operation"]),
			removal(at))
	}
	const stepsPerEntry = 3
	if len(out) == 0 || len(out) < stepsPerEntry*len(entries) {
		return out
	}
	all, _ := lookup(current, path)
	return []any{step("test", path, all), step("replace", path, []any{map[string]any{}})}
}

func releaseOwner(owner types.UID, current map[string]any) []any {
	if owner == "" {
		return nil
	}
	path := Path{"metadata", "ownerReferences"}
	var out []any
	for i, reference := range slices.Backward(elements(current, path...)) {
		if isController(reference) && text(reference, "uid") == string(owner) {
			at := path.child(strconv.Itoa(i))
			out = append(out, step("test", at.child("uid"), string(owner)), removal(at))
		}
	}
	return out
}

// releaseMarks leaves the marks of another rule, or for another owner, alone.
func releaseMarks(rule Rule, owner types.UID, current map[string]any) []any {
	label := func(key string) string { return text(current, "metadata", "labels", key) }
	if label(LabelSet) != rule.SetID() || label(LabelRule) != rule.Name || owner != "" && label(LabelOwnerUID) != string(owner) {
		return nil
	}
	var out []any
	for _, at := range []Path{
		{"metadata", "annotations", AdoptedAnnotation},
		{"metadata", "labels", LabelOwnerUID},
		{"metadata", "labels", LabelRule},
		{"metadata", "labels", LabelSet},
	} {
		if _, there := lookup(current, at); there {
			out = append(out, removal(at))
		}
	}
	return out
}

func step(op string, at Path, value any) map[string]any {
	return map[string]any{"op": op, "path": at.Pointer(), "value": value}
}

func removal(at Path) map[string]any { return map[string]any{"op": "remove", "path": at.Pointer()} }

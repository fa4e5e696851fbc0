package plan

import (
	"maps"
	"slices"
	"strings"
)

// takesOver reports whether entries of former managers in managedFields may keep the apply of a child from removing what body does not
// have: the rule has no entry on an object that is there, another rule made it, or the rule leaves out something of an object that it
// adopted, which its former manager may own too. A cache has entries of rules only, so [Operation.TakeOver] is asked about the live object.
func (o Operation) takesOver(current map[string]any) bool {
	body, _ := o.Body.(map[string]any)
	if current == nil || Label(body, LabelSet) == "" { // No patch may write the mark.
		return false
	}
	former := func(entry map[string]any) bool { return !appliedBy(entry, o.Manager) && OwnsMark(entry) }
	return ownedFields(current, o.Manager, "") == nil || slices.ContainsFunc(elements(current, managedFieldsPath...), former) ||
		Annotation(body, AdoptedAnnotation) != "" && o.givesUp(current)
}

// OwnsMark reports whether an entry of managedFields has the mark of a set, which only those own that have made the child.
func OwnsMark(entry map[string]any) bool {
	_, marked := Lookup(FieldSet(entry), Path{"f:metadata", "f:labels", "f:" + LabelSet})
	return marked
}

// TakeOver returns the RFC 6902 patch of managedFields by which the manager of a child's apply takes over what former managers own of the
// object as it is stored. Then the apply removes what they have left there and body does not have, as after csaupgrade of client-go. The
// patch is nil where there is nothing to take over.
//
// A former manager is one that owns the mark of a set besides the rule: the rule under an earlier name, or a client that has restored the
// object from a backup. All that it owns is taken over, but for finalizers, which are of those who wait for them. Of an object that is
// adopted, all others give up the fields and elements that body has, or that the rule has applied before. What else they own stays
// theirs, and what they own by a subresource, such as an autoscaler does.
func (o Operation) TakeOver(stored map[string]any) []any {
	entries := o.takenOver(stored)
	if entries == nil {
		return nil
	}
	return []any{step("replace", managedFieldsPath, entries)}
}

// takenOver are the entries of managedFields after that, nil where they stay as they are.
func (o Operation) takenOver(stored map[string]any) []any {
	body, _ := o.Body.(map[string]any)
	adopted := Annotation(body, AdoptedAnnotation) != ""
	applied := ownedFields(stored, o.Manager, "")
	own := map[string]any{
		"manager": o.Manager, "operation": "Apply", "apiVersion": o.Target.GVR.GroupVersion().String(), "fieldsType": "FieldsV1",
	}
	all, moved := applied, false
	var out []any
	for _, entry := range elements(stored, managedFieldsPath...) {
		fields := FieldSet(entry)
		var taken, rest map[string]any
		switch {
		case Text(entry, "subresource") != "":
		case appliedBy(entry, o.Manager):
			own = maps.Clone(entry)
			continue
		case OwnsMark(entry):
			taken = fields
			if finalizers, held := Lookup(fields, Path{"f:metadata", "f:finalizers"}); held {
				rest = map[string]any{"f:metadata": map[string]any{"f:finalizers": finalizers}}
				taken = WithField(fields, Path{"f:metadata", "f:finalizers"}, nil)
			}
		case adopted && !isRule(entry):
			taken, rest = shared(fields, body, applied, o.Grain)
		}
		if len(taken) == 0 {
			out = append(out, entry)
			continue
		}
		all, moved = union(all, taken), true
		if len(rest) > 0 {
			left := maps.Clone(entry)
			left["fieldsV1"] = rest
			out = append(out, left)
		}
	}
	if !moved {
		return nil
	}
	own["fieldsV1"] = all
	return append(out, own)
}

// owned is what the manager owns when the apply comes, as a FieldsV1 tree.
func (o Operation) owned(current map[string]any) map[string]any {
	if o.TakesOver {
		if entries := o.takenOver(current); entries != nil {
			current = map[string]any{"metadata": map[string]any{"managedFields": entries}}
		}
	}
	return ownedFields(current, o.Manager, o.Subresource)
}

// withoutEmptied returns a body without the empty maps in which its manager owns something and that the apply would make null, and whether
// that is less. The schema of a custom resource refuses null, each time again. Once they are gone they can be applied as empty ones.
func withoutEmptied(fields map[string]any, body, after any, g Grain) (out any, less bool) {
	out = body
	for name, value := range fields {
		below, _ := value.(map[string]any)
		step, known := stepOf(body, name, g)
		item, there := Lookup(body, Path{step})
		if name == "." || !known || !there || len(below) == 0 {
			continue
		}
		at, _ := stepOf(after, name, g)
		next, _ := Lookup(after, Path{at})
		rest, cut := withoutEmptied(below, item, next, within(g, name))
		left, isMap := rest.(map[string]any)
		_, itself := below["."]
		emptied := isMap && len(left) == 0 && (cut || next == nil && (!itself || len(below) > 1))
		if !cut && !emptied {
			continue
		}
		if !less {
			out, less = shallow(body), true
		}
		if parent, isParent := out.(map[string]any); isParent && emptied {
			delete(parent, step)
		} else {
			out, _ = set(out, step, rest, true)
		}
	}
	return out, less
}

// Reversion returns the RFC 6902 patch by which the entries of managedFields that name a version of the object, such as
// example.com/v1beta1, name another one, whoever made them. Of a manager with an entry in each, the two become one. The patch is nil where
// no entry names the version.
func Reversion(stored map[string]any, from, to string) []any {
	var out []any
	at, moved := map[[3]string]int{}, false // of the entries that name the other version
	for _, entry := range elements(stored, managedFieldsPath...) {
		if Text(entry, "apiVersion") == from {
			entry, moved = maps.Clone(entry), true
			entry["apiVersion"] = to
		}
		key := [3]string{Text(entry, "manager"), Text(entry, "operation"), Text(entry, "subresource")}
		first, twice := at[key]
		switch {
		case Text(entry, "apiVersion") != to:
		case twice:
			one, _ := out[first].(map[string]any)
			entry = maps.Clone(entry)
			entry["fieldsV1"] = union(FieldSet(one), FieldSet(entry))
			out[first] = entry
			continue
		default:
			at[key] = len(out)
		}
		out = append(out, entry)
	}
	if !moved {
		return nil
	}
	return []any{step("replace", managedFieldsPath, out)}
}

// isRule reports whether an entry of managedFields is of what a rule has applied.
func isRule(entry map[string]any) bool {
	return entry["operation"] == "Apply" && strings.HasPrefix(Text(entry, "manager"), FieldManager+"/")
}

// shared divides a FieldsV1 tree into what body has too, with all of an item that body has no more though it was applied, and the rest.
func shared(fields map[string]any, body any, applied map[string]any, g Grain) (both, rest map[string]any) {
	both, rest = map[string]any{}, map[string]any{}
	for name, value := range fields {
		below, _ := value.(map[string]any)
		before, was := applied[name].(map[string]any)
		item, there := itemOf(body, name, g)
		switch {
		case name == "." || there && len(below) == 0 || !there && was:
			both[name] = below
		case !there:
			rest[name] = below
		default:
			common, others := shared(below, item, before, within(g, name))
			if len(common) > 0 {
				both[name] = common
			}
			if len(others) > 0 {
				rest[name] = others
			}
		}
	}
	return both, rest
}

// union joins two FieldsV1 trees, which may be shared.
func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range b {
		above, _ := out[name].(map[string]any)
		below, _ := value.(map[string]any)
		out[name] = union(above, below)
	}
	return out
}

// Former returns the rule's manager that [Operation.TakeOver] takes an object over from, empty where that is another client, or not one
// alone. What the apply would remove after it, the apply of that manager would remove too: a dry run can show that.
func (o Operation) Former(stored map[string]any) (manager string) {
	for _, entry := range elements(stored, managedFieldsPath...) {
		switch {
		case appliedBy(entry, o.Manager):
			return ""
		case OwnsMark(entry):
			if manager != "" || !isRule(entry) {
				return ""
			}
			manager = Text(entry, "manager")
		}
	}
	return manager
}

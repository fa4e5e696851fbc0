package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Stored is what the API server makes of an object before it stores it.
func (o Options) Stored(of Object, object map[string]any) map[string]any {
	if o.Canonical == nil || object == nil {
		return object
	}
	return o.Canonical(of.GVR, object)
}

// same reports whether the API server would store both as one: then to write the
// second in place of the first has no effect.
func (o Options) same(of Object, before, after map[string]any) bool {
	return Equal(before, after) || before != nil && Equal(o.Stored(of, before), o.Stored(of, after))
}

// isApplied reports whether applying body under manager would change nothing:
// the manager owns the fields of body and no others, in the version of the target, and they have these values. An entry in another
// version would keep everybody from applying anything once its CRD has that version no more. The API server knows from the schema which lists are
// merged by key; here the manager's own entry in managedFields says it, so that it is known without a schema too. Who applies
// nothing has no entry.
func (o Options) isApplied(at place, current, body map[string]any, manager string) bool {
	entry := entryOf(current, manager, at.subresource)
	if entry == nil {
		return current != nil && len(body) == 0
	}
	if version := Text(entry, "apiVersion"); version != "" && version != at.target.GVR.GroupVersion().String() {
		return false
	}
	fields := FieldSet(entry)
	after, _, owned := overlaid(fields, current, body, o.grain(at))
	object, _ := after.(map[string]any)
	return owned && o.same(at.target, current, object)
}

// withoutSame leaves out the changes of a wish after which the same is stored as
// before.
func (o Options) withoutSame(w Wish, changed []Change, before, after map[string]any) ([]Change, map[string]any) {
	if o.Canonical == nil || len(changed) == 0 || before == nil {
		return changed, after
	}
	was, is := o.Stored(w.Target, before), o.Stored(w.Target, after)
	if Equal(was, is) {
		return nil, before
	}
	kept, reduced := w.without(changed, before, after, func(change Change) bool { return !change.differs(was, is) })
	if len(kept) == len(changed) || w.Type == JSON {
		return kept, reduced
	}
	// Some do nothing where they are, but make a parent that is stored.
	for _, change := range changed {
		at := o.Stored(w.Target, reduced)
		if Equal(at, is) {
			return kept, reduced
		}
		more := WithField(reduced, change.Path, change.After)
		if !change.differs(was, is) && !Equal(o.Stored(w.Target, more), at) {
			kept, reduced = append(kept, change), more
		}
	}
	if !Equal(o.Stored(w.Target, reduced), is) {
		return changed, after
	}
	return kept, reduced
}

// without leaves out changes of a wish. The steps of a JSON patch may depend on each other, so all or none of them are left out;
// what one writes in vain beside the rest is no change all the same.
func (w Wish) without(changed []Change, before, after map[string]any, drop func(Change) bool) ([]Change, map[string]any) {
	kept := slices.DeleteFunc(slices.Clone(changed), drop)
	if len(kept) == len(changed) || w.Type == JSON && len(kept) > 0 {
		return kept, after
	}
	for _, change := range kept {
		before = WithField(before, change.Path, change.After)
	}
	return kept, before
}

// between is the change of the field between two objects.
func (c Change) between(was, is map[string]any) Change {
	c.Before, _ = Lookup(was, c.Path)
	c.After, _ = Lookup(is, c.Path)
	return c
}

// differs reports whether two objects differ in the field.
func (c Change) differs(was, is map[string]any) bool {
	old, existed := Lookup(was, c.Path)
	value, exists := Lookup(is, c.Path)
	return existed != exists || !Equal(old, value)
}

// changesCurrent reports whether the wish, alone, would change the object as it is.
func (o Options) changesCurrent(w Wish) bool {
	if w.Type == Apply {
		return !o.isApplied(w.place(), w.Current, withoutEmptyMetadata(w.fields()), w.manager())
	}
	return o.reliesOn(w, w.Current)
}

// reliesOn reports whether a wish that changes nothing any more would change
// the object as it is: then another rule's wish in the same request does so.
func (o Options) reliesOn(w Wish, current map[string]any) bool {
	if w.Type == JSON {
		current = w.Current // It counts the elements of lists there.
	}
	alone, err := o.alone(w, current)
	return err == nil && !o.same(w.Target, current, alone)
}

var managedFieldsPath = Path{"metadata", "managedFields"}

// Manager is a field manager as an entry of managedFields names it (KEP-555).
type Manager struct {
	Name        string `json:"manager"`
	Operation   string `json:"operation"`             // Update or Apply
	Subresource string `json:"subresource,omitempty"` // empty for none
	Time        string `json:"time,omitempty"`        // RFC 3339, of its last write; may be empty
}

// FieldSet returns what an entry of managedFields owns, as a tree of FieldsV1 (KEP-555), nil for none. A cache may keep it as a string
// of JSON. The tree may be shared: read only.
func FieldSet(entry map[string]any) map[string]any {
	text, isText := entry["fieldsV1"].(string)
	if !isText {
		tree, _ := entry["fieldsV1"].(map[string]any)
		return tree
	}
	var tree map[string]any
	if err := utiljson.Unmarshal([]byte(text), &tree); err != nil {
		return nil // The API server sends none that is not JSON.
	}
	return tree
}

// Managers lists the field managers that own what is at a path of the object, or something
// below it, as its managedFields say. Of an empty path these are all.
//
// Who has made a map owns the map alone once others have set what was in it. The entry looks
// like that of somebody who owns the map with all that is in it, so it counts only where
// nobody owns more of the path.
func Managers(object map[string]any, path Path) []Manager {
	var out []Manager
	most := 0
	for _, entry := range elements(object, managedFieldsPath...) {
		fields := FieldSet(entry)
		if len(fields) == 0 {
			continue
		}
		steps, owns := owned(fields, object, path)
		if !owns || steps < most {
			continue
		}
		if steps > most {
			out, most = nil, steps
		}
		out = append(out, Manager{
			Name: Text(entry, "manager"), Operation: Text(entry, "operation"),
			Subresource: Text(entry, "subresource"), Time: Text(entry, "time"),
		})
	}
	return out
}

// owned follows a path through a tree of FieldsV1, beside the value that it is about, and
// reports how many steps lead to what is owned. What has nothing below it in the tree may be
// owned as a whole.
func owned(fields map[string]any, value any, path Path) (steps int, owns bool) {
	if len(path) == 0 || len(fields) == 0 {
		return 0, true
	}
	at, _ := Lookup(value, path[:1])
	for name, below := range fields {
		tree, isTree := below.(map[string]any)
		if step, known := stepOf(value, name, nil); !isTree || !known || step != path[0] {
			continue
		}
		if further, is := owned(tree, at, path[1:]); is {
			steps, owns = max(steps, further+1), true
		}
	}
	return steps, owns
}

// stepOf returns the step to the item of a value that a name in a tree of FieldsV1 stands for (KEP-555): "f:" with the key of a map, "k:"
// and "v:" with what tells an element of a list. The API server fills in the defaults of keys that an element lacks; where they are not
// known, the element is meant that may have the key, if no other one has it and it is the only one. Of several it is none.
func stepOf(value any, name string, g Grain) (step string, known bool) {
	kind, key, _ := strings.Cut(name, ":")
	list, isList := value.([]any)
	if !isList {
		return key, kind == "f"
	}
	var wanted any
	if kind != "k" && kind != "v" || utiljson.Unmarshal([]byte(key), &wanted) != nil {
		return "", false
	}
	if kind == "v" {
		at := slices.IndexFunc(list, func(element any) bool { return Equal(element, wanted) })
		return strconv.Itoa(at), at >= 0
	}
	pairs, _ := wanted.(map[string]any)
	has := elementsWith(list, pairs, g, false)
	if len(has) == 0 && g == nil {
		has = elementsWith(list, pairs, nil, true)
	}
	if len(has) != 1 {
		return "", false
	}
	return strconv.Itoa(has[0]), true
}

// elementsWith are the places of the elements of a list that have a key, those with lacking too that lack some of it.
func elementsWith(list []any, key map[string]any, g Grain, lacking bool) (at []int) {
	for i, element := range list {
		fields, isMap := element.(map[string]any)
		if isMap && key != nil && fits(fields, key, g, lacking) {
			at = append(at, i)
		}
	}
	return at
}

func fits(element, key map[string]any, g Grain, lacking bool) bool {
	var defaulted map[string]any
	if g != nil {
		defaulted, _ = g.Key(element)
	}
	for name, value := range key {
		have := element[name]
		if have == nil {
			have = defaulted[name]
		}
		if have == nil && !lacking || have != nil && !Equal(have, value) {
			return false
		}
	}
	return true
}

// within is the grain of the item that a name in a tree of FieldsV1 stands for.
func within(g Grain, name string) Grain {
	if g == nil {
		return nil
	}
	if key, isField := strings.CutPrefix(name, "f:"); isField {
		return g.Below(key)
	}
	return g.Element()
}

// ownedFields returns the FieldsV1 tree of the manager's Apply entry, nil
// where it has none.
func ownedFields(current map[string]any, manager, subresource string) map[string]any {
	return FieldSet(entryOf(current, manager, subresource))
}

// entryOf returns the manager's Apply entry, nil where it has none.
func entryOf(current map[string]any, manager, subresource string) map[string]any {
	for _, entry := range elements(current, managedFieldsPath...) {
		if appliedBy(entry, manager) && Text(entry, "subresource") == subresource {
			return entry
		}
	}
	return nil
}

func appliedBy(entry map[string]any, manager string) bool {
	return entry["manager"] == manager && entry["operation"] == "Apply"
}

// overlaid returns what applying body to a field leaves there, and whether that is another value, as long as the manager owns all
// fields of the body and no others. A field without children in the tree is owned as a whole, or is a map that was applied empty:
// what others put into that is theirs, and who writes to one that is owned as a whole takes it over. Of a list that is merged by
// key or is a set, every element of the body must be there.
func overlaid(fields map[string]any, current, body any, g Grain) (after any, changed, owned bool) {
	_, have := current.(map[string]any)
	if len(fields) == 0 {
		if Equal(current, body) || have && IsEmpty(body) {
			return current, false, true
		}
		return body, true, true
	}
	wanted, isMap := body.(map[string]any)
	list, isList := body.([]any)
	size := len(fields)
	if _, itself := fields["."]; itself { // It is owned, besides what is in it.
		size--
	}
	after = current
	if isMap && !have {
		after, changed = map[string]any{}, true
	}
	after, changed, unowned := withEmptyLists(fields, current, after, changed, wanted, g)
	size += unowned
	if isScalar(body) || len(wanted)+len(list) != size {
		return nil, false, false
	}
	for name, value := range fields {
		if name == "." {
			continue
		}
		below, _ := value.(map[string]any)
		next, given := itemOf(body, name, g)
		step, known := stepOf(after, name, g)
		old, exists := Lookup(after, Path{step})
		if !given || !known || isList && !exists {
			return nil, false, false
		}
		next, differs, owned := overlaid(below, old, next, within(g, name))
		switch {
		case !owned:
			return nil, false, false
		case exists && !differs:
			continue
		case !changed:
			after, changed = shallow(after), true
		}
		after, _ = set(after, step, next, true)
	}
	return after, changed, true
}

// withEmptyLists returns a map with the empty lists of a body that are not there, and how many of its entries nobody owns: a list that is
// merged and has no elements has no manager, whether it is stored or not, nor has a map of such lists. If others have elements in it, it
// says nothing.
func withEmptyLists(fields map[string]any, current, after any, changed bool, body map[string]any, g Grain) (with any, changes bool, unowned int) {
	for key, value := range body {
		list, isList := value.([]any)
		below, isMap := value.(map[string]any)
		_, itself := fields["f:"+key]
		old, exists := Lookup(current, Path{key})
		_, filled := old.([]any)
		of := within(g, "f:"+key)
		next, differs := value, !exists
		switch {
		case itself:
			continue
		case isList && len(list) == 0 && (!exists || IsEmpty(old) || filled && of != nil && !of.WholeList()):
		case isMap && len(below) > 0 && exists && (of == nil || !of.WholeMap()):
			inner, changes, lists := withEmptyLists(nil, old, old, false, below, of)
			if lists < len(below) {
				continue
			}
			next, differs = inner, changes
		default:
			continue
		}
		unowned++
		if !differs {
			continue
		}
		if !changed {
			after, changed = shallow(after), true
		}
		after, _ = set(after, key, next, true)
	}
	return after, changed, unowned
}

// itemOf returns the item of a body that a name in a FieldsV1 tree stands for.
func itemOf(body any, name string, g Grain) (item any, there bool) {
	step, known := stepOf(body, name, g)
	if !known {
		return nil, false
	}
	return Lookup(body, Path{step})
}

// kept cuts a FieldsV1 tree down to what who applies body owns still, and reports whether that is less. The tree is not changed,
// but shared.
func kept(fields map[string]any, body any, g Grain) (out map[string]any, less bool) {
	out = map[string]any{}
	for name, value := range fields {
		below, _ := value.(map[string]any)
		if name == "." { // The item itself, besides what is in it.
			out[name] = below
			continue
		}
		next, there := itemOf(body, name, g)
		if !there {
			less = true
			continue
		}
		cut, cuts := kept(below, next, within(g, name))
		out[name] = cut
		less = less || cuts
	}
	return out, less
}

// withoutEmptyMetadata leaves out of a body what every object has and nobody owns.
func withoutEmptyMetadata(body map[string]any) map[string]any {
	if metadata, isMap := body["metadata"].(map[string]any); !isMap || len(metadata) > 0 {
		return body
	}
	out := maps.Clone(body)
	delete(out, "metadata")
	return out
}

// givesUp reports whether the manager has applied what the operation does not.
// A cache keeps all of its own entries, so the snapshot says it.
func (o Operation) givesUp(current map[string]any) bool {
	_, less := kept(ownedFields(current, o.Manager, o.Subresource), o.Body, o.Grain)
	return less
}

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

// GiveUp returns the RFC 6902 patch by which the manager of an apply gives up what
// it has applied before and the body does not have. The values stay, where the apply
// alone would remove those that nobody else owns; what the body has stays the
// manager's. The patch is nil where there is nothing to give up.
//
// The entries of managedFields must be at their places, as for [Release].
func (o Operation) GiveUp(current map[string]any) []any {
	return o.giveUp(current, func(entry map[string]any) bool { return Text(entry, "subresource") == o.Subresource })
}

// releaseFields drops all that the manager has applied.
func releaseFields(manager string, current map[string]any) []any {
	return Operation{Manager: manager}.giveUp(current, func(map[string]any) bool { return true })
}

// giveUp cuts some of the manager's entries down to what the body has, and drops those of which nothing is left, all without a body. An
// empty list of entries would leave those of a custom resource alone; a list of one
// empty entry resets them always.
func (o Operation) giveUp(current map[string]any, of func(entry map[string]any) bool) (out []any) {
	path := managedFieldsPath
	entries := elements(current, path...)
	left := len(entries)
	for i, entry := range slices.Backward(entries) {
		fields, less := kept(FieldSet(entry), o.Body, o.Grain)
		if !less && o.Body != nil || !appliedBy(entry, o.Manager) || !of(entry) {
			continue
		}
		at := path.child(strconv.Itoa(i))
		out = append(out, step("test", at.child("manager"), o.Manager), step("test", at.child("operation"), entry["operation"]))
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

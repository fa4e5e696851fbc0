package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// RestoreAnnotation keeps what the fields of an object had before rules changed them for a while. The request that changes a field writes
// it, and the request that restores the field removes it.
const RestoreAnnotation = "dyncontroller.dev/restore"

var restorePath = Path{"metadata", "annotations", RestoreAnnotation}

// maxRestore bounds the annotation in bytes. The API server takes 256 KiB for all annotations of an object.
const maxRestore = 64 << 10

// Restoring says that a wish changes fields for a while: as soon as the rule does not ask for a change any more, the field gets back what it
// had before. A field that has another value by then than the rule has written stays as it is.
type Restoring struct {
	// Asked are all merge and JSON patches for a while by which the rule changes the object now, in their order. Where there are none, the
	// wish only restores.
	Asked []Wish
	// Through is how many of them are carried out with this wish. All of them are recorded with the first, before they are sent.
	Through int
	// Unknown says that the rule may ask for more than that: what it does not ask for is not restored.
	Unknown bool
}

// Restores reports whether an object has something to restore for the rule.
func (r Rule) Restores(object map[string]any) bool {
	text := Annotation(object, RestoreAnnotation)
	return text != "" && strings.Contains(text, strconv.Quote(r.qualified()))
}

// Restore is the wish to restore all that a rule has changed of an object for a while.
func Restore(rule Rule, target Object, current map[string]any) Wish {
	return Wish{Rule: rule, Action: Afterwards, Target: target, Current: current, Type: Merge, Body: map[string]any{}, Restoring: &Restoring{}}
}

// original is a field that a rule has changed for a while. Before is what others have made it, and Written what the rule did, each nil
// where the field is absent.
type original struct {
	Path    Path `json:"path"` // its steps are as in FieldsV1 (KEP-555)
	Before  *any `json:"before,omitempty"`
	Written *any `json:"written,omitempty"`
}

// originals are those of an object, by the name of the rule.
type originals map[string][]original

// originalsOf reads the annotation of an object. Who may write the annotation may write the object, but not what no rule may write.
func originalsOf(object map[string]any) (originals, error) {
	text := Annotation(object, RestoreAnnotation)
	if text == "" {
		return nil, nil
	}
	var out originals
	if err := utiljson.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("the annotation %s cannot be read; remove it to give up what it has recorded: %w", RestoreAnnotation, err)
	}
	for name, all := range out {
		out[name] = slices.DeleteFunc(all, func(o original) bool {
			var plain Path
			for _, step := range o.Path {
				plain = append(plain, strings.TrimPrefix(step, "f:"))
			}
			overlaps := func(path Path) bool { return plain.hasPrefix(path) || path.hasPrefix(plain) }
			return slices.ContainsFunc(identityAndServers, overlaps) || plain.hasPrefix(restorePath)
		})
	}
	return out, nil
}

// names are those of the rules, in order.
func (o originals) names() []string { return slices.Sorted(maps.Keys(o)) }

// rebased are the fields of a rule, of which those that another rule changes too are given what others have made of the object by now. What
// others have decided since is left.
func rebased(fields, changed []original, foreign any, g Grain) (out []original) {
	var shared []original
	for _, field := range fields {
		if slices.ContainsFunc(changed, func(other original) bool { return field.overlaps(other.Path) }) {
			shared = append(shared, field)
		} else {
			out = append(out, field)
		}
	}
	again := originals{"": shared}.redone(foreign, g)
	return differences(out, nil, &foreign, &again, g)
}

// undone is the object as it would be if no rule had changed it for a while. What a rule has removed, and another client has made anew, is as
// that client wants it, and has nothing of before. It is not known who has made what is partly of a rule.
func (o originals) undone(object any, g Grain, partly func(name string, field original) bool) any {
	for _, name := range slices.Backward(o.names()) {
		for _, field := range slices.Backward(o[name]) {
			now := found(object, field.Path, g)
			if field.Written == nil && now != nil && !IsEmpty(*now) && !o.shared(name, field) && !partly(name, field) {
				continue
			}
			object, _ = turned(object, true, field.Path, field.Written, field.Before, g)
		}
	}
	return object
}

// shared reports whether another rule has changed the field too.
func (o originals) shared(name string, field original) bool {
	for other, fields := range o {
		if other != name && slices.ContainsFunc(fields, func(of original) bool { return of.overlaps(field.Path) }) {
			return true
		}
	}
	return false
}

// decided reports whether others have decided about all of a field that only this rule has changed, which may be gone. One that is not changes
// the field again.
func (o originals) decided(name string, field original, object any, g Grain) bool {
	before, _ := turned(object, true, field.Path, field.Written, field.Before, g)
	return !o.shared(name, field) && Equal(before, object)
}

// redone changes an object again as the rules have changed it.
func (o originals) redone(object any, g Grain) any {
	for _, name := range o.names() {
		for _, field := range o[name] {
			object, _ = turned(object, true, field.Path, field.Before, field.Written, g)
		}
	}
	return object
}

// restoring returns an object after a wish that changes fields for a while: what all other rules have changed for a while stays, what this
// one asks for is made so, and the rest is as others have made it. Positions in lists are of the object as it was read.
func (o Options) restoring(w Wish, current map[string]any) (map[string]any, error) {
	g, name := o.grain(w.place()), w.Rule.qualified()
	kept, err := originalsOf(current)
	if err != nil {
		return nil, err
	}
	others := originals{}
	maps.Copy(others, kept)
	delete(others, name)
	partly := func(of string, field original) bool { return of == name && w.changes(field, g) > 1 }
	foreign := kept.undone(withoutRecord(current), g, partly)
	wanted := withoutRecord(w.Current)
	read := draftedObject{current: wanted, asked: wanted, positions: positionsOf(wanted)}
	var asked, now []Path // now is what is made so with this wish, or was by an earlier one
	for i, wish := range w.Restoring.Asked {
		for _, c := range wish.claims(g) {
			path := c.steps(w.Current, g)
			asked = append(asked, path)
			if i < w.Restoring.Through || slices.ContainsFunc(kept[name], func(field original) bool { return field.overlaps(path) }) {
				now = append(now, path)
			}
		}
		read.positions.begin(wish.Rule)
		wish.Body = withoutRepeated(wish.Body, wanted, kept[name])
		next, asks, sent, err := read.follow(o, wish, wanted)
		if err != nil {
			return nil, err
		}
		read.ask(wish, sent, wanted, asks)
		wanted = next
	}
	made := func(object any, asked []Path) any {
		for _, path := range asked {
			object, _ = placed(object, true, path, found(wanted, path, g), g)
		}
		return object
	}
	own, _ := made(foreign, asked).(map[string]any) // without what other rules have changed
	for other, fields := range others {
		others[other] = slices.DeleteFunc(slices.Clone(fields), func(field original) bool {
			return slices.ContainsFunc(asked, field.overlaps) && kept.decided(other, field, withoutRecord(current), g)
		})
	}
	all := slices.DeleteFunc(differences(nil, nil, &foreign, new(any(o.Stored(w.Target, own))), g), func(field original) bool {
		return !slices.ContainsFunc(asked, field.overlaps)
	})
	markEmptied(all, asked)
	for name, fields := range others {
		others[name] = rebased(fields, all, foreign, g)
	}
	after := made(others.redone(foreign, g), now)
	if w.Restoring.Unknown {
		var unknown []original
		for _, field := range kept[name] {
			if !slices.ContainsFunc(all, func(other original) bool { return field.overlaps(other.Path) }) {
				unknown = append(unknown, field)
			}
		}
		after, all = originals{name: unknown}.redone(after, g), append(all, unknown...)
	}
	others[name] = all
	for _, fields := range []originals{kept, others} {
		for _, all := range fields {
			for _, field := range all {
				after = inOrderOf(current, after, field.Path, g)
			}
		}
	}
	object, _ := after.(map[string]any)
	return others.recorded(object)
}

// changes is how many of the patches for a while change a field. Only the first of several may have been carried out.
func (w Wish) changes(field original, g Grain) (n int) {
	for _, wish := range w.Restoring.Asked {
		if slices.ContainsFunc(wish.claims(g), func(c claim) bool { return field.overlaps(c.steps(w.Current, g)) }) {
			n++
		}
	}
	return n
}

// markEmptied tells maps and lists of which a rule removes what is in them from those that it removes: the API server may store an empty one as
// none.
func markEmptied(fields []original, asked []Path) {
	for i, field := range fields {
		if field.Written == nil && !slices.ContainsFunc(asked, func(path Path) bool { return field.Path.hasPrefix(path) }) {
			fields[i].Written = new(orEmpty(nil, *field.Before))
		}
	}
}

// withoutRecord is an object without the annotation, which is nothing that a rule changes for a while.
func withoutRecord(object map[string]any) map[string]any {
	if Annotation(object, RestoreAnnotation) == "" {
		return object
	}
	return withoutNewEmpty(map[string]any{}, WithField(object, restorePath, nil))
}

// markRestored marks the changes that a wish for a while does not ask for.
func (w Wish) markRestored(changed []Change) {
	if w.Restoring == nil {
		return
	}
	var asked []Path
	for _, wish := range w.Restoring.Asked {
		for _, c := range wish.claims(nil) {
			asked = append(asked, c.path)
		}
	}
	for i, change := range changed {
		changed[i].Restored = !slices.Equal(change.Path, restorePath) && !slices.ContainsFunc(asked, func(path Path) bool {
			return path.hasPrefix(change.Path) || change.Path.hasPrefix(path)
		})
	}
}

// recorded is an object without the annotation with it, if there are originals.
func (o originals) recorded(object map[string]any) (map[string]any, error) {
	for name, all := range o {
		if len(all) == 0 {
			delete(o, name)
		}
		slices.SortFunc(all, func(a, b original) int { return slices.Compare(a.Path, b.Path) })
	}
	if len(o) == 0 {
		return object, nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("writing what the fields had before: %w", err)
	}
	if len(text) > maxRestore {
		return nil, fmt.Errorf("what the fields had before takes %d bytes, and an object keeps at most %d", len(text), maxRestore)
	}
	return WithField(object, restorePath, string(text)), nil
}

// withoutRepeated leaves out the removals of a JSON patch that have been carried out already.
func withoutRepeated(body any, current map[string]any, kept []original) any {
	steps, isJSON := body.([]any)
	if !isJSON {
		return body
	}
	return slices.DeleteFunc(slices.Clone(steps), func(step any) bool {
		operation, _ := step.(map[string]any)
		path, _ := ParsePointer(Text(operation, "path"))
		_, there := Lookup(current, path)
		return operation["op"] == "remove" && !there && slices.ContainsFunc(kept, func(field original) bool {
			return field.Written == nil && slices.Equal(field.Path, fieldsV1(path))
		})
	})
}

// fieldsV1 is a path through maps with steps as in FieldsV1.
func fieldsV1(path Path) (out Path) {
	for _, key := range path {
		out = append(out, "f:"+key)
	}
	return out
}

// steps is the path of a claim with steps as in FieldsV1. It ends at a list whose elements have no keys.
func (c claim) steps(value any, g Grain) (out Path) {
	for _, step := range c.path {
		name := "f:" + step
		if _, isList := value.([]any); isList {
			if name = step; !strings.HasPrefix(step, "k:") {
				return out
			}
			step, _ = stepOf(value, step, g)
		}
		value, _ = Lookup(value, Path{step})
		out, g = append(out, name), within(g, name)
	}
	if c.inserted && g != nil && !g.WholeList() {
		if name, hasStep := elementStep(c.value, g); hasStep {
			out = append(out, name)
		}
	}
	return out
}

// found is what a path with steps as in FieldsV1 leads to, nil where that is absent.
func found(value any, path Path, g Grain) *any {
	for _, name := range path {
		step, known := stepOf(value, name, g)
		next, there := Lookup(value, Path{step})
		if !known || !there {
			return nil
		}
		value, g = next, within(g, name)
	}
	return &value
}

// overlaps reports whether a path leads to the field, into it, or to what is around it.
func (o original) overlaps(path Path) bool { return path.hasPrefix(o.Path) || o.Path.hasPrefix(path) }

// item is what a key of a map leads to, nil where it is absent.
func item(fields map[string]any, key string) *any {
	if value, there := fields[key]; there {
		return &value
	}
	return nil
}

// is reports whether a value is there, and equals another, or both are absent. The API server may store an empty map or list as absent.
func is(value any, there bool, other *any) bool {
	there = there && !IsEmpty(value)
	return there == (other != nil && !IsEmpty(*other)) && (!there || Equal(value, *other))
}

// differences appends the fields that differ between two values, each nil where it is absent: fields of maps, and elements of lists that are
// merged. Other lists and maps are one field.
func differences(out []original, path Path, before, after *any, g Grain) []original {
	if before == nil || after == nil {
		if before == nil && after == nil {
			return out
		}
		return append(out, original{path, before, after})
	}
	if Equal(*before, *after) {
		return out
	}
	was, is, ok := parts(*before, *after, g)
	n := len(out)
	if ok && len(is) > 0 { // What is emptied may be gone then.
		for _, step := range slices.Sorted(maps.Keys(joinedKeys(was, is))) {
			out = differences(out, path.child(step), item(was, step), item(is, step), within(g, step))
		}
	}
	if len(out) == n { // Or the order differs, or nothing is known of the list.
		out = append(out, original{path, before, after})
	}
	return out
}

func joinedKeys(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		return b
	}
	maps.Copy(out, b)
	return out
}

// parts are what two maps or lists consist of, by the steps of FieldsV1. It is not ok where a list is owned as a whole, or where an element has
// no step of its own.
func parts(a, b any, g Grain) (one, other map[string]any, ok bool) {
	fields, isMap := a.(map[string]any)
	others, areMaps := b.(map[string]any)
	list, isList := a.([]any)
	second, areLists := b.([]any)
	switch {
	case isMap && areMaps: // A merge and a JSON patch write the keys of an atomic map, too.
		return fieldsBySteps(fields), fieldsBySteps(others), true
	case isList && areLists && g != nil && !g.WholeList():
		one, ok = elementsBySteps(list, g)
		other, also := elementsBySteps(second, g)
		return one, other, ok && also
	default:
		return nil, nil, false
	}
}

func fieldsBySteps(fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for key, value := range fields {
		out["f:"+key] = value
	}
	return out
}

func elementsBySteps(list []any, g Grain) (out map[string]any, ok bool) {
	out = make(map[string]any, len(list))
	for _, element := range list {
		step, hasStep := elementStep(element, g)
		if _, twice := out[step]; !hasStep || twice {
			return nil, false
		}
		out[step] = element
	}
	return out, true
}

// elementStep is the step to an element of a merged list, by its key or by its value.
func elementStep(element any, g Grain) (step string, ok bool) {
	if g == nil {
		return "", false
	}
	if step, ok = keyOf(element, g); ok || !isScalar(element) {
		return step, ok
	}
	text, err := json.Marshal(element)
	return "v:" + string(text), err == nil
}

// turned returns a value in which a field that is as in from is as in to. Of a map or a merged list each part is by itself. What others have
// made of it stays.
func turned(value any, there bool, path Path, from, to *any, g Grain) (any, bool) {
	if len(path) == 0 {
		return turnedValue(value, there, from, to, g)
	}
	return below(value, there, path, g, false, func(value any, there bool, g Grain) (any, bool) {
		return turned(value, there, path[1:], from, to, g)
	})
}

// placed returns a value in which a field is as in to.
func placed(value any, there bool, path Path, to *any, g Grain) (any, bool) {
	if len(path) == 0 {
		if to == nil {
			return nil, false
		}
		return *to, true
	}
	return below(value, there, path, g, true, func(value any, there bool, g Grain) (any, bool) {
		return placed(value, there, path[1:], to, g)
	})
}

// below changes what the first step of a path leads to. Maps around it are made if they are not there and may be made.
func below(value any, there bool, path Path, g Grain, makes bool, change func(any, bool, Grain) (any, bool)) (any, bool) {
	name := path[0]
	next := within(g, name)
	key, isField := strings.CutPrefix(name, "f:")
	list, isList := value.([]any)
	fields, isMap := value.(map[string]any)
	switch {
	case isField && (isMap || makes && (!there || value == nil)):
		old, has := fields[key]
		item, stays := change(old, has, next)
		if !has && !stays {
			return value, there
		}
		out := maps.Clone(fields)
		if out == nil {
			out = map[string]any{}
		}
		if out[key] = item; !stays {
			delete(out, key)
		}
		return out, true
	case !isField && (isList || makes && (!there || value == nil)):
		step, known := stepOf(list, name, g)
		if !known {
			if len(path) > 1 {
				return value, there // The element is gone.
			}
			item, stays := change(nil, false, next)
			if !stays {
				return value, there
			}
			return withElement(list, item, name, g), true
		}
		at, _ := strconv.Atoi(step)
		out := slices.Clone(list)
		item, stays := change(list[at], true, next)
		if out[at] = item; !stays {
			out = slices.Delete(out, at, at+1)
		}
		return out, true
	default:
		return value, there
	}
}

// withElement adds an element to a list by its key, unless it has another one, or the list has the key: of two that have it, none is meant.
func withElement(list []any, element any, name string, g Grain) []any {
	has := func(element any) bool {
		step, ok := elementStep(element, g)
		return ok && step == name
	}
	if !has(element) || slices.ContainsFunc(list, has) {
		return list
	}
	return append(slices.Clip(list), element)
}

func turnedValue(value any, there bool, from, to *any, g Grain) (any, bool) {
	if is(value, there, from) {
		if to == nil {
			return nil, false
		}
		return *to, true
	}
	was, will, ok := parts(orEmpty(from, value), orEmpty(to, value), g)
	if _, _, fits := parts(value, orEmpty(from, value), g); !there || !ok || !fits {
		return value, there
	}
	out := value
	for _, step := range slices.Sorted(maps.Keys(joinedKeys(was, will))) {
		out, _ = turned(out, true, Path{step}, item(was, step), item(will, step), g)
	}
	return out, to != nil || !IsEmpty(out) || IsEmpty(value)
}

// inOrderOf returns a value in which the elements of the merged lists that a path leads through have the order of another value, with new ones
// after them.
func inOrderOf(other, value any, path Path, g Grain) any {
	if len(path) == 0 {
		return value
	}
	if list, isList := value.([]any); isList {
		before, _ := other.([]any)
		place := func(element any) int {
			if step, hasStep := elementStep(element, g); hasStep {
				if at, known := stepOf(before, step, g); known {
					n, _ := strconv.Atoi(at)
					return n
				}
			}
			return len(before)
		}
		inOrder := func(a, b any) int { return cmp.Compare(place(a), place(b)) }
		if !slices.IsSortedFunc(list, inOrder) {
			list = slices.Clone(list)
			slices.SortStableFunc(list, inOrder)
			value = list
		}
	}
	at, known := stepOf(other, path[0], g)
	before, _ := Lookup(other, Path{at})
	if !known {
		return value
	}
	value, _ = below(value, true, path, g, false, func(value any, there bool, g Grain) (any, bool) {
		return inOrderOf(before, value, path[1:], g), there
	})
	return value
}

// orEmpty is what a pointer leads to, or an empty value of the kind of another.
func orEmpty(value *any, like any) any {
	if value != nil {
		return *value
	}
	if _, isList := like.([]any); isList {
		return []any{}
	}
	return map[string]any{}
}

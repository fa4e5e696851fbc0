package plan

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
)

// Mark identifies a change, or an apply as a whole, together with what it
// found. It depends on neither the version of the object nor on what else is
// written with it: an unrelated change does not make a write effective that
// was not.
type Mark [sha256.Size]byte

// Marks is a set of them.
type Marks map[Mark]bool

// Has reports whether all the others are among them.
func (m Marks) Has(others Marks) bool {
	for mark := range others {
		if !m[mark] {
			return false
		}
	}
	return true
}

func markOf(parts ...any) Mark {
	// All of it came from JSON, so it can be encoded, with keys in order.
	data, _ := json.Marshal(parts)
	return sha256.Sum256(data)
}

func (c Change) mark(at place) Mark {
	return markOf(at.target.lasting(), at.subresource, c.Rule, c.Path, c.Before, c.After)
}

// isWhole reports whether the operation has an effect or has none, rather than
// each of its changes: of an apply, ownership may be the only one.
func (o Operation) isWhole() bool { return o.Type == Apply || o.Type == Create || o.Type == Delete }

// wholeMark stands for all that such an operation does.
func (o Operation) wholeMark() Mark {
	before := make([]any, len(o.Changes))
	for i, change := range o.Changes {
		before[i] = change.Before
	}
	return markOf(o.Target.lasting(), o.Subresource, o.Type, o.Manager, o.Body, before)
}

// lasting is what of an object's identity stays when it changes. What is not
// there yet has a name at most.
func (o Object) lasting() any {
	if o.UID != "" {
		return o.UID
	}
	return o
}

// Ineffective returns what of the operation had no effect, given the object
// that came back: fields that are as they were, and an apply that left the
// resourceVersion alone. A create and a deletion that are accepted have an
// effect; what is gone at once still shows its last version.
func (o Operation) Ineffective(object map[string]any) (Marks, []Change) {
	marks := Marks{}
	var unchanged []Change
	if o.isWhole() {
		version := Text(object, "metadata", "resourceVersion")
		if o.Type == Apply && version == o.Target.ResourceVersion {
			return Marks{o.wholeMark(): true}, o.Changes
		}
		return marks, nil
	}
	if o.answeredByAnother(object) {
		if Text(object, "metadata", "resourceVersion") == o.Target.ResourceVersion {
			return o.All(), o.Changes
		}
		return marks, nil
	}
	for _, change := range o.Changes {
		value, found := Lookup(object, change.Path)
		if found == change.existed && Equal(value, change.Before) {
			marks[change.mark(place{o.Target, o.Subresource})] = true
			unchanged = append(unchanged, change)
		}
	}
	return marks, unchanged
}

// All returns the marks of everything that the operation changes, for a writer
// that stores nothing.
func (o Operation) All() Marks {
	if o.isWhole() {
		return Marks{o.wholeMark(): true}
	}
	marks := Marks{}
	for _, change := range o.Changes {
		marks[change.mark(place{o.Target, o.Subresource})] = true
	}
	return marks
}

// unlessKnown drops an operation that is known to have no effect.
func (b builder) unlessKnown(operation *Operation) *Operation {
	if len(b.known) == 0 {
		return operation
	}
	if mark := operation.wholeMark(); b.known[mark] {
		b.met[mark] = true
		return nil
	}
	return operation
}

// withoutIneffective leaves out the changes of a wish that are known to have
// no effect. Of a JSON patch all or none are left out, since its steps may
// depend on each other.
func (w Wish) withoutIneffective(changed []Change, before, after map[string]any, known, met Marks) ([]Change, map[string]any) {
	if len(known) == 0 {
		return changed, after // Marks are digests, which take longer than all the rest.
	}
	var kept []Change
	for _, change := range changed {
		if mark := change.mark(w.place()); known[mark] {
			met[mark] = true
		} else {
			kept = append(kept, change)
		}
	}
	switch {
	case len(kept) == len(changed) || w.Type == JSON && len(kept) > 0:
		return changed, after
	case w.Type == JSON:
		return nil, before
	}
	after = before
	for _, change := range kept {
		after = mergePatched(after, nested(change.Path, change.After))
	}
	return kept, after
}

// nested is the merge patch that writes one field.
func nested(path Path, value any) map[string]any {
	patch := map[string]any{path[len(path)-1]: value}
	for _, step := range slices.Backward(path[:len(path)-1]) {
		patch = map[string]any{step: patch}
	}
	return patch
}

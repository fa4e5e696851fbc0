package plan

import (
	"crypto/sha256"
	"encoding/json"
)

// Mark identifies a change, or an apply as a whole, together with what it
// found. It depends on neither the version of the object nor on what else is
// written with it: an unrelated change does not make a write effective that
// was not.
type Mark [sha256.Size]byte

// Marks is a set of them.
type Marks map[Mark]bool

func markOf(parts ...any) Mark {
	// All of it came from JSON, so it can be encoded, with keys in order.
	data, _ := json.Marshal(parts)
	return sha256.Sum256(data)
}

func (c Change) mark(at place) Mark {
	return markOf(at.target.UID, at.subresource, c.Rule, c.Path, c.Before, c.After)
}

// applyMark stands for all changes of an apply: ownership may be the only one.
func (o Operation) applyMark() Mark {
	before := make([]any, len(o.Changes))
	for i, change := range o.Changes {
		before[i] = change.Before
	}
	return markOf(o.Target.UID, o.Subresource, o.Manager, o.Body, before)
}

// Ineffective returns what of the operation had no effect, given the object
// that came back: fields that are as they were, and an apply that left the
// resourceVersion alone.
func (o Operation) Ineffective(object map[string]any) (Marks, []Path) {
	marks := Marks{}
	var paths []Path
	if o.Type == Apply {
		version, _ := lookup(object, Path{"metadata", "resourceVersion"})
		if version == o.Target.ResourceVersion {
			return Marks{o.applyMark(): true}, o.Paths()
		}
		return marks, nil
	}
	for _, change := range o.Changes {
		value, found := lookup(object, change.Path)
		if found == change.existed && equal(value, change.Before) {
			marks[change.mark(place{o.Target, o.Subresource})] = true
			paths = append(paths, change.Path)
		}
	}
	return marks, paths
}

// All returns the marks of everything that the operation changes, for a writer
// that stores nothing.
func (o Operation) All() Marks {
	if o.Type == Apply {
		return Marks{o.applyMark(): true}
	}
	marks := Marks{}
	for _, change := range o.Changes {
		marks[change.mark(place{o.Target, o.Subresource})] = true
	}
	return marks
}

// withoutIneffective takes back the changes of a wish that are known to have no
// effect. Of a JSON patch all or none are taken back, since its steps may
// depend on each other.
func (w Wish) withoutIneffective(changed []Change, after map[string]any, known, met Marks) ([]Change, map[string]any) {
	var kept []Change
	for _, change := range changed {
		if mark := change.mark(w.place()); known[mark] {
			met[mark] = true
		} else {
			kept = append(kept, change)
		}
	}
	if len(kept) == len(changed) || w.Type == JSON && len(kept) > 0 {
		return changed, after
	}
	for _, change := range changed {
		if met[change.mark(w.place())] {
			after = restored(after, change.Path, change)
		}
	}
	return kept, after
}

// restored returns the object with one change undone; object is not changed.
// The path leads through maps only, as the paths of changes do.
func restored(object map[string]any, path Path, change Change) map[string]any {
	patch := map[string]any{}
	at := patch
	for _, step := range path[:len(path)-1] {
		next := map[string]any{}
		at[step] = next
		at = next
	}
	last := path[len(path)-1]
	if !change.existed {
		at[last] = nil
	} else {
		at[last] = change.Before
	}
	return mergePatched(object, patch)
}

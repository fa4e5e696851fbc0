package footprint

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Footprint is what a rule, or several, can do to each resource. The zero
// Footprint does nothing. It may be shared once nobody adds to it any more.
type Footprint struct {
	access map[schema.GroupVersionResource]*Access
}

// Access is what can be done to one resource.
type Access struct {
	Resource schema.GroupVersionResource
	// Name is what users call the resource.
	Name string
	// Reads and Writes are fields of its objects. Reads also has what only decides
	// which objects are meant.
	Reads, Writes Tree
	// Keeps are fields that a cache keeps besides, since it depends on them how what is written is recorded.
	Keeps Tree
	verbs map[Verb]struct{}
}

// Verb is a verb of RBAC, as patch, of a resource or of a subresource.
type Verb struct{ Name, Subresource string }

// String writes the verb as "patch", or "patch/status" for a subresource.
func (v Verb) String() string {
	if v.Subresource == "" {
		return v.Name
	}
	return v.Name + "/" + v.Subresource
}

// Of returns the access to a resource, to add to. Of several names that a resource
// is given, the first in alphabetical order stays.
func (f *Footprint) Of(resource schema.GroupVersionResource, name string) *Access {
	a := f.access[resource]
	if a == nil {
		a = &Access{Resource: resource, Name: name}
		if f.access == nil {
			f.access = map[schema.GroupVersionResource]*Access{}
		}
		f.access[resource] = a
	}
	a.Name = min(a.Name, name)
	return a
}

// Lookup returns the access to a resource, nil where there is none.
func (f *Footprint) Lookup(resource schema.GroupVersionResource) *Access { return f.access[resource] }

// Merge adds all of other.
func (f *Footprint) Merge(other *Footprint) {
	for resource, from := range other.access {
		a := f.Of(resource, from.Name)
		a.Reads.Merge(&from.Reads)
		a.Writes.Merge(&from.Writes)
		a.Keeps.Merge(&from.Keeps)
		for v := range from.verbs {
			a.Allow(v.Name, v.Subresource)
		}
	}
}

// All returns the accesses ordered by group, resource and version.
func (f *Footprint) All() []*Access {
	return slices.SortedFunc(maps.Values(f.access), func(a, b *Access) int {
		return cmp.Or(
			cmp.Compare(a.Resource.Group, b.Resource.Group),
			cmp.Compare(a.Resource.Resource, b.Resource.Resource),
			cmp.Compare(a.Resource.Version, b.Resource.Version),
		)
	})
}

// Reading returns the accesses to which trees of reads belong, in their order. Trees of
// another footprint are passed over.
func (f *Footprint) Reading(trees []*Tree) (out []*Access) {
	owners := make(map[*Tree]*Access, len(f.access))
	for _, a := range f.access {
		owners[&a.Reads] = a
	}
	for _, tree := range trees {
		if owner := owners[tree]; owner != nil {
			out = append(out, owner)
		}
	}
	return out
}

// Allow adds a verb; subresource is "" for the resource itself.
func (a *Access) Allow(verb, subresource string) {
	if a.verbs == nil {
		a.verbs = map[Verb]struct{}{}
	}
	a.verbs[Verb{verb, subresource}] = struct{}{}
}

// Writable reports whether something can be changed.
func (a *Access) Writable() bool {
	for v := range a.verbs {
		if !slices.Contains([]string{"get", "list", "watch"}, v.Name) {
			return true
		}
	}
	return false
}

// Verbs returns the verbs in order, those of subresources behind their verb.
func (a *Access) Verbs() []Verb {
	return slices.SortedFunc(maps.Keys(a.verbs), func(a, b Verb) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Subresource, b.Subresource))
	})
}

// Kept returns the fields that a cache keeps.
func (a *Access) Kept() *Tree { return Union(&a.Reads, &a.Writes, &a.Keeps) }

// Paths lists the fields in order, each once and without those that another
// includes; the whole object is "*".
func (t *Tree) Paths() []string {
	paths := []string{}
	for _, f := range t.List() {
		text := f.Path.String()
		switch f.How {
		case Length:
			text = "len(" + text + ")"
		case Exists:
			text = "exists(" + text + ")"
		default:
		}
		paths = append(paths, text)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Field is a field of a tree, and how strongly it matters.
type Field struct {
	Path Path
	How  Strength
}

// List returns the fields without those that another includes.
func (t *Tree) List() []Field { return t.list(nil, nil, nil) }

// list appends what t says beyond known, which may be nil: the tree of all
// values or items that t is one of.
func (t *Tree) list(out []Field, path Path, known *Tree) []Field {
	if t.how == unread || known != nil && known.Covers(t) {
		return out
	}
	if t.how == Value || t.how == Length && t.below[Values()] == nil && t.below[Items()] == nil || len(t.below) == 0 && len(path) > 0 {
		out = append(out, Field{path, t.how})
	}
	for s, child := range t.below {
		wider := t.below[s.all()] // It says what the child says, too.
		if wider == nil || s == s.all() {
			wider = nil
			if known != nil {
				wider = known.at(s)
			}
		}
		out = child.list(out, path.Then(s), wider)
	}
	return out
}

// Covers reports whether whoever has the fields of t has all of other. It may
// miss that it does, never that it does not.
func (t *Tree) Covers(other *Tree) bool {
	switch {
	case t == nil:
		return false
	case t.how == Value:
		return true
	case t.how < other.how:
		return false
	}
	for s, child := range other.below {
		if !t.at(s).Covers(child) {
			return false
		}
	}
	return true
}

// Touches reports whether it matters to the tree that something at path came,
// went or changed. Steps to all items or values stand for any of them.
func (t *Tree) Touches(path Path) bool {
	switch {
	case t.how == Value, len(path) == 0:
		return t.how != unread
	case len(path) == 1 && t.counts(path[0]):
		return true
	}
	s := path[0]
	if child := t.at(s); child != nil && child.Touches(path[1:]) {
		return true
	}
	for step, child := range t.below {
		if s == step.all() && child.Touches(path[1:]) {
			return true
		}
	}
	return false
}

// counts reports whether it matters that the entry at a step comes or goes, or
// that it changes without being looked into. A map of which something is kept always keeps apiVersion and kind: one that has both
// is an object, whose spec and status read as empty maps where they are absent.
func (t *Tree) counts(s Step) bool {
	into := func(step Step) bool { return step.kind != toValues }
	return t.how >= Length || s.key == "apiVersion" || s.key == "kind" || s.IntoList() && slices.ContainsFunc(slices.Collect(maps.Keys(t.below)), into)
}

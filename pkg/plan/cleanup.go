package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// LeftoverKind is a kind of thing that rules leave on objects.
type LeftoverKind string

// The kinds of leftovers.
const (
	LeftFinalizer LeftoverKind = "finalizer" // of onDelete with hold
	LeftFields    LeftoverKind = "fields"    // that a patch applied
	LeftChanges   LeftoverKind = "changes"   // of a patch for a while: fields get back what they had before
	LeftChildren  LeftoverKind = "children"  // objects that were applied
	LeftCreated   LeftoverKind = "created"   // objects that were created, which are never cleaned up
)

// Known reports whether there is such a kind.
func (k LeftoverKind) Known() bool {
	return k == LeftFinalizer || k == LeftFields || k == LeftChanges || k == LeftChildren || k == LeftCreated
}

// Leftover is what a rule may leave on the objects of a resource. It is
// comparable.
type Leftover struct {
	Rule      Rule
	GVR       schema.GroupVersionResource
	Namespace string // where the objects are; empty for everywhere, and for cluster-scoped ones
	Kind      LeftoverKind
	Release   ReleasePolicy // of fields, empty otherwise
	Prune     bool          // of children: they go with the rule, others stay
	Owned     bool          // of children: the watched object owns all of them
	// Account is the ServiceAccount that the rule acts as, and cleans up as; empty for the
	// process's own.
	Account types.NamespacedName
}

// String says what is left, whose, and where.
func (l Leftover) String() string {
	text := fmt.Sprintf("%s of rule %s on %s", l.Kind, l.Rule, ResourceName(l.GVR))
	if l.Namespace != "" {
		text += " in namespace " + l.Namespace
	}
	return text
}

// Thing is what stays the same while a rule goes on leaving it: all but the
// version of the resource, which has the same objects in each, the policies, and
// the account, which may be another one by now.
// Leftovers with the same thing are one.
func (l Leftover) Thing() Leftover {
	l.GVR.Version, l.Release, l.Prune, l.Owned, l.Account = "", "", false, false, types.NamespacedName{}
	return l
}

// Compare orders leftovers by set, rule, resource, namespace and kind.
func (l Leftover) Compare(other Leftover) int {
	key := func(l Leftover) []string {
		return []string{
			l.GVR.Group, l.GVR.Resource, l.Namespace, string(l.Kind), l.GVR.Version, string(l.Release), l.Account.Namespace, l.Account.Name,
		}
	}
	return cmp.Or(l.Rule.Compare(other.Rule), slices.Compare(key(l), key(other)))
}

// CleanUp returns the next operation after which the object carries less of the
// leftover, nil where it carries nothing. The object must be a whole one, with all
// of managedFields, and of the leftover's resource; it is not changed. The
// operation is bound to its uid and resourceVersion.
//
// What the rule did not leave there is not touched: neither values of fields that
// are orphaned, nor children that carry the marks of another rule or set, nor
// what the rule created.
func (l Leftover) CleanUp(object map[string]any) *Operation {
	var wish *Wish
	switch l.Kind {
	case LeftFinalizer:
		wish = &Wish{Type: Finalize, Body: Finalizer{Name: l.Rule.Finalizer()}}
	case LeftFields:
		wish = l.giveUpFields(object)
	case LeftChanges:
		if l.Rule.Restores(object) {
			wish = new(Restore(l.Rule, ObjectOf(l.GVR, object), object))
		}
	case LeftChildren:
		wish = l.giveUpChild(object)
	case LeftCreated:
	}
	if wish == nil {
		return nil
	}
	wish.Rule, wish.Target, wish.Current = l.Rule, ObjectOf(l.GVR, object), object
	operations := Build([]Wish{*wish}, Options{}).Operations
	if len(operations) == 0 {
		return nil
	}
	operation := &operations[0]
	if operation.Type == Apply {
		operation.Predicted = disowned(object, operation.Manager, operation.Subresource)
	}
	return operation
}

// disowned is the object without what the manager owns. What becomes of the values only
// the API server knows.
func disowned(object map[string]any, manager, subresource string) map[string]any {
	all, _ := Lookup(object, managedFieldsPath)
	entries, _ := all.([]any)
	rest := slices.DeleteFunc(slices.Clone(entries), func(element any) bool {
		entry, _ := element.(map[string]any)
		return appliedBy(entry, manager) && Text(entry, "subresource") == subresource
	})
	return WithField(object, managedFieldsPath, rest)
}

// giveUpFields leaves children alone, whose fields are owned by the same manager.
// To remove values takes a request for each subresource that they were applied to. Another client may have written an entry of any
// other name.
func (l Leftover) giveUpFields(object map[string]any) *Wish {
	if l.made(object) {
		return nil
	}
	if l.Release != RemoveFields {
		return releasing(releaseFields(l.Rule.FieldManager(), object))
	}
	entries := elements(object, "metadata", "managedFields")
	at := slices.IndexFunc(entries, func(entry map[string]any) bool {
		return appliedBy(entry, l.Rule.FieldManager()) && MayWrite(l.GVR.GroupResource(), Text(entry, "subresource"))
	})
	if at < 0 {
		return nil
	}
	if subresource := Text(entries[at], "subresource"); Custom(l.GVR.Group) && (subresource == "" || subresource == "status") {
		others := make([]map[string]any, 0, len(entries))
		for i, entry := range entries {
			if i != at {
				others = append(others, FieldSet(entry))
			}
		}
		if steps := emptying(FieldSet(entries[at]), others, object, nil); len(steps) > 0 {
			return &Wish{Type: JSON, Subresource: subresource, Body: steps}
		}
	}
	return &Wish{
		Type: Apply, Subresource: Text(entries[at], "subresource"), Body: map[string]any{}, Force: true, Release: RemoveFields,
	}
}

// emptying returns the RFC 6902 patch that empties the maps and lists of which a manager owns all that is in them, and others own just
// the map or list, as who has applied it empty. An apply that gives up what is in them would make them null, which the schema of a custom
// resource refuses, each time again. With what the patch removes, the manager loses it.
func emptying(fields map[string]any, others []map[string]any, value any, at Path) (steps []any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		below, _ := fields[name].(map[string]any)
		next, known := stepOf(value, name, nil)
		item, there := Lookup(value, Path{next})
		if name == "." || !known || !there || len(below) == 0 || len(at) == 0 && next == "metadata" {
			continue
		}
		var beside []map[string]any
		more := false // Others own something in it, too.
		for _, tree := range others {
			if other, owned := tree[name].(map[string]any); owned {
				_, itself := other["."]
				beside, more = append(beside, other), more || len(other) > 1 || len(other) == 1 && !itself
			}
		}
		switch path := at.child(next); {
		case len(beside) == 0: // It goes with what is in it.
		case more:
			steps = append(steps, emptying(below, beside, item, path)...)
		case hasAll(below, item):
			var empty any = map[string]any{}
			if _, isList := item.([]any); isList {
				empty = []any{}
			}
			steps = append(steps, step("replace", path, empty))
		}
	}
	return steps
}

// hasAll reports whether a tree of FieldsV1 has each entry of a map or a list, if there is one.
func hasAll(fields map[string]any, value any) bool {
	list, _ := value.([]any)
	entries, _ := value.(map[string]any)
	found := map[string]bool{}
	for name := range fields {
		if _, there := itemOf(value, name, nil); there {
			step, _ := stepOf(value, name, nil)
			found[step] = true
		}
	}
	return len(found) > 0 && len(found) == len(list)+len(entries)
}

// giveUpChild deletes what the rule made, and releases what it adopted, and what garbage collection has let go of. Of a child
// that another rule of the set has taken over only the ownership of fields is left
// to be given up, or the other rule could not take a field back.
func (l Leftover) giveUpChild(object map[string]any) *Wish {
	switch {
	case !l.made(object):
		return nil
	case Label(object, LabelSet) != l.Rule.SetID() || Label(object, LabelRule) != l.Rule.Name:
		return releasing(releaseFields(l.Rule.FieldManager(), object))
	case !l.Prune:
		return nil
	case Annotation(object, AdoptedAnnotation) != "", l.Owned && !slices.Contains(OwnerUIDs(object), types.UID(Label(object, LabelOwnerUID))):
		return releasing(Release(l.Rule, types.UID(Label(object, LabelOwnerUID)), object))
	default:
		return &Wish{Type: Delete, Body: Deletion{PropagationPolicy: "Background"}}
	}
}

// made reports whether the rule has applied the object as its child: with it, it
// applied the mark of its set, which no patch may write. What a rule created has
// the mark too, but did not get it by an apply.
func (l Leftover) made(object map[string]any) bool {
	_, marked := Lookup(ownedFields(object, l.Rule.FieldManager(), ""), Path{"f:metadata", "f:labels", "f:" + LabelSet})
	return marked
}

func releasing(steps []any) *Wish {
	if len(steps) == 0 {
		return nil
	}
	return &Wish{Type: JSON, Body: steps}
}

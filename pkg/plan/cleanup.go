package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

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
	return mergePatched(object, nested(managedFieldsPath, rest))
}

// giveUpFields leaves children alone, whose fields are owned by the same manager.
// To remove values takes a request for each subresource that they were applied to.
func (l Leftover) giveUpFields(object map[string]any) *Wish {
	if l.made(object) {
		return nil
	}
	if l.Release != RemoveFields {
		return releasing(releaseFields(l.Rule.FieldManager(), object))
	}
	entries := elements(object, "metadata", "managedFields")
	at := slices.IndexFunc(entries, func(entry map[string]any) bool { return appliedBy(entry, l.Rule.FieldManager()) })
	if at < 0 {
		return nil
	}
	return &Wish{
		Type: Apply, Subresource: Text(entries[at], "subresource"), Body: map[string]any{}, Force: true, Release: RemoveFields,
	}
}

// giveUpChild deletes what the rule made, and releases what it adopted. Of a child
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
	case Annotation(object, AdoptedAnnotation) != "":
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

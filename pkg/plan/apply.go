package plan

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// accumulate repeats in later applies of a manager what it applied before: it
// would take it back otherwise.
func accumulate(all []*batch) {
	type applier struct {
		place   place
		manager string
	}
	last := map[applier]*batch{}
	for _, b := range all {
		if b.wishes[0].Type != Apply {
			continue
		}
		by := applier{b.place, b.manager}
		if before := last[by]; before != nil {
			b.wishes = slices.Concat(before.wishes, b.wishes)
		}
		last[by] = b
	}
	for _, b := range all {
		b.last = last[applier{b.place, b.manager}]
	}
}

// apply joins what one rule applies to one object: a second apply under the
// same manager would take back the fields of the first.
func (b builder) apply(joined *batch, current map[string]any) *Operation {
	operation := joined.operation(Apply)
	body := joined.applied()
	for _, wish := range joined.wishes {
		operation.Force = operation.Force || wish.Force
		if operation.Unseen == nil || operation.Unseen.Event == nil {
			operation.Unseen = cmp.Or(wish.Unseen, operation.Unseen)
		}
		if operation.Release != OrphanFields && wish.Release != "" {
			operation.Release = wish.Release // Once a field is orphaned it cannot go with another.
		}
	}
	if b.stored.applied(joined.place, current, body, operation.Manager) ||
		joined.last != joined && b.stored.applied(joined.place, current, joined.last.applied(), operation.Manager) {
		return nil
	}
	rule := joined.wishes[0].Rule
	operation.Body = body
	operation.GivesUp = operation.Release == OrphanFields && givesUp(operation, current)
	operation.Rules = []Rule{rule}
	if b.whole != nil && current != nil {
		body = b.whole(operation.Target.GVR, current, body)
	}
	operation.Predicted = mergePatched(current, body)
	operation.Changes = b.stored.effective(operation.Target, changes(rule, current, operation.Predicted), current, operation.Predicted)
	return b.unlessKnown(operation)
}

// Over turns an apply that was to make its target to an object that turned out to have
// the name. One that was adopted stays marked so: without the mark it would be deleted
// where it is to be released.
func (o Operation) Over(current map[string]any) Operation {
	body, _ := o.Body.(map[string]any)
	if Annotation(current, AdoptedAnnotation) != "" {
		body = mergePatched(body, nested(Path{"metadata", "annotations", AdoptedAnnotation}, "true"))
	}
	o.Body = body
	o.Target.UID = types.UID(Text(current, "metadata", "uid"))
	o.Target.ResourceVersion = Text(current, "metadata", "resourceVersion")
	o.Predicted = mergePatched(current, body)
	o.Changes = changes(o.Rules[0], current, o.Predicted)
	return o
}

// applied is the body of all that is applied together.
func (b *batch) applied() map[string]any {
	body := map[string]any{}
	for _, wish := range b.wishes {
		body = mergePatched(body, wish.fields())
	}
	return withoutEmptyMetadata(body)
}

// givesUp reports whether the manager has applied what the operation does not.
// A cache keeps all of its own entries, so the snapshot says it.
func givesUp(o *Operation, current map[string]any) bool {
	_, less := kept(ownedFields(current, o.Manager, o.Subresource), o.Body)
	return less
}

package plan

import "fmt"

// deletion is the body of a wish of type Delete.
func (w Wish) deletion() (Deletion, error) {
	d, ok := w.Body.(Deletion)
	if !ok {
		return d, fmt.Errorf("the body of delete must be a deletion, have %s", typeName(w.Body))
	}
	return d, nil
}

// deletesLiving reports whether the wish is the end of an object that nobody
// has deleted yet.
func (w Wish) deletesLiving() bool { return w.Type == Delete && !BeingDeleted(w.Current) }

// BeingDeleted reports whether an object is on its way: it is there until its
// finalizers are gone.
func BeingDeleted(object map[string]any) bool {
	at, _ := Lookup(object, Path{"metadata", "deletionTimestamp"})
	return at != nil
}

// changes reports whether the deletion still has something to do: what is
// being deleted can only be hurried.
func (d Deletion) changes(object map[string]any) bool {
	if !BeingDeleted(object) {
		return true
	}
	left, _ := Lookup(object, Path{"metadata", "deletionGracePeriodSeconds"})
	_, seconds, _ := number(left)
	return d.GracePeriodSeconds != nil && seconds != nil && *d.GracePeriodSeconds < *seconds
}

// with joins two deletions of an object: the shorter grace, and the policy of
// the first. One that gives no grace leaves it to the other.
func (d Deletion) with(other Deletion) Deletion {
	if d.GracePeriodSeconds == nil || other.GracePeriodSeconds != nil && *other.GracePeriodSeconds < *d.GracePeriodSeconds {
		d.GracePeriodSeconds = other.GracePeriodSeconds
	}
	return d
}

// dying is what a deletion leaves of an object until it is gone. The API
// server knows the time of day and the grace that is the default.
func (d Deletion) dying(object map[string]any) map[string]any {
	metadata := map[string]any{}
	if !BeingDeleted(object) {
		metadata["deletionTimestamp"] = ""
	}
	if d.GracePeriodSeconds != nil {
		metadata["deletionGracePeriodSeconds"] = *d.GracePeriodSeconds
	}
	return mergePatched(object, map[string]any{"metadata": metadata})
}

// remove joins the deletions of one object that still have something to do.
func (b builder) remove(joined *batch, current map[string]any) *Operation {
	operation := joined.operation(Delete)
	var all Deletion
	for _, wish := range joined.wishes {
		d, _ := wish.deletion() // refusal has seen the error
		if !d.changes(current) {
			continue
		}
		if len(operation.Rules) == 0 {
			all = d
		}
		all = all.with(d)
		operation.Rules = withRule(operation.Rules, wish.Rule)
	}
	if len(operation.Rules) == 0 {
		return nil
	}
	operation.Body = all
	return b.unlessKnown(operation)
}

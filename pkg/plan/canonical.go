package plan

import "slices"

// stored is what the API server makes of an object before it stores it.
func (o Options) stored(of Object, object map[string]any) map[string]any {
	if o.Canonical == nil || object == nil {
		return object
	}
	return o.Canonical(of.GVR, object)
}

// same reports whether the API server would store both as one: then to write the
// second in place of the first has no effect.
func (o Options) same(of Object, before, after map[string]any) bool {
	return Equal(before, after) || before != nil && Equal(o.stored(of, before), o.stored(of, after))
}

// applied is the object after an apply.
func (o Options) applied(of Object, current, body map[string]any) map[string]any {
	if o.Applied != nil && current != nil {
		body = o.Applied(of.GVR, current, body)
	}
	return mergePatched(current, body)
}

// isApplied reports whether applying body under manager would change nothing:
// the manager owns the fields of body and no others, and they have these values. Who applies nothing has no entry in
// managedFields.
func (o Options) isApplied(at place, current, body map[string]any, manager string) bool {
	fields := ownedFields(current, manager, at.subresource)
	if fields == nil {
		return current != nil && len(body) == 0
	}
	_, less, more := kept(fields, body)
	return !less && !more && o.same(at.target, current, o.applied(at.target, current, body))
}

// withoutSame leaves out the changes of a wish after which the same is stored as
// before.
func (o Options) withoutSame(w Wish, changed []Change, before, after map[string]any) ([]Change, map[string]any) {
	if o.Canonical == nil || len(changed) == 0 || before == nil {
		return changed, after
	}
	was, is := o.stored(w.Target, before), o.stored(w.Target, after)
	if Equal(was, is) {
		return nil, before
	}
	kept, reduced := w.without(changed, before, after, func(change Change) bool { return !change.differs(was, is) })
	if len(kept) < len(changed) && !Equal(o.stored(w.Target, reduced), is) {
		// They do nothing where they are, but make a parent that is stored.
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
		before = mergePatched(before, nested(change.Path, change.After))
	}
	return kept, before
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
	alone, err := w.applyTo(current)
	return err == nil && !o.same(w.Target, current, alone)
}

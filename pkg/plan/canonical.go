package plan

import "k8s.io/apimachinery/pkg/runtime/schema"

// storage is what the API server makes of an object before it stores it. A nil one
// stores objects as they are.
type storage func(gvr schema.GroupVersionResource, object map[string]any) map[string]any

// same reports whether the API server would store both as one: then to write the
// second in place of the first has no effect.
func (s storage) same(of Object, before, after map[string]any) bool {
	return Equal(before, after) || s != nil && before != nil && Equal(s(of.GVR, before), s(of.GVR, after))
}

// withoutSame leaves out the changes of a wish after which the same is stored as
// before. Of a JSON patch all or none are left out, since its steps may depend on
// each other; what it writes in vain beside the rest is no change all the same.
func (s storage) withoutSame(w Wish, changed []Change, before, after map[string]any) ([]Change, map[string]any) {
	if s == nil || len(changed) == 0 || before == nil {
		return changed, after
	}
	was, is := s(w.Target.GVR, before), s(w.Target.GVR, after)
	if Equal(was, is) {
		return nil, before
	}
	kept := differing(changed, was, is)
	switch {
	case len(kept) == len(changed):
		return changed, after
	case w.Type == JSON && len(kept) > 0:
		return kept, after
	}
	reduced := before
	for _, change := range kept {
		reduced = mergePatched(reduced, nested(change.Path, change.After))
	}
	if !Equal(s(w.Target.GVR, reduced), is) {
		// They do nothing where they are, but make a parent that is stored.
		return changed, after
	}
	return kept, reduced
}

// effective are the changes by which another value is stored. Of what is new all
// are.
func (s storage) effective(of Object, changed []Change, before, after map[string]any) []Change {
	if s == nil || before == nil {
		return changed
	}
	return differing(changed, s(of.GVR, before), s(of.GVR, after))
}

// differing are the changes of fields that two objects differ in.
func differing(changed []Change, was, is map[string]any) []Change {
	var kept []Change
	for _, change := range changed {
		old, existed := Lookup(was, change.Path)
		value, exists := Lookup(is, change.Path)
		if existed != exists || !Equal(old, value) {
			kept = append(kept, change)
		}
	}
	return kept
}

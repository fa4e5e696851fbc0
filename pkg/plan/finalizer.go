package plan

import (
	"fmt"
	"slices"
)

var finalizersPath = Path{"metadata", "finalizers"}

// HasFinalizers reports whether something keeps an object that is deleted.
func HasFinalizers(object map[string]any) bool {
	found, _ := Lookup(object, finalizersPath)
	list, _ := found.([]any)
	return len(list) > 0
}

// finalizer is the body of a wish of type Finalize.
func (w Wish) finalizer() (Finalizer, error) {
	f, ok := w.Body.(Finalizer)
	if !ok || f.Name == "" {
		return f, fmt.Errorf("the body of finalizer must be one with a name, have %s", typeName(w.Body))
	}
	return f, nil
}

// claim is on the name only: rules may each have a finalizer of their own.
func (f Finalizer) claim() claim {
	return claim{path: finalizersPath.child(f.Name), value: f.Name, absent: !f.Present, member: true}
}

// applyTo returns the object with or without the name, in an order that leaves
// the others where they are. No finalizers are no list, as the API server
// stores them.
func (f Finalizer) applyTo(current map[string]any) map[string]any {
	found, _ := Lookup(current, finalizersPath)
	list, _ := found.([]any)
	has := slices.Contains(list, any(f.Name))
	switch {
	case has == f.Present:
		return current
	case f.Present:
		list = append(slices.Clip(list), f.Name)
	default:
		list = slices.DeleteFunc(slices.Clone(list), func(name any) bool { return name == f.Name })
	}
	if len(list) == 0 {
		return mergePatched(current, nested(finalizersPath, nil))
	}
	return mergePatched(current, nested(finalizersPath, list))
}

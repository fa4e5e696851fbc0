package plan

import (
	"maps"
	"slices"
	"strings"
)

// Without returns the operation as it is to be sent when an earlier one of the plan, on
// the same object, was not carried out. The finalizers are sent as a whole, so those that
// rules of the other one wanted to add or to take away would come and go with these.
func (o Operation) Without(undone Operation) Operation {
	if !o.changesFinalizers() || !undone.changesFinalizers() {
		return o
	}
	list, _ := Lookup(o.Predicted, finalizersPath)
	finalizers, _ := list.([]any)
	for _, change := range undone.Changes {
		if !slices.Equal(change.Path, finalizersPath) {
			continue
		}
		before, _ := change.Before.([]any)
		after, _ := change.After.([]any)
		added := func(name any) bool { return slices.Contains(after, name) && !slices.Contains(before, name) }
		finalizers = slices.DeleteFunc(slices.Clone(finalizers), added)
		for _, name := range before {
			if !slices.Contains(after, name) && !slices.Contains(finalizers, name) {
				finalizers = append(finalizers, name)
			}
		}
	}
	return o.withFinalizers(finalizers)
}

func (o Operation) changesFinalizers() bool {
	return slices.ContainsFunc(o.Changes, func(c Change) bool { return slices.Equal(c.Path, finalizersPath) })
}

// withFinalizers has the operation leave just these.
func (o Operation) withFinalizers(list []any) Operation {
	var value any // None are no list, as the API server stores them.
	if len(list) > 0 {
		value = list
	}
	o.Predicted = mergePatched(o.Predicted, nested(finalizersPath, value))
	switch body := o.Body.(type) {
	case map[string]any:
		o.Body = joinPatches(body, nested(finalizersPath, value))
	case []any:
		pointer := finalizersPath.Pointer()
		steps := slices.DeleteFunc(slices.Clone(body), func(step any) bool {
			at, _ := Lookup(step, Path{"path"})
			text, _ := at.(string)
			return text == pointer || strings.HasPrefix(text, pointer+"/")
		})
		o.Body = append(steps, map[string]any{"op": "add", "path": pointer, "value": append([]any{}, list...)})
	}
	return o
}

// joinPatches is a merge patch that says what both say, the second where they differ.
func joinPatches(first, second map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, first)
	for key, value := range second {
		inner, ok := value.(map[string]any)
		known, has := out[key].(map[string]any)
		if ok && has {
			value = joinPatches(known, inner)
		}
		out[key] = value
	}
	return out
}

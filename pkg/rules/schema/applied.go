package schema

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Applied returns the body of a server-side apply with its lists as they are after it: elements that others have stay in lists
// that are merged (KEP-555). What the manager gives up is still there. The result shares what it can with both, so it is read only.
func (c *Catalog) Applied(gvr schema.GroupVersionResource, object, body map[string]any) map[string]any {
	found := c.Resource(gvr)
	if found == nil {
		return body
	}
	out, _ := found.Type.applied(object, body).(map[string]any)
	return out
}

func (t *Type) applied(before, body any) any {
	switch body := body.(type) {
	case map[string]any:
		if old, _ := before.(map[string]any); t != nil && t.Map != nil && !t.Map.Atomic {
			out := maps.Clone(body)
			for key, value := range body {
				if f, _ := t.Field(key); old[key] != nil {
					out[key] = f.Type.applied(old[key], value)
				}
			}
			return out
		}
	case []any:
		if old, _ := before.([]any); t != nil && t.List != nil && t.List.Kind != Atomic {
			return t.List.applied(old, body)
		}
	}
	return body
}

// applied merges elements into those that are there, and adds the others.
func (l *List) applied(before, body []any) []any {
	out := slices.Clone(before)
	for _, element := range body {
		key, _ := l.key(element)
		i := slices.IndexFunc(out, func(old any) bool {
			other, _ := l.key(old)
			return other == key && key != ""
		})
		if i < 0 {
			out = append(out, element)
			continue
		}
		fields, isMap := l.Items.applied(out[i], element).(map[string]any)
		if old, wasMap := out[i].(map[string]any); isMap && wasMap {
			out[i] = merged(old, fields)
		}
	}
	return out
}

// merged is a map with the entries of another, maps within it too.
func merged(old, body map[string]any) map[string]any {
	out := maps.Clone(old)
	for key, value := range body {
		below, isMap := value.(map[string]any)
		if was, wasMap := old[key].(map[string]any); isMap && wasMap {
			value = merged(was, below)
		}
		out[key] = value
	}
	return out
}

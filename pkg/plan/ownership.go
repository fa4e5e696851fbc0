package plan

import (
	"maps"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// applied reports whether applying body under manager would change nothing:
// every value is there and the manager owns these fields and no others. The
// API server knows which lists are merged by key from the schema; here the
// manager's own entry in managedFields says it. Who applies nothing has none.
func (s storage) applied(at place, current, body map[string]any, manager string) bool {
	body = withoutEmptyMetadata(body)
	fields := ownedFields(current, manager, at.subresource)
	if fields == nil {
		return current != nil && len(body) == 0
	}
	after, _, owned := overlaidMap(fields, current, body)
	object, _ := after.(map[string]any)
	return owned && s.same(at.target, current, object)
}

// withoutEmptyMetadata leaves out of a body what every object has and nobody owns.
func withoutEmptyMetadata(body map[string]any) map[string]any {
	if metadata, isMap := body["metadata"].(map[string]any); !isMap || len(metadata) > 0 {
		return body
	}
	out := maps.Clone(body)
	delete(out, "metadata")
	return out
}

// ownedFields returns the FieldsV1 tree of the manager's Apply entry, nil
// where it has none.
func ownedFields(current map[string]any, manager, subresource string) map[string]any {
	for _, entry := range elements(current, "metadata", "managedFields") {
		if !appliedBy(entry, manager) || Text(entry, "subresource") != subresource {
			continue
		}
		return FieldSet(entry)
	}
	return nil
}

func appliedBy(entry map[string]any, manager string) bool {
	return entry["manager"] == manager && entry["operation"] == "Apply"
}

// overlaid returns what applying body to a field leaves there, and whether that
// is another value, as long as the manager owns all fields of the body and no
// others. A field without children in the tree is owned as a whole, or is a map
// that was applied empty: what others put into that is theirs, and who writes to
// one that is owned as a whole takes it over.
func overlaid(fields map[string]any, current, body any) (after any, changed, owned bool) {
	if len(fields) == 0 {
		_, isMap := current.(map[string]any)
		if Equal(current, body) || isMap && isEmpty(body) {
			return current, false, true
		}
		return body, true, true
	}
	switch body := body.(type) {
	case map[string]any:
		return overlaidMap(fields, current, body)
	case []any:
		return overlaidList(fields, current, body)
	default:
		return nil, false, false
	}
}

func overlaidMap(fields map[string]any, current any, body map[string]any) (after any, changed, owned bool) {
	if len(body) != len(fields)-itself(fields) {
		return nil, false, false
	}
	have, isMap := current.(map[string]any)
	out := have
	if !isMap {
		out, changed = map[string]any{}, true
	}
	for key, value := range body {
		below, ok := fields["f:"+key].(map[string]any)
		if !ok {
			return nil, false, false
		}
		old, exists := have[key]
		next, differs, owned := overlaid(below, old, value)
		switch {
		case !owned:
			return nil, false, false
		case exists && !differs:
			continue
		case !changed:
			out, changed = maps.Clone(have), true
		}
		out[key] = next
	}
	if !changed {
		return current, false, true
	}
	return out, true, true
}

// itself is 1 where the tree says that the item itself is owned, besides what
// is in it.
func itself(fields map[string]any) int {
	if _, ok := fields["."]; ok {
		return 1
	}
	return 0
}

// overlaidList is overlaid for a list that is merged by key ("k:") or a set
// ("v:"), of which every element of the body must be there.
func overlaidList(fields map[string]any, current any, body []any) (after any, changed, owned bool) {
	have, _ := current.([]any)
	if len(fields)-itself(fields) != len(body) {
		return nil, false, false
	}
	out := have
	for name, value := range fields {
		below, _ := value.(map[string]any)
		kind, key, _ := strings.Cut(name, ":")
		switch {
		case kind == ".", kind == "v" && holds(have, key) && holds(body, key):
			continue
		case kind != "k":
			return nil, false, false
		}
		i, next, differs, owned := overlaidElement(below, key, have, body)
		switch {
		case !owned:
			return nil, false, false
		case !differs:
			continue
		case !changed:
			out, changed = slices.Clone(have), true
		}
		out[i] = next
	}
	if !changed {
		return current, false, true
	}
	return out, true, true
}

// overlaidElement is overlaid for the element of both lists that has a key, and
// where it is in the first.
func overlaidElement(fields map[string]any, key string, current, body []any) (i int, after any, changed, owned bool) {
	var pairs map[string]any
	if err := utiljson.Unmarshal([]byte(key), &pairs); err != nil {
		return 0, nil, false, false
	}
	i = element(current, pairs, false)
	// What the body leaves out of the key, the API server has defaulted.
	j := element(body, pairs, true)
	if i < 0 || j < 0 {
		return 0, nil, false, false
	}
	after, changed, owned = overlaid(fields, current[i], body[j])
	return i, after, changed, owned
}

// element finds the only map in list that has all the pairs, or with partial,
// that contradicts none of them. It is -1 where there is none.
func element(list []any, pairs map[string]any, partial bool) int {
	found := -1
	for i, each := range list {
		candidate, isMap := each.(map[string]any)
		if !isMap || !fits(candidate, pairs, partial) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

func fits(candidate, pairs map[string]any, partial bool) bool {
	for key, value := range pairs {
		have, exists := candidate[key]
		if exists && !Equal(have, value) || !exists && !partial {
			return false
		}
	}
	return true
}

// holds reports whether a set has the JSON value.
func holds(list []any, data string) bool {
	var value any
	if err := utiljson.Unmarshal([]byte(data), &value); err != nil {
		return false
	}
	for _, element := range list {
		if Equal(element, value) {
			return true
		}
	}
	return false
}

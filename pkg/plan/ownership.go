package plan

import (
	"maps"
	"strconv"
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
	after, _, owned := overlaid(fields, current, body)
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
// one that is owned as a whole takes it over. Of a list that is merged by key or is a set,
// every element of the body must be there.
func overlaid(fields map[string]any, current, body any) (after any, changed, owned bool) {
	_, have := current.(map[string]any)
	if len(fields) == 0 {
		if Equal(current, body) || have && isEmpty(body) {
			return current, false, true
		}
		return body, true, true
	}
	wanted, isMap := body.(map[string]any)
	list, isList := body.([]any)
	size := len(fields)
	if _, itself := fields["."]; itself { // It is owned, besides what is in it.
		size--
	}
	if isScalar(body) || len(wanted)+len(list) != size {
		return nil, false, false
	}
	after = current
	if isMap && !have {
		after, changed = map[string]any{}, true
	}
	for name, value := range fields {
		if name == "." {
			continue
		}
		below, _ := value.(map[string]any)
		next, given := itemOf(body, name)
		step, known := stepOf(after, name, false)
		old, exists := Lookup(after, Path{step})
		if !given || !known || isList && !exists {
			return nil, false, false
		}
		next, differs, owned := overlaid(below, old, next)
		switch {
		case !owned:
			return nil, false, false
		case exists && !differs:
			continue
		case !changed:
			after, changed = shallow(after), true
		}
		after, _ = set(after, step, next, true)
	}
	return after, changed, true
}

// stepOf returns the step to the item of a value that a name in a tree of FieldsV1 stands for (KEP-555): "f:" with the key of a map, "i:"
// with an index, "k:" and "v:" with what tells an element of a list. With partial, an element may lack some of its key, which the API
// server has defaulted then. Of several that it may be it is none.
func stepOf(value any, name string, partial bool) (step string, known bool) {
	kind, key, _ := strings.Cut(name, ":")
	list, isList := value.([]any)
	if !isList || kind == "i" {
		return key, kind == "f" || kind == "i" && !partial // The index of a body is its own.
	}
	var wanted any
	if kind != "k" && kind != "v" || utiljson.Unmarshal([]byte(key), &wanted) != nil {
		return "", false
	}
	pairs, _ := wanted.(map[string]any)
	found := -1
	for i, element := range list {
		candidate, isMap := element.(map[string]any)
		if kind == "v" && !Equal(element, wanted) || kind == "k" && (!isMap || pairs == nil || !fits(candidate, pairs, partial)) {
			continue
		}
		if kind == "k" && found >= 0 {
			return "", false
		}
		found = i
	}
	return strconv.Itoa(found), found >= 0
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

// itemOf returns the item of a body that a name in a FieldsV1 tree stands for, or the body itself.
func itemOf(body any, name string) (item any, there bool) {
	if name == "." {
		return body, true
	}
	step, known := stepOf(body, name, true)
	if !known {
		return nil, false
	}
	return Lookup(body, Path{step})
}

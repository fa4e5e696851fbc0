package plan

import (
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// applied reports whether applying body under manager would change nothing:
// every value is there and the manager owns these fields and no others. The
// API server knows which lists are merged by key from the schema; here the
// manager's own entry in managedFields says it.
func applied(current, body map[string]any, manager, subresource string) bool {
	fields := ownedFields(current, manager, subresource)
	return fields != nil && appliedMap(fields, current, body)
}

// ownedFields returns the FieldsV1 tree of the manager's Apply entry, nil
// where it has none.
func ownedFields(current map[string]any, manager, subresource string) map[string]any {
	for _, entry := range elements(current, "metadata", "managedFields") {
		if !appliedBy(entry, manager) || text(entry, "subresource") != subresource {
			continue
		}
		fields, _ := entry["fieldsV1"].(map[string]any)
		return fields
	}
	return nil
}

func appliedBy(entry map[string]any, manager string) bool {
	return entry["manager"] == manager && entry["operation"] == "Apply"
}

// appliedValue compares one field. A field without children in the tree is
// owned as a whole, or is a map that was applied empty: what others put into that
// is theirs, and who writes to one that is owned as a whole takes it over.
func appliedValue(fields map[string]any, current, body any) bool {
	if len(fields) == 0 {
		_, isMap := current.(map[string]any)
		return equal(current, body) || isMap && isEmpty(body)
	}
	switch body := body.(type) {
	case map[string]any:
		currentMap, ok := current.(map[string]any)
		return ok && appliedMap(fields, currentMap, body)
	case []any:
		currentList, ok := current.([]any)
		return ok && appliedList(fields, currentList, body)
	default:
		return false
	}
}

func appliedMap(fields, current, body map[string]any) bool {
	for key, value := range body {
		owned, ok := fields["f:"+key].(map[string]any)
		have, exists := current[key]
		if !ok || !exists || !appliedValue(owned, have, value) {
			return false
		}
	}
	return len(body) == len(fields)-itself(fields)
}

// itself is 1 where the tree says that the item itself is owned, besides what
// is in it.
func itself(fields map[string]any) int {
	if _, ok := fields["."]; ok {
		return 1
	}
	return 0
}

// appliedList compares a list that is merged by key ("k:") or a set ("v:").
func appliedList(fields map[string]any, current, body []any) bool {
	if len(fields)-itself(fields) != len(body) {
		return false
	}
	for name, value := range fields {
		owned, _ := value.(map[string]any)
		kind, key, _ := strings.Cut(name, ":")
		var ok bool
		switch kind {
		case "k":
			ok = appliedElement(owned, key, current, body)
		case "v":
			ok = holds(current, key) && holds(body, key)
		case ".":
			ok = true
		}
		if !ok {
			return false
		}
	}
	return true
}

func appliedElement(fields map[string]any, key string, current, body []any) bool {
	var pairs map[string]any
	if err := utiljson.Unmarshal([]byte(key), &pairs); err != nil {
		return false
	}
	have, haveOK := element(current, pairs, false)
	// What the body leaves out of the key, the API server has defaulted.
	want, wantOK := element(body, pairs, true)
	return haveOK && wantOK && appliedMap(fields, have, want)
}

// element finds the only map in list that has all the pairs, or with partial,
// that contradicts none of them.
func element(list []any, pairs map[string]any, partial bool) (found map[string]any, ok bool) {
	for _, each := range list {
		candidate, isMap := each.(map[string]any)
		if !isMap || !fits(candidate, pairs, partial) {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = candidate
	}
	return found, found != nil
}

func fits(candidate, pairs map[string]any, partial bool) bool {
	for key, value := range pairs {
		have, exists := candidate[key]
		if exists && !equal(have, value) || !exists && !partial {
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
		if equal(element, value) {
			return true
		}
	}
	return false
}

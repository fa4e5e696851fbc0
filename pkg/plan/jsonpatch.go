package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// jsonOperation is one step of an RFC 6902 patch.
type jsonOperation struct {
	op       string
	path     Path
	from     Path
	value    any
	hasValue bool
}

// ValidateJSONPatch returns an error that names the first thing wrong with an
// RFC 6902 patch.
func ValidateJSONPatch(body any) error {
	_, err := parseJSONPatch(body)
	return err
}

func parseJSONPatch(body any) ([]jsonOperation, error) {
	list, ok := body.([]any)
	if !ok {
		return nil, fmt.Errorf("a json patch must be a list of operations, have %s", typeName(body))
	}
	out := make([]jsonOperation, len(list))
	for i, element := range list {
		op, err := parseJSONOperation(element)
		if err != nil {
			return nil, fmt.Errorf("operation %d of the json patch: %w", i, err)
		}
		out[i] = op
	}
	return out, nil
}

func parseJSONOperation(element any) (jsonOperation, error) {
	fields, ok := element.(map[string]any)
	if !ok {
		return jsonOperation{}, fmt.Errorf("want a map with op and path, have %s", typeName(element))
	}
	var out jsonOperation
	out.op, _ = fields["op"].(string)
	out.value, out.hasValue = fields["value"]
	allowed := []string{"op", "path"}
	switch out.op {
	case "add", "replace", "test":
		allowed = append(allowed, "value")
		if !out.hasValue {
			return out, fmt.Errorf("%q needs a value", out.op)
		}
	case "move", "copy":
		allowed = append(allowed, "from")
		if out.from, ok = pointerField(fields, "from"); !ok {
			return out, fmt.Errorf("%q needs from, a JSON pointer such as /spec/replicas", out.op)
		}
	case "remove":
	default:
		return out, fmt.Errorf("op must be add, remove, replace, move, copy or test, have %v", fields["op"])
	}
	if out.path, ok = pointerField(fields, "path"); !ok {
		return out, errors.New("path must be a JSON pointer such as /spec/replicas")
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(allowed, key) {
			return out, fmt.Errorf("%q has no field %q", out.op, key)
		}
	}
	return out, nil
}

// pointerField refuses the empty pointer: it is the whole object, which no
// rule may replace.
func pointerField(fields map[string]any, key string) (Path, bool) {
	text, ok := fields[key].(string)
	if !ok || text == "" {
		return nil, false
	}
	return parsePointer(text)
}

// claims treats what moves the elements of a list as a claim on the list.
func (o jsonOperation) claims() []claim {
	last := o.path[len(o.path)-1]
	place := claim{path: o.path, value: o.value}
	if o.op != "replace" && (last == "-" || isIndex(last)) {
		place = claim{path: o.path[:len(o.path)-1], opaque: true}
	}
	switch o.op {
	case "test":
		return nil
	case "remove":
		place.absent = true
	case "copy":
		place.opaque = true
	case "move":
		place.opaque = true
		return []claim{{path: o.from, absent: true}, place}
	}
	return []claim{place}
}

// jsonPatched returns current with an RFC 6902 patch applied by the library
// that the API server uses.
func jsonPatched(current map[string]any, body any) (map[string]any, error) {
	patchData, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the json patch: %w", err)
	}
	patch, err := jsonpatch.DecodePatch(patchData)
	if err != nil {
		return nil, fmt.Errorf("reading the json patch: %w", err)
	}
	data, err := json.Marshal(current)
	if err != nil {
		return nil, fmt.Errorf("encoding the object: %w", err)
	}
	if data, err = patch.Apply(data); err != nil {
		return nil, fmt.Errorf("applying the json patch: %w", err)
	}
	var after map[string]any
	if err := utiljson.Unmarshal(data, &after); err != nil {
		return nil, fmt.Errorf("reading the patched object: %w", err)
	}
	return after, nil
}

// jsonDifference writes the way from before to after as JSON patch operations,
// for a merge patch that has to travel with a JSON patch.
func jsonDifference(path Path, before, after map[string]any) []any {
	var out []any
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, kept := after[key]; !kept {
			out = append(out, map[string]any{"op": "remove", "path": path.child(key).Pointer()})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		old, existed := before[key]
		oldMap, oldIsMap := old.(map[string]any)
		newMap, newIsMap := after[key].(map[string]any)
		switch {
		case existed && equal(old, after[key]):
		case oldIsMap && newIsMap:
			out = append(out, jsonDifference(path.child(key), oldMap, newMap)...)
		default:
			out = append(out, map[string]any{"op": "add", "path": path.child(key).Pointer(), "value": after[key]})
		}
	}
	return out
}

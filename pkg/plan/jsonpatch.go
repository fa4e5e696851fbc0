package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
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
	if len(list) > maxSteps {
		return nil, fmt.Errorf("a json patch has at most %d operations, have %d", maxSteps, len(list))
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
	if err := errors.Join(out.path.checkIndex(), out.from.checkIndex()); err != nil {
		return out, err
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

// checkIndex refuses what the library takes for an index from the end of a
// list. As the key of a map it cannot be told apart.
func (p Path) checkIndex() error {
	if i := slices.IndexFunc(p, func(step string) bool { return negative.MatchString(step) }); i >= 0 {
		return fmt.Errorf("%q is no index: count from the start, or write - for behind the last element", p[i])
	}
	return nil
}

var negative = regexp.MustCompile(`^[-+][0-9]+$`)

// claims treats what moves the elements of a list as a claim on the list.
func (o jsonOperation) claims(current map[string]any) []claim {
	place := placeOf(current, o.path, o.op != "replace")
	switch o.op {
	case "test":
		return nil
	case "remove":
		place.absent = true
	case "add", "replace":
		place.value = o.value
	case "copy":
		place.opaque = true
	case "move":
		place.opaque = true
		from := placeOf(current, o.from, true)
		from.absent = true
		return []claim{from, place}
	}
	return []claim{place}
}

// placeOf is the place that a path leads to; where the elements of its list
// move, that is the list. A parent that is not there yet may become a list.
func placeOf(current map[string]any, path Path, moves bool) claim {
	parent, last := path[:len(path)-1], path[len(path)-1]
	value, _ := lookup(current, parent)
	_, isMap := value.(map[string]any)
	if moves && !isMap && (last == "-" || isIndex(last)) {
		return claim{path: parent, opaque: true}
	}
	return claim{path: path}
}

// maxPatched bounds what a patch may make of an object, in bytes of JSON: twice
// what etcd stores.
const maxPatched = 3 << 20

// maxSteps bounds the operations of a patch.
const maxSteps = 2000

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
	if data, err = applyInPieces(data, patch); err != nil {
		return nil, fmt.Errorf("applying the json patch: %w", err)
	}
	var after map[string]any
	if err := utiljson.Unmarshal(data, &after); err != nil {
		return nil, fmt.Errorf("reading the patched object: %w", err)
	}
	return after, nil
}

// applyInPieces stops after each copy to see what has become of the object: a
// few copies of copies would fill the memory.
func applyInPieces(data []byte, patch jsonpatch.Patch) ([]byte, error) {
	for len(patch) > 0 {
		n := 1 + slices.IndexFunc(patch, func(o jsonpatch.Operation) bool { return o.Kind() == "copy" })
		if n == 0 {
			n = len(patch)
		}
		var err error
		if data, err = patch[:n].Apply(data); err != nil {
			return nil, err
		}
		if len(data) > maxPatched {
			return nil, fmt.Errorf("the object would have more than %d bytes", maxPatched)
		}
		patch = patch[n:]
	}
	return data, nil
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

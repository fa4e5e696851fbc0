package plan

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
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

// ValidateJSONOperation is [ValidateJSONPatch] for one operation of a patch.
func ValidateJSONOperation(element any) error {
	_, err := parseJSONOperation(element)
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
		return out, fmt.Errorf("op must be add, remove, replace, move, copy or test, have %.40q", out.op)
	}
	if out.path, ok = pointerField(fields, "path"); !ok {
		return out, errors.New("path must be a JSON pointer such as /spec/replicas")
	}
	if err := errors.Join(out.path.checkIndex(), out.from.checkIndex()); err != nil {
		return out, err
	}
	if len(fields) == len(allowed) {
		return out, nil // Each of those allowed has been found.
	}
	for _, key := range sortedKeys(fields) {
		if !slices.Contains(allowed, key) {
			return out, fmt.Errorf("%q has no field %.40q", out.op, key)
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
	if strings.Count(text, "/") > maxPointer {
		return make(Path, maxPointer+1), true // Refused by checkIndex.
	}
	return parsePointer(text)
}

// maxPointer bounds the steps of a path.
const maxPointer = 256

// checkIndex refuses what the API server takes for an index from the end of a
// list. As the key of a map it cannot be told apart.
func (p Path) checkIndex() error {
	if len(p) > maxPointer {
		return fmt.Errorf("a path has at most %d steps, have %d", maxPointer, len(p))
	}
	signed := func(step string) bool {
		return step != "" && (step[0] == '-' || step[0] == '+') && negative.MatchString(step)
	}
	if i := slices.IndexFunc(p, signed); i >= 0 {
		return fmt.Errorf("%.40q is no index: count from the start, or write - for behind the last element", p[i])
	}
	return nil
}

var negative = regexp.MustCompile(`^[-+][0-9]+$`)

// maxSteps bounds the operations of a patch.
const maxSteps = 2000

// jsonDifference writes the way from before to after as JSON patch operations,
// for a merge patch that has to travel with a JSON patch.
func jsonDifference(before, after map[string]any) (steps []any) {
	var last Path
	for _, change := range changes(Rule{}, before, after) {
		path := change.Path
		for n := range path { // The first step that is not there is made with all that is in it.
			if _, there := Lookup(before, path[:n+1]); !there {
				path = path[:n+1]
				break
			}
		}
		value, there := Lookup(after, path)
		switch {
		case slices.Equal(path, last):
			continue
		case there:
			steps = append(steps, step("add", path, value))
		default:
			steps = append(steps, removal(path))
		}
		last = path
	}
	return steps
}

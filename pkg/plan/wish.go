package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Wish is what one action of one rule wants of one object.
type Wish struct {
	Rule        Rule
	Target      Object
	Current     map[string]any // the target in the snapshot; never changed
	Subresource string
	Type        Type
	Body        any // map[string]any for Merge and Apply, []any for JSON
	Force       bool
}

// claim is the value that a wish wants at a path, whether it is there already
// or not.
type claim struct {
	path  Path
	value any
	// absent says that nothing may be there.
	absent bool
	// opaque says that the outcome depends on what is there, so no other wish
	// for the place agrees with it.
	opaque bool
	// merged says that the API server may merge this list by its keys, so two
	// rules may each apply their own elements. It will say where they differ,
	// unless it is forced not to.
	merged bool
}

// fields is the body of a merge patch or an apply; claims has checked it.
func (w Wish) fields() map[string]any {
	fields, _ := w.Body.(map[string]any)
	return fields
}

// steps is the body of a JSON patch; claims has checked it.
func (w Wish) steps() []any {
	steps, _ := w.Body.([]any)
	return steps
}

// claims lists the paths that the wish decides.
func (w Wish) claims() ([]claim, error) {
	if w.Type != JSON {
		if w.fields() == nil {
			return nil, fmt.Errorf("a %s patch must be a map, have %s", w.Type, typeName(w.Body))
		}
		return mapClaims(nil, nil, w.fields(), w.Type == Apply && !w.Force), nil
	}
	operations, err := parseJSONPatch(w.Body)
	if err != nil {
		return nil, err
	}
	var out []claim
	for _, op := range operations {
		out = append(out, op.claims(w.Current)...)
	}
	return out, nil
}

// mapClaims appends a claim for each leaf under body. An empty map claims
// nothing: it agrees with whatever else is put into it.
func mapClaims(out []claim, path Path, body map[string]any, merged bool) []claim {
	for _, key := range slices.Sorted(maps.Keys(body)) {
		at := path.child(key)
		switch value := body[key].(type) {
		case map[string]any:
			out = mapClaims(out, at, value, merged)
		case nil:
			out = append(out, claim{path: at, absent: true})
		case []any:
			out = append(out, claim{path: at, value: value, merged: merged})
		default:
			out = append(out, claim{path: at, value: value})
		}
	}
	return out
}

// forbidden are the fields that belong to the API server, or say which object
// it is.
var forbidden = []Path{
	{"apiVersion"},
	{"kind"},
	{"metadata", "name"},
	{"metadata", "generateName"},
	{"metadata", "namespace"},
	{"metadata", "uid"},
	{"metadata", "resourceVersion"},
	{"metadata", "generation"},
	{"metadata", "managedFields"},
	{"metadata", "creationTimestamp"},
	{"metadata", "deletionTimestamp"},
	{"metadata", "deletionGracePeriodSeconds"},
	{"metadata", "selfLink"},
}

// ForbiddenField returns the field under body that no rule may write, or nil
// where there is none. The body of a JSON patch is judged by its paths.
func ForbiddenField(kind Type, body any) Path {
	all, err := Wish{Type: kind, Body: body}.claims()
	if err != nil {
		return nil
	}
	for _, c := range all {
		for _, path := range forbidden {
			if c.path.hasPrefix(path) || path.hasPrefix(c.path) {
				return path
			}
		}
	}
	return nil
}

// typeName names the type of a JSON value as users know it.
func typeName(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64, int, float64:
		return "a number"
	default:
		return fmt.Sprintf("%T", value)
	}
}

// lookup follows a path through maps and lists.
func lookup(value any, path Path) (found any, ok bool) {
	for _, step := range path {
		switch at := value.(type) {
		case map[string]any:
			if value, ok = at[step]; !ok {
				return nil, false
			}
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(at) {
				return nil, false
			}
			value = at[index]
		default:
			return nil, false
		}
	}
	return value, true
}

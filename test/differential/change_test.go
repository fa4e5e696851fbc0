package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// manner is what a change may do.
type manner uint8

const (
	mayRemove    manner = 1 << iota // null takes away
	inElements                      // an element of a list is named by its key
	mayBeGivenUp                    // who makes the change may take it back
	ofStatus                        // the status is changed, else all but that
)

// change is a part of an object that is to be so.
func (g *generator) change(current map[string]any, how manner) map[string]any {
	if !g.of.custom {
		return g.edited(how)
	}
	g.room = 20
	var roots []string
	for _, name := range g.of.Type.Names() {
		switch name {
		case "apiVersion", "kind", "metadata":
		case "status":
			if how&ofStatus != 0 || g.maybe(0.1) {
				roots = append(roots, name)
			}
		default:
			if how&ofStatus == 0 || g.maybe(0.1) {
				roots = append(roots, name)
			}
		}
	}
	if len(roots) == 0 {
		return map[string]any{"spec": map[string]any{"a": int64(1)}}
	}
	root := pick(g.Rand, roots...)
	return map[string]any{root: g.inside(g.of.Type.Map.Fields[root].Type, current[root], 1, how)}
}

// inside changes a few fields at some depth.
func (g *generator) inside(t *schema.Type, current any, depth int, how manner) any {
	if t == nil || t.Map == nil || len(t.Map.Fields) == 0 || depth > 5 || depth > 1 && g.maybe(0.25) {
		if how&mayRemove != 0 && current != nil && depth > 1 && g.maybe(0.2) {
			return nil
		}
		return g.value(t, depth)
	}
	out := map[string]any{}
	for range 1 + g.IntN(2) {
		names := t.Names()
		if there, _ := current.(map[string]any); len(there) > 0 && g.maybe(0.6) {
			names = slices.Sorted(maps.Keys(there))
		}
		name := pick(g.Rand, names...)
		below, _ := current.(map[string]any)
		field, _ := t.Field(name)
		out[name] = g.inside(field.Type, below[name], depth+1, how)
	}
	return out
}

// edited is one of the edits of a built-in kind.
func (g *generator) edited(how manner) map[string]any {
	if how&ofStatus == 0 && g.maybe(0.1) {
		return map[string]any{"unknownField": "x"}
	}
	var can []edit
	for _, e := range g.of.edits {
		status := e.path[0] == "status"
		if status == (how&ofStatus != 0) && (!e.within || how&inElements != 0) && (!e.keep || how&mayBeGivenUp == 0) {
			can = append(can, e)
		}
	}
	if len(can) == 0 {
		return map[string]any{}
	}
	e := pick(g.Rand, can...)
	v := pick(g.Rand, e.values...)
	if e.within {
		v = []any{v}
	}
	if how&mayRemove != 0 && !e.keep && !e.within && g.maybe(0.15) {
		v = nil
	}
	for _, key := range slices.Backward(e.path) {
		v = map[string]any{key: v}
	}
	return v.(map[string]any)
}

// json makes a JSON patch, which goes by what is there.
func (g *generator) json(current map[string]any) operation {
	patch := []any{}
	if g.maybe(0.5) {
		patch = append(patch, g.tests()...)
	}
	for range 1 + g.IntN(2) {
		patch = append(patch, g.jsonStep(current))
	}
	return operation{what: "JSON patch", method: "PATCH", query: g.query(), kind: typePatch, body: patch}
}

// tests are guards.
func (g *generator) tests() []any {
	step := func(op, path string, value any) any {
		return map[string]any{"op": op, "path": "/metadata/" + path, "value": value}
	}
	return pick(g.Rand,
		[]any{step("test", "uid", tokenUID), step("test", "resourceVersion", tokenVersion)},
		[]any{step("replace", "uid", tokenUID), step("replace", "resourceVersion", tokenVersion)},
		[]any{step("test", "resourceVersion", tokenStale)},
		[]any{step("replace", "resourceVersion", tokenStale)},
		[]any{step("add", "resourceVersion", tokenVersion)},
		[]any{step("test", "uid", "another")},
		[]any{step("replace", "uid", "another")},
	)
}

// jsonStep is an operation of a JSON patch.
func (g *generator) jsonStep(current map[string]any) any {
	if g.maybe(0.2) {
		return pick[any](g.Rand,
			map[string]any{"op": "add", "path": "/metadata/labels/new", "value": "x"},
			map[string]any{"op": "add", "path": "/metadata/labels", "value": map[string]any{"a": "b"}},
			map[string]any{"op": "remove", "path": "/metadata/labels/app"},
			map[string]any{"op": "remove", "path": "/metadata/finalizers/0"},
			map[string]any{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/more"},
			map[string]any{"op": "move", "from": "/metadata/labels/app", "path": "/metadata/labels/moved"},
			map[string]any{"op": "copy", "from": "/metadata/labels/app", "path": "/metadata/annotations"},
			map[string]any{"op": "bogus", "path": "/metadata"},
			map[string]any{"op": "test", "path": "/metadata/labels/absent", "value": nil},
		)
	}
	if !g.of.custom {
		return g.jsonEdit()
	}
	root := pick(g.Rand, g.roots(current)...)
	path, t, at := "/"+root, g.of.Type.Map.Fields[root].Type, current[root]
	for range 6 {
		below, is := at.(map[string]any)
		if !is || t == nil || t.Map == nil || len(t.Map.Fields) == 0 || g.maybe(0.2) {
			break
		}
		names := t.Names()
		if len(below) > 0 && g.maybe(0.7) {
			names = slices.Sorted(maps.Keys(below))
		}
		name := pick(g.Rand, names...)
		field, _ := t.Field(name)
		path, t, at = path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), field.Type, below[name]
	}
	if list, is := at.([]any); is && t != nil && t.List != nil && g.maybe(0.7) {
		path, t = path+"/"+pick(g.Rand, "-", "0", fmt.Sprint(len(list)), "9"), t.List.Items
	}
	op := pick(g.Rand, "add", "add", "replace", "replace", "remove", "test")
	g.room = 15
	step := map[string]any{"op": op, "path": path}
	switch {
	case op == "test" && g.maybe(0.7):
		step["value"] = at
	case op != "remove":
		step["value"] = g.value(t, 3)
	}
	return step
}

// roots are the fields of an object that a JSON patch can begin with.
func (g *generator) roots(map[string]any) []string {
	var out []string
	for _, name := range g.of.Type.Names() {
		if name != "apiVersion" && name != "kind" && name != "metadata" && (name != "status" || g.maybe(0.2)) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		out = append(out, "spec")
	}
	return out
}

func (g *generator) jsonEdit() any {
	var can []edit
	for _, e := range g.of.edits {
		if !e.within {
			can = append(can, e)
		}
	}
	e := pick(g.Rand, can...)
	step := map[string]any{"op": pick(g.Rand, "add", "replace"), "path": "/" + strings.Join(e.path, "/"), "value": pick(g.Rand, e.values...)}
	if !e.keep && g.maybe(0.2) {
		step["op"] = "remove"
		delete(step, "value")
	}
	return step
}

package differential

import (
	"net/http"
	"strconv"
)

// head begins an object of the kind.
func (g *generator) head() map[string]any {
	return map[string]any{"apiVersion": g.of.apiVersion(), "kind": g.of.Kind, "metadata": map[string]any{"name": tokenName}}
}

// object is a new object.
func (g *generator) object() map[string]any {
	out := g.head()
	metadata := out["metadata"].(map[string]any)
	if g.maybe(0.4) {
		metadata["labels"] = map[string]any{"app": "x", "team": "y"}
	}
	if g.maybe(0.2) {
		metadata["finalizers"] = []any{"example.com/hold"}
	}
	if g.maybe(0.1) {
		metadata["ownerReferences"] = g.owners()
	}
	if g.maybe(0.3) {
		metadata["namespace"] = tokenNamespace
		if !g.of.Namespaced && g.maybe(0.8) {
			delete(metadata, "namespace")
		}
	}
	if !g.of.custom {
		out = merged(g.of.seed, out).(map[string]any)
		return out
	}
	g.room = 60
	for _, name := range g.of.Type.Names() {
		switch name {
		case "apiVersion", "kind", "metadata":
			continue
		case "status":
			if g.maybe(0.8) {
				continue
			}
		}
		if field := g.of.Type.Map.Fields[name]; field.Required || g.maybe(0.9) {
			out[name] = g.value(field.Type, 1)
		}
	}
	return out
}

func (g *generator) create() operation {
	o := operation{what: "create", method: http.MethodPost, collection: true, query: g.query(), kind: typeJSON}
	object := g.object()
	metadata := object["metadata"].(map[string]any)
	o.body = object
	switch n := g.IntN(100); {
	case n < 60:
	case n < 70 && len(g.made.operations) == 0:
		o.what = byGenerateName
		delete(metadata, "name")
		metadata["generateName"] = "made-"
		o.query.Del("dryRun")
	case n < 92:
		o.what, o.method, o.collection, o.kind = "create by apply", http.MethodPatch, false, typeApply
		g.query4apply(&o)
		if g.maybe(0.4) {
			metadata["resourceVersion"] = "1"
		}
	case n < 97:
		o.what, o.method, o.collection = "create by update", http.MethodPut, false
	default:
		g.guard(metadata)
	}
	return o
}

// query4apply makes the query one of server-side apply. Of a built-in object, who applied
// all of it is never asked to apply less: what is filled in then differs.
func (g *generator) query4apply(o *operation) {
	o.query.Set("fieldManager", "creator")
	if g.of.custom {
		o.query.Set("fieldManager", pick(g.Rand, "alice", "bob"))
	}
	if g.maybe(0.4) {
		o.query.Set("force", strconv.FormatBool(g.maybe(0.8)))
	}
}

func (g *generator) merge(current map[string]any) operation {
	return operation{
		what: "merge patch", method: http.MethodPatch, query: g.query(), kind: typeMerge,
		body: g.guarded(g.change(current, mayRemove)),
	}
}

func (g *generator) strategic(current map[string]any) operation {
	return operation{
		what: "strategic merge patch", method: http.MethodPatch, query: g.query(), kind: typeStrategic,
		body: g.guarded(g.change(current, mayRemove|inElements)),
	}
}

// guarded adds a guard to a body.
func (g *generator) guarded(body map[string]any) map[string]any {
	metadata := map[string]any{}
	g.guard(metadata)
	if len(metadata) == 0 {
		return body
	}
	return merged(body, map[string]any{"metadata": metadata}).(map[string]any)
}

func (g *generator) apply(current map[string]any) operation {
	o := operation{what: "apply", method: http.MethodPatch, query: g.query(), kind: typeApply}
	o.query.Set("fieldManager", pick(g.Rand, "alice", "bob", "dyncontroller"))
	if g.maybe(0.5) {
		o.query.Set("force", "true")
	}
	body := g.head()
	for range g.IntN(4) {
		body = merged(body, g.change(current, inElements|mayBeGivenUp)).(map[string]any)
	}
	if g.maybe(0.3) {
		body = merged(body, map[string]any{"metadata": map[string]any{"labels": map[string]any{pick(g.Rand, "app", "team", "new"): pick(g.Rand, "x", "y")}}}).(map[string]any)
	}
	if g.maybe(0.1) {
		body = merged(body, map[string]any{"metadata": map[string]any{"finalizers": []any{"example.com/applied"}}}).(map[string]any)
	}
	o.body = g.guarded(body)
	return o
}

func (g *generator) update(current map[string]any) operation {
	body := g.change(current, 0)
	switch n := g.IntN(100); {
	case n < 60:
	case n < 80:
		body = merged(body, map[string]any{"metadata": map[string]any{"resourceVersion": tokenAbsent}}).(map[string]any)
	case n < 88:
		body = merged(body, map[string]any{"metadata": map[string]any{"resourceVersion": tokenAbsent, "uid": tokenAbsent, "managedFields": tokenAbsent}}).(map[string]any)
	default:
		body = g.guarded(body)
	}
	return operation{what: "update", method: http.MethodPut, query: g.query(), kind: typeJSON, body: body, onRead: true}
}

// metadata changes what all objects have.
func (g *generator) metadata(map[string]any) operation {
	changes := []map[string]any{
		{"labels": map[string]any{"app": pick[any](g.Rand, "z", nil, "not a label!")}},
		{"annotations": map[string]any{"example.com/note": pick[any](g.Rand, "some text", nil, "")}},
		{"finalizers": pick(g.Rand, []any{"example.com/hold"}, []any{}, []any{"example.com/hold", "example.com/b"}, []any{"nodomain"})},
		{"finalizers": []any{}},
		{"ownerReferences": g.owners()},
		{"managedFields": []any{map[string]any{}}},
		{"managedFields": []any{}},
		{"generation": int64(77)},
		{"creationTimestamp": pick[any](g.Rand, nil, moment)},
		{"deletionTimestamp": moment},
		{"name": "other"},
		{"namespace": "other"},
		{"unknown": "x"},
		{"generateName": "x-"},
		{},
	}
	if g.of.Kind != "Job" { // Without any, it is given those of its Pods.
		changes = append(changes, map[string]any{"labels": nil})
	}
	body := g.guarded(map[string]any{"metadata": pick(g.Rand, changes...)})
	o := operation{what: "metadata", method: http.MethodPatch, query: g.query(), kind: typeMerge, body: body}
	if g.maybe(0.3) {
		o.method, o.kind, o.onRead = http.MethodPut, typeJSON, true
	}
	return o
}

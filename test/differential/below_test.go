package differential

import (
	"net/http"
	"net/url"
)

// status writes the status subresource, whether there is one or not.
func (g *generator) status(current map[string]any) operation {
	o := operation{what: "status", method: http.MethodPatch, below: "status", query: g.query(), kind: typeMerge}
	how := ofStatus
	switch g.IntN(4) {
	case 0:
		o.method, o.kind, o.onRead = http.MethodPut, typeJSON, true
	case 1:
		o.kind, how = typeApply, ofStatus|inElements|mayBeGivenUp
		o.query.Set("fieldManager", pick(g.Rand, "alice", "bob", "dyncontroller"))
		o.query.Set("force", pick(g.Rand, "true", "false"))
		o.body = merged(g.head(), g.change(current, how))
		return o
	}
	body := g.guarded(g.change(current, how))
	if g.maybe(0.2) {
		body = merged(body, map[string]any{"metadata": map[string]any{"labels": map[string]any{"by": "status"}, "annotations": map[string]any{"by": "status"}}}).(map[string]any)
	}
	if g.maybe(0.2) {
		body = merged(body, g.change(current, 0)).(map[string]any)
	}
	o.body = body
	return o
}

// scale writes the scale subresource, whether there is one or not.
func (g *generator) scale(map[string]any) operation {
	o := operation{what: "scale", method: http.MethodPatch, below: "scale", query: g.query(), kind: typeMerge}
	body := map[string]any{"spec": map[string]any{"replicas": pick[any](g.Rand, int64(0), int64(2), int64(7), int64(-1), "many")}}
	switch g.IntN(5) {
	case 0:
		o.method, o.kind, o.onRead = http.MethodPut, typeJSON, true
	case 1:
		o.kind = typeApply
		o.query.Set("fieldManager", pick(g.Rand, "alice", "bob"))
		o.query.Set("force", "true")
		if !g.of.custom { // What has the wrong type is refused in other words.
			body["spec"] = map[string]any{"replicas": pick(g.Rand, int64(0), int64(4))}
		}
		body = merged(body, map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": map[string]any{"name": tokenName}}).(map[string]any)
	case 2:
		return operation{what: "scale", method: http.MethodGet, below: "scale"}
	}
	o.body = g.guarded(body)
	return o
}

// remove deletes.
func (g *generator) remove(map[string]any) operation {
	o := operation{what: "delete", method: http.MethodDelete, query: url.Values{}}
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"}
	if g.maybe(0.5) {
		options["preconditions"] = pick(g.Rand,
			map[string]any{"uid": tokenUID}, map[string]any{"uid": tokenUID, "resourceVersion": tokenVersion},
			map[string]any{"resourceVersion": tokenStale}, map[string]any{"uid": "00000000-0000-0000-0000-000000000000"},
			map[string]any{"uid": tokenUID, "resourceVersion": "0"}, map[string]any{},
		)
	}
	if g.maybe(0.3) {
		options["gracePeriodSeconds"] = pick[any](g.Rand, int64(0), int64(30), int64(-1))
	}
	if g.maybe(0.5) {
		options["propagationPolicy"] = pick(g.Rand, "Background", "Foreground", "Orphan", "Background", "Sideways")
	}
	if g.maybe(0.05) {
		options["dryRun"] = []any{"All"}
		o.query.Set("dryRun", "All")
	}
	if len(options) > 2 || g.maybe(0.5) {
		o.kind, o.body = typeJSON, options
	}
	return o
}

// read asks.
func (g *generator) read(map[string]any) operation {
	o := operation{what: "read", method: http.MethodGet, query: url.Values{}}
	switch g.IntN(5) {
	case 0, 1:
		o.what, o.collection = "list", true
		if !g.of.Namespaced || g.maybe(0.4) {
			o.query.Set("fieldSelector", "metadata.name="+tokenName)
		}
		if g.maybe(0.3) {
			o.query.Set("labelSelector", pick(g.Rand, "app=x", "app in (x,z)", "!app"))
		}
	case 2:
		o.query.Set("resourceVersion", pick(g.Rand, "0", "none"))
	case 3:
		o.below = "status"
	}
	return o
}

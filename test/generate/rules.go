package generate

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// RuleSet returns a file of rules as a value, most of it right: rules that watch pods, of which the expressions are
// made of pieces that may use object, with and let. Now and then a field is missing, misspelt or of another type.
func RuleSet(pieces []string) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		const most = 3
		g := &ruleSet{t: t, pieces: slices.Concat(pieces, Of(t, ofObject, ofObject[:4]))}
		spec := map[string]any{
			"resources": map[string]any{
				"pods":  map[string]any{"version": "v1", "resource": "pods"},
				"nodes": map[string]any{"version": "v1", "resource": "nodes"},
			},
			"params": map[string]any{"least": int64(3)},
			"let":    map[string]any{"shared": g.expression()},
		}
		g.pieces = append(g.pieces, "shared", "params.least", "rule.name")
		var rules []any
		for i := range 1 + Evenly(t, most) {
			rules = append(rules, g.rule(fmt.Sprintf("r%d", i)))
		}
		spec["rules"] = rules
		g.maybe(spec, 5, "mode", "Audit")
		g.maybe(spec, 5, "description", Text(t))
		file := map[string]any{
			"apiVersion": "dyncontroller.dev/v1alpha1", "kind": Of(t, "ClusterRuleSet", "RuleSet"),
			"metadata": map[string]any{"name": "set"}, "spec": spec,
		}
		if Chance(t, 15) {
			g.spoil(file)
		}
		return file
	})
}

// ofObject are expressions about the object that is watched, the simple ones first.
var ofObject = []string{
	"object", "object.metadata.name", "object.spec.replicas", "object.spec.tags", `object.metadata.labels["app"]`, "object.spec.missing ?? 1",
	"object.spec.absent", "object.status.conditions", "object.metadata.namespace", "object.spec.tags[0]",
}

// ofOthers are those about what a rule defines.
var ofOthers = []string{"found", "map(found, .metadata.name)", "len(found)", "single", "single?.spec", "single?.spec.replicas ?? 2", "named", "found | filter(.spec.replicas > 1)"}

type ruleSet struct {
	t      *rapid.T
	pieces []string
}

func (g *ruleSet) maybe(m map[string]any, percent int, key string, value any) {
	if Chance(g.t, percent) {
		m[key] = value
	}
}

func (g *ruleSet) rule(name string) map[string]any {
	with := map[string]any{"found": g.relation(), "single": map[string]any{"resource": "pods", "name": g.name()}}
	let := map[string]any{"named": g.expression()}
	outer := g.pieces
	defer func() { g.pieces = outer }()
	g.pieces = slices.Concat(g.pieces, ofOthers, ofOthers)
	rule := map[string]any{"name": name, "watch": Of(g.t, "pods", "pods", "pods,nodes"), "actions": g.actions(), "with": with, "let": let}
	g.maybe(rule, 60, "when", g.condition())
	g.maybe(rule, 10, "for", Of(g.t, "5m", "1s", g.expression()))
	g.maybe(rule, 10, "onDelete", map[string]any{"actions": g.actions(), "done": g.condition(), "hold": Chance(g.t, 90)})
	g.maybe(rule, 5, "suspend", true)
	g.maybe(rule, 5, "mode", Of(g.t, "Enforce", "Audit"))
	g.maybe(rule, 10, "limits", map[string]any{"maxObjects": Of[any](g.t, "10%", int64(3)), "per": "10m"})
	return rule
}

func (g *ruleSet) relation() map[string]any {
	relation := map[string]any{"resource": Of(g.t, "pods", "nodes")}
	switch Evenly(g.t, 8) {
	case 0:
		relation["names"] = Of[any](g.t, g.alone(), []any{g.name(), g.name()})
	case 1:
		relation["matchLabels"] = map[string]any{Of(g.t, "app", "app", g.template()): g.name()}
	case 2:
		relation["selector"] = Of[any](g.t, g.alone(), map[string]any{"matchLabels": map[string]any{"app": g.name()}})
	case 3:
		relation["matchFields"] = map[string]any{"spec.nodeName": g.name()}
	case 4:
		relation["ownedBy"] = "object"
	default:
		relation["all"] = true
	}
	g.maybe(relation, 20, "namespace", Of(g.t, "*", "default", g.name()))
	return relation
}

func (g *ruleSet) actions() []any {
	var out []any
	const most = 3
	for range 1 + Evenly(g.t, most) {
		action := g.action()
		g.maybe(action, 20, "when", g.condition())
		g.maybe(action, 20, "forEach", map[string]any{"each": Of[any](g.t, g.alone(), []any{g.template(), int64(1)})})
		out = append(out, action)
	}
	return out
}

func (g *ruleSet) action() map[string]any {
	t := g.t
	switch Evenly(t, 7) {
	case 0:
		return map[string]any{"patch": map[string]any{"json": []any{
			map[string]any{"op": Of(t, "add", "replace", "test"), "path": g.pointer(), "value": g.body(1)},
			map[string]any{"op": Of(t, "copy", "move"), "path": g.pointer(), "from": g.pointer()},
			map[string]any{"op": "remove", "path": g.pointer()},
		}[Of(t, 2, 1, 0):]}}
	case 1:
		return map[string]any{"patch": map[string]any{"apply": map[string]any{"spec": g.body(2)}, "force": Chance(t, 50)}}
	case 2:
		manifest := map[string]any{"metadata": map[string]any{"name": g.name()}, "spec": g.body(2)}
		return map[string]any{"apply": map[string]any{"resource": "pods", "manifest": manifest, "prune": Chance(t, 30)}}
	case 3:
		manifest := map[string]any{"metadata": map[string]any{"generateName": "x-", "labels": map[string]any{"app": g.name()}}}
		return map[string]any{"create": map[string]any{"in": "found", "manifest": manifest}}
	case 4:
		return map[string]any{"delete": map[string]any{"target": Of(t, "object", "found", "single")}}
	case 5:
		return map[string]any{"event": map[string]any{"reason": Of(t, "Seen", "Seen", "Seen", "Seen", g.template()), "message": g.template()}}
	default:
		patch := map[string]any{"merge": Of[any](t, map[string]any{"spec": g.body(2)}, map[string]any{"spec": g.body(2)}, g.alone())}
		g.maybe(patch, 20, "target", Of(t, "object", "found", "single", "named"))
		return map[string]any{"patch": patch}
	}
}

func (g *ruleSet) pointer() string {
	return Of(g.t, "/spec/a", "/spec/tags/-", "/spec/tags/0", "/spec/replicas", "/metadata/labels/a~1b", "/spec", "/status/x", "/"+g.name())
}

func (g *ruleSet) body(depth int) any {
	t := g.t
	switch {
	case depth > 0 && Chance(t, 40):
		return map[string]any{Of(t, "a", "replicas", "tags", "tags", g.template()): g.body(depth - 1), "b": g.body(depth - 1)}
	case depth > 0 && Chance(t, 30):
		return []any{g.body(depth - 1), g.body(depth - 1)}
	case Chance(t, 70):
		return g.template()
	default:
		return Of[any](t, int64(1), true, nil, "text", 0.5)
	}
}

// name is a template that mostly gives a name.
func (g *ruleSet) name() string {
	return Of(g.t, "${object.metadata.name}", "p-1", "${object.metadata.name}-x", "${object.spec.tags[0]}", "${object.metadata.labels.app ?? \"db\"}", g.template())
}

// template is a text with expressions in it.
func (g *ruleSet) template() string {
	return Of(g.t, g.alone(), g.alone(), "text", "a-${object.metadata.name}", "a-"+g.alone(), "a $${ ${string(object.spec.replicas)} b")
}

func (g *ruleSet) alone() string { return "${" + g.expression() + "}" }

func (g *ruleSet) condition() string {
	return Of(g.t, g.expression()+" == "+g.expression(), "len(found) > 0", "object.spec.replicas > 1", g.expression(), "true")
}

// expression joins pieces, mostly as they are.
func (g *ruleSet) expression() string {
	piece := Of(g.t, g.pieces...)
	switch Evenly(g.t, 16) {
	case 0:
		return "(" + piece + " " + Of(g.t, "==", "!=", "in", "+", "&&", "<") + " " + Of(g.t, g.pieces...) + ")"
	case 1:
		return "[" + piece + ", " + Of(g.t, g.pieces...) + "]"
	case 2:
		return "{a: " + piece + ", b: " + Of(g.t, g.pieces...) + "}"
	case 3:
		return "(" + piece + " ?? " + Of(g.t, g.pieces...) + ")"
	case 4:
		return Of(g.t, "len", "toJSON", "first", "keys", "type", "sha256", "string") + "(" + piece + ")"
	case 5:
		return Of(g.t, "omit()", "stamp()", "nil", "default("+piece+", 1)", "map([1, 2], "+piece+")", "after(\"2026-01-01T00:00:00Z\")", "1..3")
	case 6:
		if Chance(g.t, 20) {
			return g.mutated(piece)
		}
		return piece
	default:
		return piece
	}
}

// mutated changes a piece where nobody expects it.
func (g *ruleSet) mutated(piece string) string {
	if piece == "" {
		return piece
	}
	runes := []rune(piece)
	at := Evenly(g.t, len(runes))
	end := min(at+Evenly(g.t, 3), len(runes))
	return string(runes[:at]) + Of(g.t, append(strings.Split("( ) [ ] { } , . ?. # ! | \" ' ${ } ? : let if", " "), Text(g.t))...) + string(runes[end:])
}

// spoil takes a field away, or replaces what it holds, somewhere in a file.
func (g *ruleSet) spoil(value any) {
	for {
		m, isMap := value.(map[string]any)
		list, isList := value.([]any)
		switch {
		case isMap && len(m) > 0:
			key := Of(g.t, sortedKeys(m)...)
			switch Evenly(g.t, 8) {
			case 0:
				delete(m, key)
			case 1:
				m[key] = anyValue(g.t, 1, 2)
			case 2:
				m[key+"s"] = m[key]
			default:
				value = m[key]
				continue
			}
			return
		case isList && len(list) > 0:
			value = Of(g.t, list...)
		default:
			return
		}
	}
}

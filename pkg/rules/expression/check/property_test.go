package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/test/generate"
	"github.com/dyncontroller/dyncontroller/test/oracle"
)

// grammar says what random expressions are written of: <kind> stands for an expression of that kind, and <kind node> for one
// over the elements of a list of components. The first of each kind are those for which no depth is left.
var grammar = map[string][]string{
	"bool": {
		"true", "<thing> != nil", "<thing> == nil", "hasTikv",
		"false", "both", "object.spec.enabled == true", "object.spec.flags?.a", "object.spec.pd.paused", "(object.spec.tikv?.paused ?? false)", "(object.spec.tikv?.paused ?? true)", "flag",
		"(<bool> && <bool>)", "(<bool> && <bool>)", "(<bool> && <bool>)", "(<bool> || <bool>)", "(<bool> || <bool>)", "!(<bool>)", "(<bool> ? <bool> : <bool>)", "(<bool>) == true", "(<bool>) != true", "false != (<bool>)",
		"(<num> <compare> <num>)", "(<num> <compare> <constant>)", "(<constant> <compare> <num>)", "(<text> <compare> <text>)", "(<text> <compare> <literal>)", "(<text> == <text>)", "(<text> contains <text>)", "<any> == <any>", "<any> != <constant>",
		`<text> in ["Normal", "a"]`, `"tikv" in object.spec`, `"leader" in object.status`, `"tidb" not in object.spec`, `"a" in keys(object.metadata.labels)`, `"a" in object.metadata.labels`, `"a" in <texts>`, "<num> in object.spec.sizes",
		"any(<nodes>, <bool node>)", "all(<nodes>, <bool node>)", "none(<nodes>, <bool node>)", "one(<nodes>, <bool node>)", `ready?.status == "True"`, "ready != nil", `condition(object, "Ready")?.reason != nil`,
		"len(<nodes>) <compare> <constant>", "len(<texts>) > 0", "count(<nodes>, <bool node>) > 0", `type(<any>) == "int"`, `type(<thing>) == "map"`, "leader != nil", "first != nil", "(let v = <thing>; v != nil && <bool>)", "(let b = <bool>; b && <bool> || !b && <bool>)",
	},
	"num": {
		"1", "object.spec.pd.replicas", "stores", "pd",
		"object.spec.tikv.replicas", "object.spec.tikv?.replicas", "object.spec.tidb.replicas", "object.spec.tidb?.replicas", "tikv.replicas", "tikv?.replicas", "object.status.ready", "object.status.leader.epoch", "object.status.leader?.epoch", "leader.epoch", "object.metadata.generation", "object.spec.ratio", "other.spec.pd.replicas", "other?.spec.pd.replicas", "first.spec.priority", "other.spec.tikv?.replicas",
		"(<num> ?? <num>)", "(<num> ?? 0)", "(<num> + <num>)", "(<num> - <num>)", "(<num> * <num>)", "-<num>", "(<bool> ? <num> : <num>)", "len(<texts>)", "sum(<nodes>, <num node>)", "reduce(<nodes>, #acc + .replicas, <num>)", "(let n = <num>; n + <num>)", "default(<num>, 1)", "max(<num>, <num>)", "(findIndex(<nodes>, <bool node>) ?? -1)", "find(<nodes>, <bool node>).replicas", "find(<nodes>, <bool node>)?.replicas",
	},
	"text": {
		`"a"`, "object.metadata.name", "object.spec.version", "object.spec.tikv?.image",
		"object.spec.tikv.image", "object.spec.tikv?.mode", "object.spec.timeout", "object.metadata.labels.a", "object.status.leader?.name", "object.status.leader.name", "tikv.version", "meta.name", "meta.labels.a", "meta.labels?.a", "ready.status", "ready?.reason", "ready.reason", "first.metadata.name", "other.metadata.name", "leader.name", `condition(object, "Ready").message`, `get(object.metadata.labels, "a")`, "object.spec.tikv.template.metadata.labels.a", "object.spec.tikv?.template?.metadata?.labels?.a",
		`(<text> ?? "x")`, "(<text> ?? <text>)", "(<text> + <text>)", "string(<num>)", "(<bool> ? <text> : <text>)", "upper(<text>)", "first(<texts>)", `join(<texts>, ",")`, `default(<text>, "d")`, "find(<nodes>, <bool node>).image", "(filter(<nodes>, <bool node>) | map(.image) | first())",
	},
	"texts": {`["a"]`, "object.spec.names", "keys(object.metadata.labels)", "object.metadata.finalizers", "filter(<texts>, # == <text>)", "map(<nodes>, <text node>)", "map(filter(<nodes>, <bool node>), <text node>)", "concat(<texts>, [<text>])", "<texts>[1:]", "sort(<texts>)"},
	"nodes": {"object.spec.nodes", "[object.spec.pd]", "filter(<nodes>, <bool node>)", "sortBy(<nodes>, .replicas)", "[tikv, object.spec.tidb]", "[object.spec.pd, object.spec.tikv]", "filter([object.spec.tikv], # != nil)", "(groups(<nodes>, .image) | map(.items) | flatten())", "(<bool> ? <nodes> : <nodes>)"},
	"thing": {
		"object.spec.tikv", "object.spec.tidb", "tikv", "ready",
		"object.status.leader", "leader", "object.spec.tikv?.image", "object.spec.timeout", "other", "first", "meta.labels", "object.metadata.labels.a", "object.spec.enabled", "object.spec.flags", "object.spec.tikv?.template?.metadata?.labels", `condition(object, "Ready")`, "object.spec.tikv?.replicas", "object.status.ready", "find(<nodes>, <bool node>)",
	},
	"any":      {"nil", "<num>", "<text>", "<bool>", "<thing>", "<texts>", "<nodes>", "{a: <num>, b: <thing>}.b", "(<thing> ?? <any>)", "<num node>"},
	"constant": {"0", "1", "3", "nil"},
	"literal":  {`"a"`, `"Normal"`, "nil"},
	"compare":  {"==", "!=", "<", "<=", ">", ">="},
}

// ofNode are those over a component called #.
var ofNode = map[string][]string{
	"bool": {
		".paused", ".image != nil", `(.mode ?? "") == "Normal"`, ".replicas > 1", "<bool>", "# != nil", ".template != nil", `.mode in ["Normal"]`, ".image == .version",
		"(<bool node> && <bool node>)", "(<bool node> || <bool node>)", "!(<bool node>)", "{let n = #; n.image != nil && any(object.spec.names, # == n.image + \"a\")}", ".template?.metadata?.labels?.a != nil",
	},
	"num":  {".replicas", "#.replicas + 1", "len(.image ?? \"\")", "<num>", "(.image != nil ? len(.image) : 0)"},
	"text": {".image", `(.image ?? "")`, ".version ?? \"a\"", ".template.metadata.labels.a", ".image + \"x\"", "<text>", `(.image != nil ? .image + "a" : "b")`},
}

// writer writes a random expression.
type writer struct {
	t      *rapid.T
	within int
}

func (w *writer) of(options []string) string {
	return generate.Of(w.t, options...)
}

func (w *writer) write(symbol string, depth int) string {
	kind, node, _ := strings.Cut(symbol, " ")
	rules := grammar[kind]
	if node != "" {
		if w.within > 2 {
			return strings.TrimSuffix(rules[0], "<thing> != nil")
		}
		w.within++
		defer func() { w.within-- }()
		rules = ofNode[kind]
	}
	if depth <= 0 {
		rules = rules[:min(len(rules), 4)]
	}
	return w.expand(w.of(rules), depth-1)
}

func (w *writer) expand(rule string, depth int) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(rule, "<")
		symbol, after, closed := strings.Cut(rest, ">")
		if _, known := grammar[strings.Split(symbol, " ")[0]]; !found || !closed || !known {
			if found && closed {
				out.WriteString(before + "<")
				rule = rest
				continue
			}
			out.WriteString(rule)
			return out.String()
		}
		out.WriteString(before + w.write(symbol, depth))
		rule = after
	}
}

// conforming returns a value that a schema allows, as it would be stored.
func conforming(t *rapid.T, s *schema.Type) any {
	switch {
	case s.Limit != nil && len(s.Limit.Enum) > 0:
		return rapid.SampledFrom(s.Limit.Enum).Draw(t, "enum")
	case s.Map != nil && s.Kinds == value.Map:
		return conformingMap(t, s)
	case s.List != nil && s.Kinds == value.List:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, conforming(t, s.List.Items))
		}
		return list
	case s.Format == schema.DateTime:
		return "2026-01-01T00:00:00Z"
	}
	var options []any
	for kind, all := range map[value.Kind][]any{
		value.Bool: {true, false}, value.Int: {int64(0), int64(1), int64(3)}, value.Float: {0.5, 1.0}, value.String: {"a", "", "Normal"},
	} {
		if s.Kinds&kind != 0 {
			options = append(options, all...)
		}
	}
	slices.SortFunc(options, func(a, b any) int { return int(value.KindOf(a)) - int(value.KindOf(b)) })
	return rapid.SampledFrom(options).Draw(t, "scalar")
}

func conformingMap(t *rapid.T, s *schema.Type) map[string]any {
	m := map[string]any{}
	for _, key := range s.Names() {
		f := s.Map.Fields[key]
		if f.Required || f.Always || rapid.Bool().Draw(t, key) {
			m[key] = conforming(t, f.Type)
		}
	}
	if s.Map.Values != nil {
		for _, key := range []string{"a", "b", "Normal"} {
			if rapid.Bool().Draw(t, key) {
				m[key] = conforming(t, s.Map.Values)
			}
		}
	}
	if s.Object {
		m["apiVersion"], m["kind"] = "example.org/v1", "Cluster"
		if m["metadata"] == nil {
			m["metadata"] = conforming(t, schema.Metadata())
		}
	}
	return m
}

// values are those of the names of a world.
type values struct {
	*world
	of         map[string]any
	evaluation *expression.Evaluation
}

func (v *values) Value(slot int) (any, error) {
	name := v.order[slot]
	if p := v.lets[name]; p != nil {
		return p.Eval(v.evaluation)
	}
	return v.of[name], nil
}

func someValues(t *rapid.T, w *world) *values {
	v := &values{world: w, of: map[string]any{
		"object": conforming(t, cluster), "pods": conforming(t, listing(pod)), "params": map[string]any{}, "anything": nil, "config": nil,
	}}
	if rapid.Bool().Draw(t, "other") {
		v.of["other"] = conforming(t, cluster)
	}
	v.evaluation = &expression.Evaluation{
		Names: v, Budget: value.NewBudget(1 << 20), Instant: value.NewInstant(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}
	return v
}

// TestNoFailures evaluates random expressions that nothing is wrong with, for random objects that their schema allows: none
// fails because something is absent or of the wrong kind, and the results are of the types that were foreseen.
func TestNoFailures(t *testing.T) {
	w := newWorld(t, cluster, slices.Concat(lets, []string{"flag", "object.spec.enabled ?? false"})...)
	clean, narrowed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		writer := &writer{t: t}
		when := writer.write("bool", 3)
		then := writer.write(writer.of([]string{"num", "text", "bool", "any", "nodes"}), 3)
		condition, result := compiledOrSkip(t, w, when), compiledOrSkip(t, w, then)
		facts, errs := check.Condition(condition, w, nil)
		if len(errs) > 0 {
			t.Skip("a wrong condition")
		}
		of, errs := check.Program(result, w, facts)
		if len(errs) > 0 {
			t.Skip("a wrong expression")
		}
		clean++
		for range 10 {
			v := someValues(t, w)
			holds, err := condition.EvalBool(v.evaluation)
			if err != nil && isMistake(err) {
				t.Fatalf("%s fails for %v: %v", when, v.of["object"], err)
			}
			if !holds {
				continue
			}
			narrowed++
			got, err := result.Eval(v.evaluation)
			switch {
			case err != nil && isMistake(err):
				t.Fatalf("%s fails where %s for %v: %v", then, when, v.of["object"], err)
			case err == nil && !oracle.Admits(of, got):
				t.Fatalf("%s is %v where %s for %v, and not %s", then, got, when, v.of["object"], of)
			}
		}
	})
	t.Logf("%d without complaints, evaluated %d times", clean, narrowed)
}

func compiledOrSkip(t *rapid.T, w *world, source string) *expression.Program {
	p, err := expression.Compile(source, w.scope)
	if err != nil {
		t.Skip(err)
	}
	return p
}

// isMistake reports whether an error is one that a check has to find.
func isMistake(err error) bool {
	text := err.Error()
	for _, part := range []string{"overflow", "too long", "too much", "finite", "join wants strings", "cannot order"} {
		if strings.Contains(text, part) {
			return false
		}
	}
	return true
}

package expression

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// grammar says what random expressions are written of: <kind> stands for an
// expression of that kind, <kind element> for a predicate over elements of the
// second kind. The first of each kind are those for which no depth is left.
var grammar = map[string][]string{
	"bool": {
		"true", "false", "<path bool>", "<path bool>",
		"<path any> == nil", "nil != <path any>", "<map>.a != nil", "<list>[0] == nil", "<map> == nil", "<any> != nil",
		"<num> <compare> <num>", "<text> <compare> <text>", "(<any> == <any>)", "(<any> != <any>)", "(<num> <less> <num> <less> <num>)",
		"(<text> contains <text>)", "(<text> startsWith <text>)", "(<text> endsWith <text>)", `(<text> matches "a|b")`,
		`("a" in <map>)`, `("a" in <path texts>)`, `("b" not in <path texts>)`, `("a" in <path any>)`, `("name" in <map>)`, `("a" not in <texts>)`, `("b" in <list>)`, `("kind" in <any>)`,
		"(1 in <list>)", "(nil in <list>)", "(<text> in <texts>)", "(<text> in <map>)", "(<any> in <list>)",
		"(<bool> && <bool>)", "(<bool> || <bool>)", "not (<bool>)", "!(<bool>)",
		"any(<objects>, <bool object>)", "all(<items>, <bool item>)", "none(<texts>, <bool text>)", "one(<list>, <bool any>)",
		`(condition(<object>, "Ready")?.status == "True")`, "hasPrefix(<text>, <text>)", `(type(<any>) == "map")`,
	},
	"num": {
		"1", "2", "0", "<path num>", "<path num>", "<path num>",
		"(<num> + <num>)", "(<num> - <num>)", "(<num> * <num>)", "(<num> / 2)", "(<num> % 2)", "-<path num>", "div(<num>, 2)",
		"len(<list>)", "len(<items>)", "len(<map>)", "len(<text>)", "len(<path any>)", "len(<objects>)",
		"count(<items>, <bool item>)", "count(<objects>, <bool object>)", "sum(<items>, <num item>)", "sum(<objects>, <num object>)",
		"len(groups(<path any>, <num any>)[0].items)", "len(groupBy(<path items>, <text any>))", "sum(map(<items>, <num item>))", "max(map(<items>, <num item>))", "min([<num>, <num>])", "sum(<list>)", "count(<list>)",
		"(findIndex(<items>, <bool item>) ?? -1)", "(findLastIndex(<texts>, <bool text>) ?? -1)",
		"reduce(<items>, <num reduced>, <num>)", "int(<text>)", "int(<num>)", "indexOf(<text>, <text>)", "round(<num>)",
	},
	"text": {
		`"a"`, `"b"`, `"name"`, "<path text>", "<path text>", "<path text>",
		"(<text> + <text>)", "string(<num>)", "string(<bool>)", "type(<any>)", "type(default(<path any>, 1))", "toJSON(<any>)", "toJSON(<map>)", "upper(<text>)", "trim(<text>)",
		`join(<texts>, ",")`, "join(map(<items>, <text item>))", `(first(keys(<map>)) ?? "")`, `(last(<texts>) ?? "")`, "<text>[<num>:<num>]",
		`replace(<text>, "a", "b")`, `(get(<map>, "a") ?? "") | string()`, "reduce(<texts>, #acc + #, <text>)",
	},
	"object": {
		"object", "<path object>", "other", "pods[0]",
		"(<objects>)[0]", "first(<objects>)", "last(<objects>)", "find(<objects>, <bool object>)", "findLast(<objects>, <bool object>)",
		"(<bool> ? <object> : <object>)", "(<object> ?? <object>)", "merge(<object>, <map>)", "merge(<map>, <object>)",
		`{apiVersion: <any>, kind: "K", metadata: <map>, spec: <any>}`, "default(<object>, <object>)", "reduce(<objects>, <object reduced>)",
	},
	"item": {
		"<path item>", "<path item>", "{name: <text>, n: <num>, tags: <texts>}",
		"(<items>)[<num>]", "first(<items>)", "(<items>)[-1]", "find(<items>, <bool item>)", "reduce(<items>, <item reduced>)", "merge(<item>, <item>)",
	},
	"map": {
		"{}", "{a: 1}", "<path map>", "<path map>", "<path map>",
		"{a: <any>, inner: <any>}", "{a: <any>, (<text>): <any>}", "<object>", "<item>", "merge(<map>, <map>)",
		"groupBy(<items>, <text item>)", "groupBy(<objects>, <text object>)", `condition(<object>, "Ready")`, "condition(<map>, <text>)",
		"fromPairs(toPairs(<map>))", "fromPairs(map(<texts>, [#, <any text>]))", "first(map(<list>, {<map any>}))", "reduce(<list>, ({n: #acc, e: #}), <any>)",
		"reduce(<items>, ({n: #acc, e: #}), {})?.n?.n?.e?.inner", "reduce(<objects>, ({n: #acc, e: #}))?.n?.n?.n?.e?.metadata",
		"reduce(<objects>, ({n: #acc?.n?.e, m: #acc?.m, e: #.spec}), nil)", "reduce(<list>, #acc?.inner ?? #, <any>)", "reduce(1..4, #acc?.inner ?? #acc, <object>)",
		"reduce(1..5, ({n: #acc}), <object>)?.n?.n?.n?.n?.spec",
		"reduce(<items>, merge(#acc, {(<text item>): #}), {})", "(<bool> ? <map> : <map>)", "<map>[<text>]", `get(<map>, <text>)`,
		`{apiVersion: <any>, kind: <any>, metadata: <map>}.metadata.labels`, `{apiVersion: <any>, kind: "K", spec: <any>}.spec`, "<object>.status",
	},
	"texts": {
		`["a", "b"]`, "[]", "<path texts>", "<path texts>",
		"[<text>, <text>]", "keys(<map>)", "map(<items>, <text item>)", "map(<objects>, <text object>)", "filter(<texts>, <bool text>)",
		"sort(<texts>)", "uniq(<texts>)", "reverse(<texts>)", "concat(<texts>, <texts>)", "split(<text>, \"a\")", "take(<texts>, <num>)",
		"flatten(map(<items>, <texts item>))", "flatten(map(<objects>, <texts object>))", "<texts>[<num>:]", "<texts>[:<num>]", "map(1..3, string(#))",
		"reduce(<items>, concat(#acc, <texts item>), [])",
	},
	"items": {
		"[{name: \"a\", n: 1}]", "<path items>", "<path items>", "<path items>",
		"[<item>, <item>]", "filter(<items>, <bool item>)", "sortBy(<items>, <text item>)", "sortBy(<items>, [<num item>, desc(<text item>)])",
		"sortBy(<items>, desc(<num item>))", "sortBy(<items>, {let k = <num item>; [desc(k), <text item>]})", "reverse(<items>)", "concat(<items>, <items>)", "uniq(<items>)", "take(<items>, <num>)", "<items>[1:]",
		"flatten(<path nested>)", "flatten(map(<objects>, <items object>))", "groups(<items>, <any item>)[0].items", "flatten(values(groupBy(<items>, <text item>)))", "map(<items>, merge(#, {n: <num item>}))",
		"(<bool> ? <items> : <items>)", "default(<items>, <items>)", "first(<path nested>)",
	},
	"objects": {
		"pods", "pods", "pods", "[object]",
		"[<object>, <object>]", "filter(<objects>, <bool object>)", "sortBy(<objects>, <text object>)", "reverse(<objects>)", "take(<objects>, <num>)",
		"concat(<objects>, <objects>)", "flatten([<objects>, <objects>])", "uniq(<objects>)", "values(groupBy(<objects>, <text object>))[0]",
		"map(filter(<objects>, <bool object>), <object object>)", "(<bool> ? <objects> : <objects>)",
	},
	"list": {
		"[1, 2]", "<texts>", "<items>", "<objects>", "<path any>", "<path nested>",
		"[<any>, <any>]", "values(<map>)", "toPairs(<map>)", "map(<list>, <any any>)", "filter(<list>, <bool any>)", "flatten(<list>)", "<list>[<num>:<num>]",
		"map(<objects>, <any object>)", "map(<items>, <any item>)", "sortBy(<list>, <any any>)", "reverse(<list>)", "sort(map(<items>, <num item>))",
		"map(<objects>, {{name: <any object>, spec: <any object>}})",
	},
	"any": {
		"nil", "1", `"a"`, "true", "[]", "omit()", "<path any>", "<path any>", "<path any>", "<path any>",
		"<bool>", "<num>", "<text>", "<list>", "<map>", "<item>", "<object>", "(<bool> ? <any> : <any>)", "(<path any> ?? <any>)", "default(<any>, <any>)",
		"(<any> ?? <any>)", "(let <local> = <any><in> <any>)", "(let <local> = <object><in> <any>)", "(let <local> = <items><in> <any>)", "reduce(<list>, <any reduced>, <any>)",
		"{a: <any>, b: <any>}.a", "[<any>, <any>][<num>]", "<call>", "<call>", "<call>", "<call>", "<call>", "get(<list>, <num>)", "(<map>)?.a", "first(<list>)", "if <bool> {<any>} else {<any>}",
	},
	"less":    {"<", "<="},
	"compare": {"<", "<=", ">", ">=", "==", "!="},
}

// fields are the paths that lead from objects and items to values of a kind, if
// these are as expected.
var fields = map[string][]string{
	"object bool":   {".spec.flag"},
	"object num":    {".spec.n", ".metadata.generation", ".spec.inner.n", ".spec.items[0].n"},
	"object text":   {".metadata.name", ".kind", ".spec.name", ".metadata.labels.a", ".spec.items[-1].name", ".spec.template.metadata.labels.a"},
	"object texts":  {".spec.tags", ".metadata.finalizers", ".spec.items[0].tags", ".spec.tags[:1]"},
	"object item":   {".spec.items[0]", ".spec.items[1]", ".spec.nested[0][0]", ".spec.inner"},
	"object items":  {".spec.items", ".spec.items[1:]", ".spec.nested[0]"},
	"object nested": {".spec.nested"},
	"object map": {
		"", ".spec", ".metadata", ".metadata.labels", ".metadata.annotations", ".spec.m", ".spec.inner", ".status", ".spec.template.spec",
		".spec.template.metadata.labels", ".spec.whole", ".spec.whole.spec", ".spec.whole.metadata.annotations",
	},
	"object any": {
		"", ".spec", ".spec.a", ".spec.b", ".spec.c", ".spec.a.b", ".spec.a.a", ".spec.items[0]", ".metadata.managedFields", ".status.conditions", ".spec.template.spec.a",
		".spec.m.a", ".spec.whole.spec", ".spec.template",
	},
	"item bool":  {".flag"},
	"item num":   {".n", ".inner.n"},
	"item text":  {".name", ".inner.a"},
	"item texts": {".tags"},
	"item map":   {"", ".inner"},
	"item any":   {"", ".name", ".tags", ".tags[0]", ".inner", ".inner.a"},
	"item item":  {""},
	"text text":  {""},
	"text any":   {"", "[1:]"},
}

var steps = []string{
	".a", ".name", ".spec", ".metadata", ".labels", ".inner", ".kind", "?.a", "?.inner", "?.[0]", "?.[-1]", `?.["a"]`, "[1:]", "[:-1]", "?.[params.key]", "?.[params.n]", "?.labels",
}

var functions = function.All()

// writer writes a random expression.
type writer struct {
	t      *rapid.T
	names  []string
	locals int
	// elements are the kinds of the elements of the predicates around.
	elements []string
	reduces  bool
}

func (w *writer) chance(percent uint64) bool { return evenly(w.t, 100) >= 100-percent }

func (w *writer) of(options ...string) string { return options[evenly(w.t, uint64(len(options)))] }

// evenly returns a number below n. Those of rapid are mostly small, which would
// make for shallow expressions; like them, this one shrinks to 0.
func evenly(t *rapid.T, n uint64) uint64 {
	return rapid.Uint64().Draw(t, "choice") * 0x9E3779B97F4A7C15 >> 32 % n
}

func (w *writer) write(symbol string, depth int) string {
	kind, argument, two := strings.Cut(symbol, " ")
	switch {
	case kind == "path":
		return w.path(argument)
	case kind == "local":
		return fmt.Sprintf("v%d", w.locals+1)
	case kind == "in":
		w.locals++
		return ";"
	case kind == "call":
		return w.call(depth)
	case two:
		return w.predicate(kind, argument, depth)
	}
	rules := grammar[kind]
	if depth <= 0 {
		rules = rules[:min(len(rules), 4)]
	}
	return w.expand(w.of(rules...), depth-1)
}

// expand replaces what is in < >. A variable exists to the right of its name.
func (w *writer) expand(rule string, depth int) string {
	outer := w.locals
	var text strings.Builder
	for {
		before, rest, found := strings.Cut(rule, "<")
		symbol, after, closed := strings.Cut(rest, ">")
		if !found || !closed {
			text.WriteString(rule)
			w.locals = outer
			return text.String()
		}
		text.WriteString(before + w.write(symbol, depth))
		rule = after
	}
}

// call calls any function of the table, so that a new one is tried too.
func (w *writer) call(depth int) string {
	f := functions[evenly(w.t, uint64(len(functions)))]
	if f.Name == "desc" {
		f.Name = "len"
	}
	var arguments []string
	element := "any"
	for i, p := range f.Params {
		if p.Optional && w.chance(50) {
			break
		}
		kind := w.kindOf(p.Kinds)
		switch {
		case p.Predicate:
			arguments = append(arguments, w.predicate(w.kindOf(p.Kinds), element, depth-1))
			continue
		case i == 0 && kind == "objects" || kind == "items" || kind == "texts":
			element = strings.TrimSuffix(kind, "s")
		}
		for more := true; more; more = p.Variadic && w.chance(50) {
			arguments = append(arguments, w.write(kind, depth-1))
		}
	}
	return f.Name + "(" + strings.Join(arguments, ", ") + ")"
}

// kindOf returns a kind of the grammar that a parameter takes.
func (w *writer) kindOf(kinds value.Kind) string {
	var options []string
	add := func(kind value.Kind, names ...string) {
		if kinds&kind != 0 {
			options = append(options, names...)
		}
	}
	add(value.Bool, "bool")
	add(value.Number, "num")
	add(value.String, "text")
	add(value.List, "list", "items", "objects", "texts")
	add(value.Map, "map", "object", "item")
	return w.of(append(options, "any")...)
}

func (w *writer) predicate(kind, element string, depth int) string {
	if len(w.elements) == 3 {
		return grammar[kind][0]
	}
	outer := w.reduces
	w.reduces = element == "reduced"
	w.elements = append(w.elements, element)
	text := "(" + w.write(kind, depth) + ")" // A map alone would be taken for the braces of the predicate.
	w.elements = w.elements[:len(w.elements)-1]
	w.reduces = outer
	return text
}

// path goes from a name to a field that is often there and of the wanted kind, and
// sometimes on.
func (w *writer) path(kind string) string {
	root, of := w.root()
	options := fields[of+" "+kind]
	if len(options) == 0 {
		options = []string{""}
	}
	path := root + w.of(options...)
	path = strings.TrimSuffix(path, "?")
	for w.chance(12) {
		path += w.of(steps...)
	}
	if fallback := grammar[kind]; len(fallback) > 0 && w.chance(40) {
		return "(" + path + " ?? " + w.of("nil", w.expand(fallback[0], 0)) + ")"
	}
	return path
}

// root returns a name that is visible, and the kind of its value.
func (w *writer) root() (name, kind string) {
	if n := len(w.elements); n > 0 && w.chance(65) {
		element := w.elements[n-1]
		switch {
		case w.reduces && w.chance(40):
			return "#acc", "any"
		case w.reduces:
			return "#", w.of("item", "object", "text")
		case w.chance(5):
			return "#index", "any"
		default:
			return "#", element
		}
	}
	if w.locals > 0 && w.chance(40) {
		return fmt.Sprintf("v%d", 1+evenly(w.t, uint64(w.locals))), w.of("object", "item", "any")
	}
	if len(w.names) > 0 && w.chance(20) {
		return w.of(w.names...), w.of("object", "item", "any")
	}
	return w.of("object", "object", "object", "other?", "pods[0]?"), "object"
}

// generateExpression returns an expression that may use these names.
func generateExpression(names ...string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		w := &writer{t: t, names: names}
		return w.write(w.of("any", "bool", "num", "text", "map", "list", "items", "objects"), int(2+evenly(t, 4)))
	})
}

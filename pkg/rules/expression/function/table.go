package function

import (
	"math"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// entry is a function as the table has it. In its signature each parameter has a type, of which "?" adds nil and "..." says that
// it may be repeated; => is before the type of what is evaluated for each element, and brackets are around what may be left out.
type entry struct {
	signature     string
	call          func(c Call) any
	flow          func(c *Flow) footprint.Shape
	types         func(c *TypeCall) typing.Type
	doc           string
	example, want string
}

// What several functions take.
const (
	aList      = value.List | value.Nil
	aNumber    = value.Number
	aSummand   = value.Number | value.Quantity | value.Duration
	aMeasure   = value.Number | value.Computed
	anything   = value.Any | value.Computed
	ordinal    = value.Bool | value.Number | value.String | value.Computed
	anInterval = value.Duration | value.String | value.Int
)

// paramTypes are the types that signatures have, with what reads an argument. Only what Kubernetes can hold is data.
var paramTypes = map[string]Param{
	"bool": {Kinds: value.Bool}, "int": {Kinds: value.Int}, "float": {Kinds: value.Float}, "number": {Kinds: aNumber},
	"string": {Kinds: value.String}, "list": {Kinds: value.List}, "map": {Kinds: value.Map},
	"quantity": {Kinds: value.Quantity}, "semver": {Kinds: value.Semver}, "duration": {Kinds: value.Duration},
	"time": {Kinds: value.Time}, "computed": {Kinds: value.Computed}, "stamp": {Kinds: value.Stamped}, "omission": {Kinds: value.Omission},
	"data": {Kinds: value.Any}, "any": {Kinds: anything}, "present": {Kinds: anything &^ value.Nil},
	"result": {Kinds: anything | value.Omission | value.Stamped}, "summand": {Kinds: aSummand}, "measure": {Kinds: aMeasure},
	"countable": {Kinds: aNumber | value.String | value.Quantity | value.Duration | value.Time},

	"amount":  {Kinds: aNumber | value.String | value.Quantity, Parse: parser((*value.Budget).Conversion, value.ParseAmount)},
	"version": {Kinds: value.String | value.Semver, Parse: parser((*value.Budget).Conversion, value.ParseVersion)},
	"span":    {Kinds: anInterval, Parse: parser(spends(10, 32), value.ParseDuration)},
	"instant": {Kinds: value.Time | value.String, Parse: parser(spends(10, 32), value.ParseTime)},
	"cron":    {Kinds: value.String, Parse: parser(spends(1000, 16<<10), parseCron)},
	"length":  {Kinds: anInterval, Parse: parser(spends(10, 32), windowLength)},
	"selector": {Kinds: value.Map | value.Nil, Parse: func(b *value.Budget, v any) (any, error) {
		// Each label, and each value, is checked, and copied several times.
		if err := b.Spend(500+50*value.Size(v), 4000+100*value.Size(v)); err != nil {
			return nil, err
		}
		return parseSelector(v)
	}},
	"zone":    {Kinds: value.String, Parse: parser(spends(500, 8<<10), parseZone)},
	"block":   {Kinds: value.String, Parse: parser((*value.Budget).Conversion, parseBlock)},
	"address": {Kinds: value.String, Parse: parser((*value.Budget).Conversion, parseAddress)},
}

func define(
	signature string, call func(c Call) any, flow func(c *Flow) footprint.Shape, types func(c *TypeCall) typing.Type, doc, example, want string,
) entry {
	return entry{signature, call, flow, types, doc, example, want}
}

// entries is the functions in the order of the reference.
var entries = []entry{
	// Lists, with an expression for each element.
	define("all(list list?, condition => bool) bool", func(c Call) any { return c.search(0, 1, false) < 0 }, nil, nil,
		"Whether the condition holds for every element; true for an empty list.",
		"all([2, 4], # % 2 == 0)", "true"),
	define("any(list list?, condition => bool) bool", func(c Call) any { return c.first() >= 0 }, nil, nil,
		"Whether the condition holds for some element; false for an empty list.",
		`any(["a", "b"], # == "b")`, "true"),
	define("none(list list?, condition => bool) bool", func(c Call) any { return c.first() < 0 }, nil, nil,
		"Whether the condition holds for no element; true for an empty list.",
		"none([1, 3], # > 3)", "true"),
	define("one(list list?, condition => bool) bool", one, nil, nil,
		"Whether the condition holds for exactly one element.",
		"one([1, 2, 3], # > 2)", "true"),
	define("filter(list list?, condition => bool) list", filter, flowElements, typeKept,
		"The elements for which the condition holds, in their order.",
		"filter([1, 2, 3], # > 1)", "[2,3]"),
	define("map(list list?, result => result) list", mapEach, flowResults, typeResults,
		"The result for each element. A map as the result needs braces of its own inside those of the predicate.",
		`map(["a", "b"], {{name: #}})`, `[{"name":"a"},{"name":"b"}]`),
	define("find(list list?, condition => bool) result", func(c Call) any { return c.at(c.first()) }, flowElement, typeFound,
		"The first element for which the condition holds, or nil.",
		"find([1, 2, 3], # > 1)", "2"),
	define("findIndex(list list?, condition => bool) int?", func(c Call) any { return c.index(c.first()) }, nil, nil,
		"The index of the first element for which the condition holds, or nil.",
		"findIndex([1, 2, 3], # > 1)", "1"),
	define("findLast(list list?, condition => bool) result", func(c Call) any { return c.at(c.last()) }, flowElement, typeFound,
		"The last element for which the condition holds, or nil.",
		"findLast([1, 2, 3], # < 3)", "2"),
	define("findLastIndex(list list?, condition => bool) int?", func(c Call) any { return c.index(c.last()) }, nil, nil,
		"The index of the last element for which the condition holds, or nil.",
		"findLastIndex([1, 2, 3], # < 3)", "1"),
	define("count(list list?, [condition => bool]) int", count, nil, nil,
		"How many elements the condition holds for; without one, how many are true.",
		"count([1, 2, 3], # > 1)", "2"),
	define("sum(list list?, [number => summand]) summand", sum, nil, typeSum,
		"The sum of the results, or of the elements themselves; integers stay exact. "+
			"It is 0 for an empty list, so write quantity(sum(...)) or duration(sum(...)) where the results are such.",
		"sum([{n: 1}, {n: 2}], .n)", "3"),
	define("groupBy(list list?, key => string) map", groupBy, flowGroups, typeGroupBy,
		"The elements by the string that the key gives for each, in their order.",
		`groupBy(["ant", "bee", "ape"], #[:1])`, `{"a":["ant","ape"],"b":["bee"]}`),
	define("groups(list list?, keys => any) list", groups, flowByKey, typeGroups,
		"The elements by what the keys give for each, which may be anything, as maps {key, items} in the order of their first elements.",
		"groups([1, 2, 3], # % 2)", `[{"items":[1,3],"key":1},{"items":[2],"key":0}]`),
	define("sortBy(list list?, key => any, [order string]) list", sortBy, flowElements, typeElements,
		"The elements ordered by the key, or by several as [k1, desc(k2)], which are numbers, strings, booleans, quantities, "+
			`versions, durations or times. Equal ones keep their order, nil comes first; order is "asc" or "desc".`,
		`sortBy([{n: 1, s: "b"}, {n: 2, s: "b"}, {n: 2, s: "a"}], [desc(.n), .s]) | map(.s)`, `["a","b","b"]`),
	define("desc(key present) present", nil, nil, typeSame,
		"A key of sortBy in descending order; it has no meaning elsewhere.",
		"sortBy([1, 3, 2], desc(#))", "[3,2,1]"),
	define("reduce(list list?, result => result, [initial any]) result", reduce, flowReduce, typeReduce,
		"The last result, where each sees the element as # and the result before it as #acc, "+
			"which is at first the initial value or else the first element.",
		"reduce([1, 2, 3], #acc + #, 10)", "16"),
	// Lists, and what also takes maps or texts.
	define("len(of list?|map?|string) int", length, flowLength, nil,
		"The number of elements of a list, entries of a map or characters of a string; 0 for what is absent.",
		`len("größe")`, "5"),
	define("first(list list?) result", func(c Call) any { return value.Element(c.list(), 0) }, flowElement, typeElement,
		"The first element, or nil.",
		"first([1, 2])", "1"),
	define("last(list list?) result", func(c Call) any { return value.Element(c.list(), -1) }, flowElement, typeElement,
		"The last element, or nil.",
		"last([1, 2])", "2"),
	define("take(list list?, n int) list", take, flowElements, typeElements,
		"The first n elements, or as many as there are; none if n is negative.",
		"take([1, 2, 3], 2)", "[1,2]"),
	define("get(from list?|map?, key string|int) result", get, flowGet, typeGet,
		"The element at an index, or the value of a key; nil if there is none.",
		`get({a: 1}, "b") ?? 0`, "0"),
	define("concat(lists list?...) list", concat, flowElements, typeConcat,
		"The elements of all lists, one after the other.",
		"concat([1], nil, [2])", "[1,2]"),
	define("flatten(list list?) list", func(c Call) any { return appendFlat([]any{}, c.list(), c.Budget, 0) }, flowFlatten, typeFlatten,
		"The elements with every list among them, at any depth, replaced by its own; one that is absent has none.",
		"flatten([1, [2, nil, [3]]])", "[1,2,3]"),
	define("uniq(list list?) list", uniq, flowOrdered, typeElements,
		"The elements without those that equal an earlier one.",
		"uniq([1, 2, 1.0])", "[1,2]"),
	define("sort(list list?, [order string]) list", sortList, flowOrdered, typeElements,
		`The elements, as keys of sortBy, in order, which is "asc" or "desc".`,
		`sort([3, 1, 2], "desc")`, "[3,2,1]"),
	define("reverse(list list?) list", reverse, flowElements, typeElements,
		"The elements from last to first.",
		"reverse([1, 2])", "[2,1]"),
	define("join(list list?, [separator string]) string", join, nil, nil,
		"The strings of the list in one, with the separator between them.",
		`join(["a", "b"], "-")`, `"a-b"`),
	// Maps.
	define("keys(map map?) list", eachKey(func(key string, _ any) any { return key }), flowLength, typeTexts,
		"The keys in alphabetical order.",
		"keys({b: 1, a: 2})", `["a","b"]`),
	define("values(map map?) list", eachKey(func(_ string, v any) any { return v }), flowValues, typeValues,
		"The values in the alphabetical order of their keys.",
		"values({b: 1, a: 2})", "[2,1]"),
	define("toPairs(map map?) list", eachKey(func(key string, v any) any { return []any{key, v} }), flowPairs, typePairs,
		"The entries as lists of key and value, in the alphabetical order of the keys.",
		"toPairs({b: 1, a: 2})", `[["a",2],["b",1]]`),
	define("fromPairs(pairs list?) map", fromPairs, flowFromPairs, typeFromPairs,
		"The map of entries that are lists of key and value; of equal keys the last counts, and what has no value is left out.",
		`fromPairs([["a", 1]])`, `{"a":1}`),
	define("merge(maps map?...) map", merge, flowMerge, typeMerge,
		"The entries of all maps, later ones winning; maps among the values are merged too, lists are replaced, null is a value.",
		"merge({a: {x: 1, y: 1}}, {a: {y: 2}})", `{"a":{"x":1,"y":2}}`),
	define("pick(map map?, keys string...) map", pick, flowPick, typePick,
		"The entries of the map under these keys. What a new version of Kubernetes adds to the map is left out.",
		`pick({a: 1, b: 2}, "a", "c")`, `{"a":1}`),
	// Objects of Kubernetes.
	define("condition(object map?, type string) map?", condition, flowCondition, typeCondition,
		"The condition of that type in the object's status, or nil.",
		`condition({status: {conditions: [{type: "Ready", status: "True"}]}}, "Ready")?.status`, `"True"`),
	define("labelsMatch(object map?, selector selector) bool", labelsMatch, flowLabelsMatch, nil,
		"Whether a label selector, of matchLabels and matchExpressions, selects the object. "+
			"None does where it is nil; an empty one, which would select everything, is an error.",
		`labelsMatch({metadata: {labels: {app: "tidb"}}}, {matchLabels: {app: "tidb"}})`, "true"),
	define("controllerOf(object map?) map?", controllerOf, flowControllerOf, typeControllerOf,
		"The owner reference of the object that says controller, or nil.",
		`controllerOf({metadata: {ownerReferences: [{kind: "ReplicaSet", name: "web", controller: true}]}})?.name`, `"web"`),
	define("controllerRef(object map?) map", controllerRef, flowControllerRef, typeControllerRef,
		"An owner reference to the object as the controller of what holds it.",
		`controllerRef({apiVersion: "apps/v1", kind: "ReplicaSet", metadata: {name: "web", uid: "0-1"}})`, `{"apiVersion":"apps/v1","blockOwnerDeletion":true,"controller":true,"kind":"ReplicaSet","name":"web","uid":"0-1"}`),
	// Texts.
	define("split(text string, separator string, [limit int]) list", split(strings.SplitN), nil, typeTexts,
		"The parts between separators, at most limit of them.",
		`split("a,b,c", ",", 2)`, `["a","b,c"]`),
	define("splitAfter(text string, separator string, [limit int]) list", split(strings.SplitAfterN), nil, typeTexts,
		"As split, with the separator kept at the end of each part.",
		`splitAfter("a,b", ",")`, `["a,","b"]`),
	define("trim(text string, [characters string]) string", trim, nil, nil,
		"The text without those characters, or without white space, at both ends.",
		`trim(" a ")`, `"a"`),
	define("trimPrefix(text string, prefix string) string", texts(strings.TrimPrefix), nil, nil,
		"The text without the prefix, if it starts with it.",
		`trimPrefix("v1.2", "v")`, `"1.2"`),
	define("trimSuffix(text string, suffix string) string", texts(strings.TrimSuffix), nil, nil,
		"The text without the suffix, if it ends with it.",
		`trimSuffix("a.yaml", ".yaml")`, `"a"`),
	define("upper(text string) string", changeCase(strings.ToUpper), nil, nil,
		"The text in upper case.",
		`upper("ab")`, `"AB"`),
	define("lower(text string) string", changeCase(strings.ToLower), nil, nil,
		"The text in lower case.",
		`lower("AB")`, `"ab"`),
	define("replace(text string, old string, new string, [limit int]) string", replace, nil, nil,
		"The text with old replaced by new, at most limit times.",
		`replace("a-b-c", "-", "_")`, `"a_b_c"`),
	define("repeat(text string, n int) string", repeat, nil, nil,
		"The text n times.",
		`repeat("ab", 2)`, `"abab"`),
	define("indexOf(text string, part string) int", position(strings.Index), nil, nil,
		"How many characters come before the first occurrence of the part, or -1.",
		`indexOf("a.b.c", ".")`, "1"),
	define("lastIndexOf(text string, part string) int", position(strings.LastIndex), nil, nil,
		"How many characters come before the last occurrence of the part, or -1.",
		`lastIndexOf("a.b.c", ".")`, "3"),
	define("hasPrefix(text string, prefix string) bool", texts(strings.HasPrefix), nil, nil,
		"Whether the text starts with the prefix, as the operator startsWith.",
		`hasPrefix("ab", "a")`, "true"),
	define("hasSuffix(text string, suffix string) bool", texts(strings.HasSuffix), nil, nil,
		"Whether the text ends with the suffix, as the operator endsWith.",
		`hasSuffix("ab", "b")`, "true"),
	// Numbers.
	define("div(a int, b int) int", func(c Call) any { return value.Got(value.Quotient(arg[int64](c, 0), arg[int64](c, 1))) }, nil, nil,
		"The integer quotient, cut off toward zero; the operator / gives a float.",
		"div(7, 2)", "3"),
	define("abs(x number) number", abs, nil, nil,
		"The number without its sign.",
		"abs(-2)", "2"),
	define("ceil(x number) int", whole(math.Ceil), nil, nil,
		"The next integer that is not smaller.",
		"ceil(7 / 2)", "4"),
	define("floor(x number) int", whole(math.Floor), nil, nil,
		"The next integer that is not larger.",
		"floor(7 / 2)", "3"),
	define("round(x number) int", whole(math.Round), nil, nil,
		"The nearest integer; halves go away from zero.",
		"round(2.5)", "3"),
	define("min(numbers measure|list?...) measure?", extreme(-1), nil, typeExtreme,
		"The smallest of the numbers, quantities, versions, durations or times, which may come in lists; nil if there is none.",
		"min(3, [1, 2])", "1"),
	define("max(numbers measure|list?...) measure?", extreme(1), nil, typeExtreme,
		"The largest of the numbers, quantities, versions, durations or times, which may come in lists; nil if there is none.",
		"max(3, [1, 2])", "3"),
	define("mean(numbers number|list?...) float?", mean, nil, typeMiddle,
		"The average of the numbers, which may come in lists; nil if there is none.",
		"mean([1, 2])", "1.5"),
	define("median(numbers number|list?...) float?", median, nil, typeMiddle,
		"The number in the middle, or the average of the two; nil if there is none.",
		"median([1, 2, 10])", "2"),
	define("jitter(key string, low duration|string|int, high duration|string|int) int|duration", jitter, nil, nil,
		"A number that looks random and is always the same for a key, from low to high, both included: "+
			"an integer between integers, else a duration.",
		`jitter("basic", 1, 100)`, "99"),
	// Time.
	define("after(time instant) bool", func(c Call) any { return c.reached(arg[time.Time](c, 0)) }, nil, nil,
		"Whether the time has come, to the instant.",
		`after("2026-01-01T00:00:00Z")`, "true"),
	define("before(time instant) bool", func(c Call) any { return !c.reached(arg[time.Time](c, 0)) }, nil, nil,
		"Whether the time has yet to come.",
		`before("2026-01-01T09:00:00+01:00")`, "true"),
	define("olderThan(time instant, duration span) bool", olderThan, nil, nil,
		`Whether at least the duration has passed since the time. It is a text such as "1w2d3h4m5s", or a number of seconds.`,
		`olderThan("2025-12-25T00:00:00Z", "1w")`, "true"),
	define("inWindow(cron cron, duration length, [zone zone]) bool", inWindow, nil, nil,
		"Whether a window is open that begins whenever the cron schedule says (five fields, or a name such as @daily) and lasts "+
			"for the duration. The zone is a name of the IANA database, or else UTC: "+
			"where its clocks skip an hour, no window begins in it; where they repeat one, its windows begin twice.",
		`inWindow("0 22 * * 1-5", "8h", "Europe/Berlin")`, "true"),
	define("window(cron cron, duration length, [zone zone]) map?", window, nil, typeWindow,
		"The window of inWindow that began last, as start and end in its zone, or nil where none is open.",
		`window("0 22 * * *", "8h", "Europe/Berlin")`, `{"end":"2026-01-01T06:00:00+01:00","start":"2025-12-31T22:00:00+01:00"}`),
	define("stamp() stamp", func(Call) any { return value.Stamp{} }, nil, nil,
		"The time of writing, for a body alone: nothing can read it. What is there stays, unless something else in the "+
			"same map changes.",
		`{phase: "Ready", since: stamp()}`, `{"phase":"Ready","since":"2026-01-01T00:00:00Z"}`),
	define("setCondition(list list?, condition map?) list?", setCondition, flowSetCondition, typeSetCondition,
		"The list with the condition in place of the one of its type. Nothing of the old one stays but lastTransitionTime, "+
			"and that only while status is the same. A nil condition changes nothing.",
		`setCondition([], {type: "Ready", status: "True", reason: "Up"})`, `[{"lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Up","status":"True","type":"Ready"}]`),
	// Values that a body holds as strings.
	define("quantity(x amount) quantity", func(c Call) any { return c.Args[0] }, nil, nil,
		"The quantity, as of memory or of processors, that a text or a number writes. Quantities compare, add and subtract, "+
			"also with a text or a number on one side; a body holds them in their canonical form.",
		`quantity("1Gi") + "512Mi"`, `"1536Mi"`),
	define("semver(x version) semver", func(c Call) any { return c.Args[0] }, nil, nil,
		"The semantic version that a text writes; a leading v and numbers missing at the end do no harm. Versions compare by "+
			"precedence, which ignores build metadata, also with a text on one side.",
		`semver("v1.10.0") > "1.9"`, "true"),
	define("duration(x span) duration", func(c Call) any { return c.Args[0] }, nil, nil,
		`The duration that a text such as "1w2d3h4m5s" or a number of seconds writes. Durations compare, add and subtract, also with `+
			"a text or seconds on one side; multiplied or divided by an integer they are durations, by one another numbers.",
		`duration("1h") > "5m" ? 2 * duration("1d") : duration(0)`, `"48h0m0s"`),
	define("timestamp(x instant) time", func(c Call) any { return c.Args[0] }, nil, nil,
		"The time that a text in RFC 3339 writes. Times compare, also with a text on one side; one less another is a duration, "+
			"and with a duration, its text or seconds added or subtracted it is a time in its zone.",
		`timestamp("2026-01-01T00:00:00Z") - "90m"`, `"2025-12-31T22:30:00Z"`),
	// Conversions.
	define("int(x countable) int", toInt, nil, nil,
		"The integer that a text writes, or a number or quantity without its fraction; of a duration or time the seconds, since 1970.",
		`int("42")`, "42"),
	define("float(x countable) float", toFloat, nil, nil,
		"The number that a text writes, a number or a quantity as a float; of a duration or time the seconds, since 1970.",
		`float("1.5")`, "1.5"),
	define("string(x number|string|bool|computed) string", toString, nil, nil,
		"The text of a string, number or boolean, and the canonical form of a quantity, version, duration or time.",
		"string(42)", `"42"`),
	define("type(x any) string", func(c Call) any { return value.KindOf(c.Args[0]).Name() }, flowKind, typeType,
		`The kind of value: "nil", "bool", "int", "float", "string", "array", "map", "quantity", "semver", "duration" or "time".`,
		"type(1.5)", `"float"`),
	define("toJSON(x present, [indent int]) string", toJSON, nil, nil,
		"The value as JSON with sorted keys: compact, or in lines that are indented by so many spaces.",
		"toJSON({b: 1, a: [true]})", `"{\"a\":[true],\"b\":1}"`),
	define("fromJSON(text string) data", func(c Call) any { return value.Got(value.ParseJSON(arg[string](c, 0), c.Budget)) }, nil, nil,
		"The value that JSON text holds; integers stay integers.",
		`fromJSON("[1, 2.5]")`, "[1,2.5]"),
	define("toYAML(x present) string", func(c Call) any { return value.Got(value.YAML(c.Args[0], c.Budget)) }, nil, nil,
		"The value as YAML with sorted keys, laid out as kubectl does, with quotes around whatever some reader could take for no text.",
		`toYAML({b: ["x", "yes"], a: 1})`, `"a: 1\nb:\n- x\n- \"yes\"\n"`),
	define("fromYAML(text string) data", func(c Call) any { return value.Got(document.ParseData(arg[string](c, 0), c.Budget)) }, nil, nil,
		"The value that a YAML document holds, nil if it is empty; integers stay integers, times are strings. Duplicate keys, tags, "+
			"merge keys and what readers understand differently, like an unquoted yes or 012, are errors.",
		`fromYAML("a: [1, x]")`, `{"a":[1,"x"]}`),
	define("sha256(text string) string", sha256Hex, nil, nil,
		"The SHA-256 digest of the text, in hexadecimal digits.",
		`sha256("ab")[:8]`, `"fb8e20fc"`),
	define("toBase64(text string) string", toBase64, nil, nil,
		"The text in base64.",
		`toBase64("ab")`, `"YWI="`),
	define("fromBase64(text string) string", fromBase64, nil, nil,
		"The text that base64 holds; an error if it is not UTF-8.",
		`fromBase64("YWI=")`, `"ab"`),
	// Network.
	define("cidrContains(cidr block, ip address) bool", cidrContains, nil, nil,
		"Whether the CIDR block, of IPv4 or IPv6, contains an address, or all of another block.",
		`cidrContains("10.0.0.0/8", "10.1.2.3")`, "true"),
	define("url(text string) map", parseURL, nil, typeURL,
		"The parts of a URL, which has to be whole: scheme, user (without a password), host, hostname, port (an integer, or nil), "+
			`path, query (a list of strings for each name) and fragment. What is missing is "".`,
		`url("https://example.org:8443/a?b=c&b=d").query.b`, `["c","d"]`),
	// Absence.
	define("default(x any, y result) result", orDefault, flowChoice, typeDefault,
		`The first argument, or the second where that is nil, "" or an empty list or map.`,
		`default("", "none")`, `"none"`),
	define("omit() omission", func(Call) any { return value.Omitted{} }, flowNothing, nil,
		"Leaves out the key or element that it would be the value of, as if that were not written.",
		"{a: 1, b: true ? omit() : 2}", `{"a":1}`),
}

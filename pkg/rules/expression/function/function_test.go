package function_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// none resolves no names.
type none struct{}

func (none) Value(int) (any, error) { return nil, errors.New("no names") }

func eval(source string) (any, error) {
	p, err := expression.Compile(source, expression.NewScope())
	if err != nil {
		return nil, err
	}
	return p.Eval(&expression.Evaluation{Names: none{}, Budget: expression.NewBudget(0)})
}

// list abbreviates the results below.
func list(elements ...any) []any { return append([]any{}, elements...) }

func TestFunctions(t *testing.T) {
	i := func(n int64) any { return n }
	tests := map[string]struct {
		source string
		want   any
	}{
		"len of a list":                      {"len([1, nil])", i(2)},
		"len of what is absent":              {"len(nil)", i(0)},
		"take fewer than none":               {"take([1, 2], -3)", list()},
		"take more than there are":           {"take([1, 2], 9223372036854775807)", list(i(1), i(2))},
		"take of nothing":                    {"take(nil, 2)", list()},
		"get an element from the end":        {"get([1, 2], -1)", i(2)},
		"get no element":                     {"get([1, 2], 2)", nil},
		"get no key":                         {`get({}, "a")`, nil},
		"get from what is absent":            {`get(nil, "a")`, nil},
		"concat what is absent":              {"concat(nil, nil)", list()},
		"flatten":                            {"flatten([[], [1, [2, [{a: [3]}, nil]]], nil])", list(i(1), i(2), map[string]any{"a": list(i(3))})},
		"uniq of numbers":                    {"uniq([1, 1.0, 1.5, 1.5, 2])", list(i(1), 1.5, i(2))},
		"uniq of structures":                 {"uniq([{a: 1, b: [2]}, {b: [2.0], a: 1.0}, [1], [1.0]])", list(map[string]any{"a": i(1), "b": list(i(2))}, list(i(1)))},
		"uniq tells kinds apart":             {`uniq(["1", 1, "[1]", [1], true, "true", nil, nil])`, list("1", i(1), "[1]", list(i(1)), true, "true", nil)},
		"uniq of floats beyond the integers": {"uniq([1e300, 1e300, -1e300])", list(1e300, -1e300)},
		"uniq of minus zero":                 {"uniq([0, -0.0, [0], [-0.0]])", list(i(0), list(i(0)))},
		"uniq of large floats in lists":      {"uniq([[1152921504606846976], [1152921504606846976.0]])", list(list(i(1 << 60)))},
		"sort booleans":                      {"sort([true, false])", list(false, true)},
		"sort with nil":                      {"sort([1, nil])", list(nil, i(1))},
		"sort descending":                    {`sort([1, 2, nil], "desc")`, list(i(2), i(1), nil)},
		"sort exactly":                       {"sort([9007199254740993, 9007199254740992.0])", list(9007199254740992.0, i(9007199254740993))},
		"sort nothing":                       {"sort(nil)", list()},
		"join":                               {`join(["a", "", "b"], ", ")`, "a, , b"},
		"join nothing":                       {`join(nil, ",")`, ""},
		"fromPairs takes the last":           {`fromPairs([["a", 1], ["a", 2]])`, map[string]any{"a": i(2)}},
		"pick nothing":                       {`pick(nil, "a")`, map[string]any{}},
		"pick by a name":                     {`let k = "b"; pick({a: 1, b: nil}, k, k)`, map[string]any{"b": nil}},
		"merge is deep":                      {"merge({a: {b: {c: 1}}}, {a: {b: {d: 2}}}, {e: 3})", map[string]any{"a": map[string]any{"b": map[string]any{"c": i(1), "d": i(2)}}, "e": i(3)}},
		"merge replaces lists":               {"merge({a: [1, 2]}, {a: [3]})", map[string]any{"a": list(i(3))}},
		"merge replaces a map by a text":     {`merge({a: {b: 1}}, {a: "x"})`, map[string]any{"a": "x"}},
		"merge replaces a text by a map":     {`merge({a: "x"}, {a: {b: 1}})`, map[string]any{"a": map[string]any{"b": i(1)}}},
		"merge keeps null":                   {"merge({a: 1}, {a: nil})", map[string]any{"a": nil}},
		"merge skips what is absent":         {"merge({a: 1}, nil, {b: 2})", map[string]any{"a": i(1), "b": i(2)}},
		"condition":                          {`condition({status: {conditions: [{type: "A"}, {type: "Ready", status: "False"}]}}, "Ready").status`, "False"},
		"condition that is not there":        {`condition({status: {conditions: [{type: "A"}]}}, "Ready")`, nil},
		"condition of what is absent":        {`condition(nil, "Ready")`, nil},
		"condition among what is none":       {`condition({status: {conditions: ["Ready", nil, {type: 1}]}}, "Ready")`, nil},
		"split":                              {`split("a.b.c", ".")`, list("a", "b", "c")},
		"split without a separator in it":    {`split("a", ".")`, list("a")},
		"split into characters":              {`split("größ", "")`, list("g", "r", "ö", "ß")},
		"split of nothing":                   {`split("", ",")`, list("")},
		"split at most none":                 {`split("a.b.c", ".", 0)`, list()},
		"split at most more":                 {`split("a.b", ".", 9223372036854775807)`, list("a", "b")},
		"split with any negative limit":      {`split("a.b", ".", -5)`, list("a", "b")},
		"splitAfter at most":                 {`splitAfter("a.b.c", ".", 2)`, list("a.", "b.c")},
		"trim":                               {`trim("\n a\t")`, "a"},
		"trim characters":                    {`trim("--a-b--", "-")`, "a-b"},
		"trimPrefix":                         {`trimPrefix("vv1", "v")`, "v1"},
		"trimSuffix":                         {`trimSuffix("a.b.b", ".b")`, "a.b"},
		"upper":                              {`upper("straße é")`, "STRAßE É"},
		"lower":                              {`lower("ÉA")`, "éa"},
		"replace all":                        {`replace("aaa", "a", "bc")`, "bcbcbc"},
		"replace some":                       {`replace("aaa", "a", "b", 2)`, "bba"},
		"replace none":                       {`replace("aaa", "a", "b", 0)`, "aaa"},
		"replace more than there are":        {`replace("aaa", "a", "", 9223372036854775807)`, ""},
		"replace any negative number":        {`replace("aaa", "a", "b", -7)`, "bbb"},
		"replace between characters":         {`replace("ab", "", "-")`, "-a-b-"},
		"repeat":                             {`repeat("ab", 3)`, "ababab"},
		"repeat nothing very often":          {`repeat("", 9223372036854775807)`, ""},
		"indexOf counts characters":          {`indexOf("größe", "ß")`, i(3)},
		"indexOf what is not there":          {`indexOf("a", "b")`, i(-1)},
		"lastIndexOf counts characters":      {`lastIndexOf("öaöa", "a")`, i(3)},
		"div cuts off":                       {"div(-7, 2)", i(-3)},
		"median of large ones":               {"median(9223372036854775807, 9223372036854775807)", math.Exp2(63)},
		"abs of an integer":                  {"abs(-3)", i(3)},
		"abs of a positive integer":          {"abs(3)", i(3)},
		"abs of a float":                     {"abs(-1.5)", 1.5},
		"ceil":                               {"ceil(-1.5)", i(-1)},
		"floor":                              {"floor(-1.5)", i(-2)},
		"round goes away from zero":          {"round(-2.5)", i(-3)},
		"rounding an integer is exact":       {"round(9007199254740993)", i(9007199254740993)},
		"min of lists and numbers":           {"min([3, 2.5], 4, nil)", 2.5},
		"max of lists and numbers":           {"max([3, 2.5], 4)", i(4)},
		"max keeps the first of equals":      {"max(1, 1.0)", i(1)},
		"max is exact":                       {"max(9007199254740992.0, 9007199254740993)", i(9007199254740993)},
		"max of nothing":                     {"max([]) ?? 0", i(0)},
		"mean":                               {"mean(1, [2, 3, 4])", 2.5},
		"mean of nothing":                    {"mean([])", nil},
		"median of an even number":           {"median([4, 1, 3, 2])", 2.5},
		"median of an odd number":            {"median([3, 1, 2])", 2.0},
		"median of nothing":                  {"median(nil)", nil},
		"int of a text":                      {`int("-42")`, i(-42)},
		"int cuts off":                       {"int(-1.9)", i(-1)},
		"int of an integer":                  {"int(9223372036854775807)", i(math.MaxInt64)},
		"float of an integer":                {"float(2)", 2.0},
		"float of a float":                   {"float(2.5)", 2.5},
		"float of a text":                    {`float("1e3")`, 1000.0},
		"string of a string":                 {`string("a")`, "a"},
		"string of a float":                  {"string(2.0) + string(0.1) + string(1e21) + string(1e-7)", "20.11e+211e-7"},
		"string of a boolean":                {"string(true)", "true"},
		"type":                               {`map([nil, true, 1, 1.0, "", [], {}], type(#))`, list("nil", "bool", "int", "float", "string", "array", "map")},
		"toJSON":                             {`toJSON([{b: nil, a: [1, 1.0, 0.5, true, "<é\"\n>"]}])`, `[{"a":[1,1,0.5,true,"<é\"\n>"],"b":null}]`},
		"toJSON in lines":                    {`toJSON([{b: nil, a: [1, {}]}, []], 2)`, "[\n  {\n    \"a\": [\n      1,\n      {}\n    ],\n    \"b\": null\n  },\n  []\n]"},
		"fromJSON":                           {`fromJSON("{\"a\": [9223372036854775807, 1.0, null, true, \"x\"]}")`, map[string]any{"a": list(i(math.MaxInt64), 1.0, nil, true, "x")}},
		"fromJSON of what toJSON gives":      {`fromJSON(toJSON({a: [1, 2.5, "ö"]})) == {a: [1, 2.5, "ö"]}`, true},
		"base64 there and back":              {`fromBase64(toBase64("größe"))`, "größe"},
		"default of nil":                     {"default(nil, 1)", i(1)},
		"default of an empty list":           {"default([], 1)", i(1)},
		"default of an empty map":            {"default({}, 1)", i(1)},
		"default of false":                   {"default(false, 1)", false},
		"default of zero":                    {"default(0, 1)", i(0)},
		"default to nil":                     {"default(\"\", nil)", nil},
		"default to omit()":                  {"default(nil, omit())", value.Omitted{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := eval(tt.source)
			if err != nil {
				t.Fatalf("%s: %v", tt.source, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.source, diff)
			}
		})
	}
}

// TestOmit holds that a value of which something is omitted is the one that is written
// without it, wherever it is looked at.
func TestOmit(t *testing.T) {
	for _, same := range []string{
		"{a: 1, b: omit()} == {a: 1}", "{a: 1} != {a: omit()}", `!("b" in {b: omit()})`, "[1, omit(), 2] == [1, 2]", "!(omit() in [omit()])", "len([omit()]) == 0",
		"{b: omit()}.b == nil", `get({b: omit()}, "b") == nil`, "keys({a: 1, b: omit()}) == ['a']", "merge({a: 1}, {a: omit()}) == {a: 1}",
		`toJSON({a: [omit()], b: omit()}) == toJSON({a: []})`, `toYAML({a: 1, b: omit()}) == "a: 1\n"`, "uniq([{a: omit()}, {}]) == [{}]",
		"len(groups([1, 2], {{a: # > 1 ? omit() : nil ?? omit()}})) == 1", "map([1, 2], # > 1 ? # : omit()) == [2]", "flatten([[omit()], 1]) == [1]",
		`fromPairs(map(["a", "b"], [#, # == "a" ? 1 : omit()])) == {a: 1}`, "reduce([1, 2], # > 1 ? omit() : #acc, 0) != nil", "(let x = omit(); {a: x}) == {}",
	} {
		if got, err := eval(same); err != nil || got != any(true) {
			t.Errorf("%s: %v, %v", same, got, err)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	tests := map[string]struct {
		source string
		want   string
	}{
		"a nil text":                     {"upper(nil)", `upper wants a string, have nil; ?? gives a default, as in (x ?? "")`},
		"a nil number":                   {"abs(nil)", "abs wants a number, have nil; ?? gives a default, as in (x ?? 0)"},
		"nil as JSON":                    {"toJSON(nil)", `toJSON wants a value, have nil; ?? gives a default, as in (x ?? "")`},
		"nil as a string":                {"string(nil)", `string wants a boolean, a number or a string, have nil; ?? gives a default, as in (x ?? "")`},
		"the wrong kind":                 {"upper(1)", "upper wants a string, have an integer; write string(...)"},
		"the wrong kind of the second":   {`take([1], "1")`, "take wants an integer, have a string; write int(...)"},
		"a float as a count":             {"take([1], 1.5)", "take wants an integer, have a float; write int(...) or round(...)"},
		"the wrong kind of a later one":  {`merge({}, {}, [])`, "merge wants a map, have a list"},
		"div of floats":                  {"div(1.0, 2)", "div wants an integer, have a float; write int(...) or round(...)"},
		"div by zero":                    {"div(1, 0)", "division by zero"},
		"div that overflows":             {"div(-9223372036854775807 - 1, -1)", "-9223372036854775808 / -1 overflows a 64-bit integer"},
		"abs that overflows":             {"abs(-9223372036854775807 - 1)", "-(-9223372036854775808) overflows a 64-bit integer"},
		"ceil of too much":               {"ceil(1e300)", "1e+300 does not fit a 64-bit integer"},
		"floor of too much":              {"floor(9223372036854775808.0)", "9.223372036854776e+18 does not fit a 64-bit integer"},
		"int of a fraction":              {`int("1.5")`, `"1.5" is not a 64-bit integer`},
		"int of a quantity":              {`int("5Gi")`, `"5Gi" is not a 64-bit integer; write quantity(...) for a quantity, or duration(...) for a duration`},
		"int of a duration":              {`int("30s")`, `"30s" is not a 64-bit integer; write quantity(...) for a quantity, or duration(...) for a duration`},
		"int of a word":                  {`int("Gi")`, `"Gi" is not a 64-bit integer`},
		"int of a large text":            {`int("9223372036854775808")`, `"9223372036854775808" is not a 64-bit integer`},
		"int of a float that is large":   {"int(1e19)", "1e+19 does not fit a 64-bit integer"},
		"float of a word":                {`float("inf")`, `"inf" is not a number`},
		"float of hex":                   {`float("0x1p4")`, `"0x1p4" is not a number`},
		"float of nothing":               {`float("")`, `"" is not a number`},
		"min of texts":                   {`min(["a"])`, "min wants numbers, and element 0 is a string"},
		"max of nil":                     {"max([1, nil])", "max wants numbers, and element 1 is nil"},
		"mean of texts":                  {`mean(["a"])`, "mean wants numbers, and element 0 is a string"},
		"median of texts":                {`median(["a"])`, "median wants numbers, and element 0 is a string"},
		"mean that overflows":            {"mean(1e308, 1e308)", "the result is not a finite number"},
		"join of numbers":                {`join(["a", 1], ",")`, "join wants strings, and element 1 is an integer; write join(map(list, string(#)), separator)"},
		"repeat a negative number":       {`repeat("a", -1)`, "repeat wants a count of at least 0, have -1"},
		"sort of maps":                   {"sort([{}])", "sort orders numbers, strings, times or booleans, have a map; sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])"},
		"sort of mixed kinds":            {`sort(["a", 1])`, "sort cannot order an integer beside a string; make them all strings with string(...)"},
		"sort in an unknown order":       {`sort([1], "up")`, `the order must be "asc" or "desc", not "up"`},
		"fromPairs of something else":    {"fromPairs([1])", "element 0 is not a pair [key, value]"},
		"fromPairs of three":             {`fromPairs([["a", 1], ["a", 1, 2]])`, "element 1 is not a pair [key, value]"},
		"fromPairs with a number as key": {"fromPairs([[1, 1]])", "the key of pair 0 must be a string, not an integer; write string(...) around it"},
		"get a text from a list":         {`get([1], "a")`, "the index of a list is an integer, not a string"},
		"get a number from a map":        {"get({}, 1)", "the key of a map is a string, not an integer"},
		"get by nil":                     {"get({}, nil)", "get wants an integer or a string, have nil; ?? gives a default, as in (x ?? \"\")"},
		"fromJSON of nothing":            {`fromJSON("")`, "invalid JSON: it ends too early"},
		"fromJSON of an open list":       {`fromJSON("[1,")`, "invalid JSON: it ends too early"},
		"fromJSON of two values":         {`fromJSON("1 2")`, "invalid JSON: more follows the first value"},
		"fromJSON of a large integer":    {`fromJSON("[9223372036854775808]")`, "9223372036854775808 does not fit a 64-bit integer"},
		"fromJSON of a large float":      {`fromJSON("1e999")`, "1e999 does not fit a float"},
		"fromJSON of something else":     {`fromJSON("{a: 1}")`, "invalid JSON: invalid character 'a'"},
		"fromBase64 of something else":   {`fromBase64("***")`, `fromBase64: "***" is not base64`},
		"fromBase64 of bytes":            {`fromBase64("/w==")`, "fromBase64: the decoded bytes are not UTF-8 text"},
		"toJSON without an indent":       {"toJSON([1], 0)", "an indent is 1 to 8 spaces, have 0"},
		"omit() as a key of sortBy":      {"sortBy([1], [#, omit()])", "a key of sortBy cannot be omit()"},
		"omit() as an argument":          {"len(omit())", "len wants a string, a list or a map, have omit()"},
		"uniq of a deep list":            {"uniq([reduce(1..300, [#acc])])", "the value nests deeper than 256 levels"},
		"a long text in a message":       {`int(repeat("x", 1000))`, `"` + strings.Repeat("x", 60) + `..." is not a 64-bit integer`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := eval(tt.source)
			if err == nil || err.Error() != tt.want {
				t.Errorf("%s = %v, %v\nwant %s", tt.source, v, err, tt.want)
			}
		})
	}
}

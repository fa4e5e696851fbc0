package function_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

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
	return p.Eval(&expression.Evaluation{Names: none{}, Budget: value.NewBudget(0)})
}

// list abbreviates the results below.
func list(elements ...any) []any { return append([]any{}, elements...) }

func TestFunctions(t *testing.T) {
	i := func(n int64) any { return n }
	type m = map[string]any
	const at = `timestamp("2026-01-01T00:00:01.5Z")`
	tests := map[string]struct {
		source string
		want   any
	}{
		"len of what is absent":              {"len(nil)", i(0)},
		"take fewer than none":               {"take([1, 2], -3)", list()},
		"take more than there are":           {"take([1, 2], 9223372036854775807)", list(i(1), i(2))},
		"get an element from the end":        {"get([1, 2], -1)", i(2)},
		"get no element":                     {"get([1, 2], 2)", nil},
		"get from what is absent":            {`get(nil, "a")`, nil},
		"flatten":                            {"flatten([[], [1, [2, [{a: [3]}, nil]]], nil])", list(i(1), i(2), map[string]any{"a": list(i(3))})},
		"uniq of structures":                 {"uniq([{a: 1, b: [2]}, {b: [2.0], a: 1.0}, [1], [1.0]])", list(map[string]any{"a": i(1), "b": list(i(2))}, list(i(1)))},
		"uniq tells kinds apart":             {`uniq(["1", 1, "[1]", [1], true, "true", nil, nil])`, list("1", i(1), "[1]", list(i(1)), true, "true", nil)},
		"uniq of floats beyond the integers": {"uniq([1e300, 1e300, -1e300])", list(1e300, -1e300)},
		"uniq of minus zero":                 {"uniq([0, -0.0, [0], [-0.0]])", list(i(0), list(i(0)))},
		"uniq of large floats in lists":      {"uniq([[1152921504606846976], [1152921504606846976.0]])", list(list(i(1 << 60)))},
		"sort with nil":                      {"sort([1, nil])", list(nil, i(1))},
		"sort exactly":                       {"sort([9007199254740993, 9007199254740992.0])", list(9007199254740992.0, i(9007199254740993))},
		"fromPairs takes the last":           {`fromPairs([["a", 1], ["a", 2]])`, map[string]any{"a": i(2)}},
		"pick by a name":                     {`let k = "b"; pick({a: 1, b: nil}, k, k)`, map[string]any{"b": nil}},
		"merge replaces lists":               {"merge({a: [1, 2]}, {a: [3]})", map[string]any{"a": list(i(3))}},
		"merge replaces a map by a text":     {`merge({a: {b: 1}}, {a: "x"})`, map[string]any{"a": "x"}},
		"merge replaces a text by a map":     {`merge({a: "x"}, {a: {b: 1}})`, map[string]any{"a": map[string]any{"b": i(1)}}},
		"merge keeps null":                   {"merge({a: 1}, {a: nil})", map[string]any{"a": nil}},
		"condition among what is none":       {`condition({status: {conditions: ["Ready", nil, {type: 1}]}}, "Ready")`, nil},
		"split without a separator in it":    {`split("a", ".")`, list("a")},
		"split at most none":                 {`split("a.b.c", ".", 0)`, list()},
		"split with any negative limit":      {`split("a.b", ".", -5)`, list("a", "b")},
		"replace none":                       {`replace("aaa", "a", "b", 0)`, "aaa"},
		"replace any negative number":        {`replace("aaa", "a", "b", -7)`, "bbb"},
		"replace between characters":         {`replace("ab", "", "-")`, "-a-b-"},
		"repeat nothing very often":          {`repeat("", 9223372036854775807)`, ""},
		"lastIndexOf counts characters":      {`lastIndexOf("öaöa", "a")`, i(3)},
		"median of large ones":               {"median(9223372036854775807, 9223372036854775807)", math.Exp2(63)},
		"rounding an integer is exact":       {"round(9007199254740993)", i(9007199254740993)},
		"min of lists and numbers":           {"min([3, 2.5], 4, nil)", 2.5},
		"max keeps the first of equals":      {"max(1, 1.0)", i(1)},
		"max is exact":                       {"max(9007199254740992.0, 9007199254740993)", i(9007199254740993)},
		"max of nothing":                     {"max([]) ?? 0", i(0)},
		"mean of nothing":                    {"mean([])", nil},
		"int cuts off":                       {"int(-1.9)", i(-1)},
		"string of a float":                  {"string(2.0) + string(0.1) + string(1e21) + string(1e-7)", "20.11e+211e-7"},
		"toJSON in lines":                    {`toJSON([{b: nil, a: [1, {}]}, []], 2)`, "[\n  {\n    \"a\": [\n      1,\n      {}\n    ],\n    \"b\": null\n  },\n  []\n]"},
		"fromJSON of what toJSON gives":      {`fromJSON(toJSON({a: [1, 2.5, "ö"]})) == {a: [1, 2.5, "ö"]}`, true},
		"default of false":                   {"default(false, 1)", false},
		"default to nil":                     {"default(\"\", nil)", nil},
		"default to omit()":                  {"default(nil, omit())", value.Omitted{}},
		"quantity of an integer":             {`string(quantity(2000))`, "2k"},
		"quantity of a float":                {`string(quantity(0.5))`, "500m"},
		"semver of a version":                {`string(semver(semver("1.31.0-rc.1")))`, "1.31.0-rc.1"},
		"duration of seconds":                {"duration(90)", 90 * time.Second},
		"int of a quantity":                  {`int(quantity("1500m"))`, i(1)},
		"int of a duration":                  {`int(duration("-1500ms"))`, i(-1)},
		"int of a time":                      {"int(" + at + ")", i(1767225601)},
		"float of a quantity":                {`float(quantity("1500m"))`, 1.5},
		"float of a duration":                {`float(duration("-1500ms"))`, -1.5},
		"float of a time":                    {"float(" + at + ")", 1767225601.5},
		"toYAML":                             {`toYAML({a: quantity("1.5"), b: [duration(60)], c: nil})`, "a: \"1500m\"\nb:\n- \"1m0s\"\nc: null\n"},
		"there and back":                     {`fromYAML(toYAML({a: [1, "yes", "x\ny\n", {}], b: nil})) == {a: [1, "yes", "x\ny\n", {}], b: nil}`, true},
		"sum of quantities":                  {`string(sum(["1Gi", "512Mi"], quantity(#)))`, "1536Mi"},
		"min of quantities":                  {`string(min(quantity("1Gi"), [quantity("1M"), quantity("1Mi")]))`, "1M"},
		"sort of versions":                   {`map(sort(map(["1.10", "1.9", "1.10-rc.1+x"] | filter(# != "1.10-rc.1+x"), semver(#))), string(#))`, list("1.9.0", "1.10.0")},
		"sortBy times":                       {`map(sortBy([{t: "2026-01-01T00:00:00Z"}, {t: "2026-01-01T00:00:00+01:00"}], timestamp(.t)), .t)`, list("2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00Z")},
		"sortBy several":                     {`map(sortBy([{d: "1h", n: 1}, {d: "60m", n: 2}, {d: "1m", n: 3}], [desc(duration(.d)), desc(.n)]), .n)`, list(i(2), i(1), i(3))},
		"uniq of moments":                    {`len(uniq([timestamp("2026-01-01T00:00:00Z"), timestamp("2026-01-01T01:00:00+01:00")]))`, i(1)},
		"uniq of lists of them":              {`len(uniq([[quantity("1Gi")], [quantity("1024Mi")], ["1Gi"], {a: semver("1.0.0+a")}, {a: semver("1.0.0+b")}]` + `))`, i(3)},
		"default of a quantity":              {`string(default(quantity(0), 5))`, "0"},
		"reduce to one":                      {`reduce([1, 2], #acc + #, duration(60))`, 63 * time.Second},
		"groups by anything":                 {`groups([{a: 1}, {a: nil}, {a: 1.0}, {a: [1]}, {}], .a)`, list(m{"key": i(1), "items": list(m{"a": i(1)}, m{"a": 1.0})}, m{"key": nil, "items": list(m{"a": nil}, m{})}, m{"key": list(i(1)), "items": list(m{"a": list(i(1))})})},
		"groups by computed values":          {`map(groups(["1Gi", "1024Mi", "1G"], quantity(#)), len(.items))`, list(i(2), i(1))},
		"groups tell kinds apart":            {`len(groups([1, "1", true, "true", [1], "[1]"], #))`, i(6)},
		"jitter is for ever the same":        {`[jitter("", 0, 99), jitter("a", 0, 99), jitter("b", 0, 99), jitter("a", -5, 5)]`, list(i(88), i(79), i(24), i(3))},
		"jitter of all integers":             {`jitter("a", -9223372036854775807 - 1, 9223372036854775807) != 0`, true},
		"jitter of durations":                {`type(jitter("a", "1m", "5m")) + type(jitter("a", 0, duration("1s")))`, "durationduration"},
		"jitter in seconds":                  {`int(jitter("a", "1m", "5m") / "1s") == jitter("a", "1m", "5m") / duration(1)`, true},
		"jitter in milliseconds":             {`jitter("x", "1500ms", "2s") >= "1500ms" && jitter("x", "1500ms", "2s") <= "2s"`, true},
		"jitter of one duration":             {`jitter("a", "90s", 90)`, 90 * time.Second},
		"a block within":                     {`cidrContains("10.0.0.0/8", "10.1.0.0/16")`, true},
		"a larger block":                     {`cidrContains("10.0.0.0/8", "10.0.0.0/7")`, false},
		"a block with an address":            {`cidrContains("10.1.2.3/8", "10.9.9.9")`, true},
		"IPv6 and IPv4":                      {`cidrContains("::/0", "10.0.0.1") || cidrContains("0.0.0.0/0", "::1")`, false},
		"IPv4 as IPv6":                       {`cidrContains("10.0.0.0/8", "::ffff:10.0.0.1") && cidrContains("::ffff:10.0.0.0/104", "10.0.0.1")`, true},
		"url":                                {`url("https://me:secret@[fd00::1]:8443/a%20b?q=1&q=2&r#top")`, m{"scheme": "https", "user": "me", "host": "[fd00::1]:8443", "hostname": "fd00::1", "port": i(8443), "path": "/a b", "query": m{"q": list("1", "2"), "r": list("")}, "fragment": "top"}},
		"labels differ":                      {`labelsMatch({metadata: {labels: {a: "1"}}}, {matchLabels: {a: "2"}})`, false},
		"NotIn of itself":                    {`labelsMatch({metadata: {labels: {a: "1"}}}, {matchExpressions: [{key: "a", operator: "NotIn", values: ["1"]}]})`, false},
		"NotIn of what is absent":            {`labelsMatch({}, {matchExpressions: [{key: "a", operator: "NotIn", values: ["1"]}]})`, true},
		"Exists":                             {`labelsMatch({metadata: {labels: {a: ""}}}, {matchExpressions: [{key: "a", operator: "Exists", values: []}]})`, true},
		"DoesNotExist":                       {`labelsMatch({metadata: {labels: {a: ""}}}, {matchExpressions: [{key: "a", operator: "DoesNotExist"}]})`, false},
		"no object":                          {`labelsMatch(nil, {matchExpressions: [{key: "a", operator: "DoesNotExist"}]})`, false},
		"no selector":                        {`labelsMatch({metadata: {labels: {a: "1"}}}, nil)`, false},
		"half a selector":                    {`labelsMatch({metadata: {labels: {a: "1"}}}, {matchLabels: {a: "1"}, matchExpressions: nil})`, true},
		"controllerOf":                       {`controllerOf({metadata: {ownerReferences: [{name: "a"}, nil, "x", {name: "b", controller: true}]}}).name`, "b"},
		"controllerRef and back":             {`let o = {apiVersion: "v1", kind: "A", metadata: {name: "a", uid: "b"}}; controllerOf({metadata: {ownerReferences: [controllerRef(o)]}}) == controllerRef(o)`, true},
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
	const block = `write it as in "10.0.0.0/8" or "fd00::/8"`
	const address = `write it as in "10.1.2.3", "fd00::1" or "10.1.0.0/16"`
	const whole = `is not a URL; write it whole, as in "https://example.org/path"`
	tests := map[string]struct {
		source string
		want   string
	}{
		"a nil text":                     {"upper(nil)", `this is absent, and upper wants a string; ?? gives a default: (x ?? "")`},
		"nil as JSON":                    {"toJSON(nil)", `this is absent, and toJSON wants a value; ?? gives a default: (x ?? "")`},
		"the wrong kind":                 {"upper(1)", "upper wants a string, have an integer; write string(...)"},
		"the wrong kind of a later one":  {`merge({}, {}, [])`, "merge wants a map, have a list"},
		"div by zero":                    {"div(1, 0)", "division by zero"},
		"div that overflows":             {"div(-9223372036854775807 - 1, -1)", "-9223372036854775808 / -1 overflows a 64-bit integer"},
		"ceil of too much":               {"ceil(1e300)", "1e+300 does not fit a 64-bit integer"},
		"int of a quantity":              {`int("5Gi")`, `"5Gi" is not a 64-bit integer; a text with a unit is read by quantity(...) or duration(...)`},
		"int of a float that is large":   {"int(1e19)", "1e+19 does not fit a 64-bit integer"},
		"float of a word":                {`float("inf")`, `"inf" is not a number`},
		"float of hex":                   {`float("0x1p4")`, `"0x1p4" is not a number`},
		"min of texts":                   {`min(["a"])`, "min wants numbers, and element 0 is a string"},
		"mean that overflows":            {"mean(1e308, 1e308)", "the result is not a finite number"},
		"join of numbers":                {`join(["a", 1], ",")`, "join wants strings, and element 1 is an integer; write join(map(list, string(#)), separator)"},
		"join of lists":                  {`join([["a"]], ",")`, "join wants strings, and element 0 is a list; write join(map(list, toJSON(#)), separator)"},
		"repeat a negative number":       {`repeat("a", -1)`, "repeat wants a count of at least 0, have -1"},
		"sort of maps":                   {"sort([{}])", "sort orders numbers, strings, times or booleans, have a map; sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])"},
		"sort of mixed kinds":            {`sort(["a", 1])`, "sort cannot order an integer beside a string; make them all strings with string(...)"},
		"sort in an unknown order":       {`sort([1], "up")`, `the order must be "asc" or "desc", not "up"`},
		"fromPairs of something else":    {"fromPairs([1])", "element 0 is not a pair [key, value]"},
		"fromPairs with a number as key": {"fromPairs([[1, 1]])", "the key of pair 0 must be a string, not an integer; write string(...) around it"},
		"get a text from a list":         {`get([1], "a")`, "the index of a list is an integer, not a string"},
		"get a number from a map":        {"get({}, 1)", "the key of a map is a string, not an integer"},
		"fromJSON of nothing":            {`fromJSON("")`, "invalid JSON: it ends too early"},
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
		"not a quantity":                 {`quantity("1 GB")`, `"1 GB" is not a quantity; write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`},
		"a boolean":                      {"quantity(true)", "quantity wants a number, a string or a quantity, have a boolean"},
		"a duration of a float":          {"duration(1.5)", "duration wants an integer, a string or a duration, have a float"},
		"int of a version":               {`int(semver("1"))`, "int wants a number, a string, a quantity, a duration or a time, and semver(...) is a version"},
		"max of different kinds":         {"max([duration(1), 2])", "max cannot order an integer beside a duration"},
		"sort of stamps":                 {"sort([stamp()])", "sort orders numbers, strings, times or booleans, have stamp(); sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])"},
		"sum of times":                   {`sum([timestamp("2026-01-01T00:00:00Z")])`, "sum wants a number, a quantity or a duration, and element 0 is a time"},
		"sum of different kinds":         {`sum([duration(1), quantity(1)])`, "a duration + a quantity has no meaning"},
		"uniq of stamps":                 {"uniq([stamp()])", "stamp() cannot be read: it may only be a value in a body"},
		"uniq of lists of stamps":        {"uniq([[stamp()]])", "stamp() cannot be read: it may only be a value in a body"},
		"groups by what is omitted":      {"groups([1], omit())", "groups wants a value, have omit()"},
		"no YAML":                        {`fromYAML("[")`, `line 1 of the YAML: "[" is not closed; add the closing bracket`},
		"bounds out of order":            {`jitter("a", 2, 1)`, "jitter wants bounds in order, and the lower one is above the other"},
		"not a duration":                 {`jitter("a", 0, "soon")`, `"soon" is not a duration; write it with units, such as "90s", "1h30m", "2d" or "1w"`},
		"no block":                       {`cidrContains("10.0.0.0", "10.0.0.1")`, `"10.0.0.0" is not a CIDR block; ` + block},
		"no address":                     {`cidrContains("10.0.0.0/8", "localhost")`, `"localhost" is not an IP address or CIDR block; ` + address},
		"a zone":                         {`cidrContains("fe80::/10", "fe80::1%eth0")`, `"fe80::1%eth0" is not an IP address or CIDR block; ` + address},
		"a path":                         {`url("/a")`, `"/a" ` + whole},
		"a port that is none":            {`url("http://x:y")`, `"http://x:y" ` + whole},
		"a large port":                   {`url("http://x:99999999999")`, `"http://x:99999999999" ` + whole},
		"a broken query":                 {`url("http://x?a=%zz")`, `the query of the URL "http://x?a=%zz" is malformed`},
		"an empty selector":              {"labelsMatch({}, {})", "the label selector is empty and would match everything; test it first, as in default(selector, nil)"},
		"a reference to nothing":         {"controllerRef(nil)", "controllerRef wants a whole object, and its apiVersion is missing"},
		"a reference without a uid":      {`controllerRef({apiVersion: "v1", kind: "A", metadata: {name: "a", uid: ""}})`, "controllerRef wants a whole object, and its uid is missing"},
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

// TestJitterSpreads makes sure that keys that differ little are spread over all of
// the range.
func TestJitterSpreads(t *testing.T) {
	got, err := eval(`map(groups(map(1..2000, jitter("basic-tikv-" + string(#), 1, 10)), #), [.key, len(.items)])`)
	if err != nil {
		t.Fatal(err)
	}
	groups, _ := got.([]any)
	if len(groups) != 10 {
		t.Errorf("%d values of 10", len(groups))
	}
	for _, group := range groups {
		pair, _ := group.([]any)
		value, _ := pair[0].(int64)
		n, _ := pair[1].(int64)
		if value < 1 || value > 10 || n < 140 || n > 260 {
			t.Errorf("%d came %d times of 2,000", value, n)
		}
	}
}

// TestSelectorErrors refuses what an API server would refuse too, and what selects by a text that is absent.
func TestSelectorErrors(t *testing.T) {
	for _, selector := range []string{
		`{app: "a"}`,
		`{matchLabels: ["a"]}`,
		`{matchLabels: {b: 1, a: nil, c: "x"}}`,
		`{b: "a", app: "a", matchLabels: 1}`,
		`{matchLabels: {a: nil}}`,
		`{matchExpressions: {key: "a"}}`,
		`{matchExpressions: [{operator: "Exists"}]}`,
		`{matchExpressions: ["a"]}`,
		`{matchExpressions: [{key: "a", operator: "In", values: "b"}]}`,
		`{matchExpressions: [{key: "a", operator: "In", values: [1]}]}`,
		`{matchExpressions: [{key: "a", operator: "In"}]}`,
		`{matchExpressions: [{key: "a", operator: "NotIn", values: []}]}`,
		`{matchExpressions: [{key: "a", operator: "Exists", values: ["b"]}]}`,
		`{matchExpressions: [{key: "a", operator: "in", values: ["b"]}]}`,
		`{matchLabels: {a: "b"}, matchExpressions: [{key: "a"}]}`,
		`{matchExpressions: [{key: "a", operator: "In", values: ["b", nil]}]}`, `{matchLabels: {a: "no label"}}`,
	} {
		_, err := eval("labelsMatch({}, " + selector + ")")
		if err == nil || !strings.HasPrefix(err.Error(), "the label selector is not valid; write {matchLabels: ") {
			t.Errorf("%s: %v", selector, err)
		}
	}
}

package expression

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOperators(t *testing.T) {
	names := env{
		"absent": nil, "yes": true, "no": false, "seven": int64(7), "half": 2.5, "text": "abc",
		"xs": []any{int64(1), "b", nil}, "m": map[string]any{"a": int64(1)},
		"least": int64(math.MinInt64), "most": int64(math.MaxInt64), "big": int64(1<<53 + 1),
	}
	tests := map[string]struct {
		source string
		want   any
	}{
		"integers add to an integer":              {"seven + 1", int64(8)},
		"a literal is an int64 like a field":      {"1 + 1", int64(2)},
		"an integer and a float add to a float":   {"seven + half", 9.5},
		"strings join":                            {`text + "d" + ""`, "abcd"},
		"integers subtract":                       {"seven - 10", int64(-3)},
		"the smallest integer can be reached":     {"-9223372036854775807 - 1", int64(math.MinInt64)},
		"integers multiply":                       {"seven * -6", int64(-42)},
		"the smallest integer times one":          {"least * 1", int64(math.MinInt64)},
		"division gives a float":                  {"6 / 2", 3.0},
		"division of odd integers keeps the rest": {"seven / 2", 3.5},
		"remainder has the sign of the dividend":  {"-seven % 4", int64(-3)},
		"remainder by minus one":                  {"least % -1", int64(0)},
		"power of integers is an integer":         {"2 ** 62", int64(1 << 62)},
		"power of a negative base":                {"(-2) ** 63", int64(math.MinInt64)},
		"power binds tighter than minus":          {"-2 ** 2", int64(-4)},
		"power binds to the right":                {"2 ** 3 ** 2", int64(512)},
		"a negative exponent gives a float":       {"2 ** -1", 0.5},
		"a caret is a power too":                  {"3 ^ 2", int64(9)},
		"power of floats":                         {"half ** 2", 6.25},
		"one to any power":                        {"1 ** most", int64(1)},
		"unary minus":                             {"-seven", int64(-7)},
		"unary minus of a float":                  {"-half", -2.5},
		"unary plus":                              {"+seven", int64(7)},
		"literals in other bases":                 {"0x10 + 0b11 + 0o17 + 1_000", int64(1034)},
		"an exponent makes a float":               {"1e3", 1000.0},
		"an integer equals the same float":        {"7.0 == seven", true},
		"equality does not round":                 {"big == 9007199254740992.0", false},
		"ordering does not round":                 {"big > 9007199254740992.0", true},
		"a float beyond all integers":             {"most < 1e30", true},
		"a float below all integers":              {"least > -1e30", true},
		"lists are equal across kinds of number":  {"[1, 2] == [1.0, 2]", true},
		"maps are equal across kinds of number":   {`{"a": 1.0} == m`, true},
		"maps with other keys differ":             {`{"b": 1} == m`, false},
		"maps nest":                               {`{"x": {"y": [m]}} == {x: {y: [{a: 1}]}}`, true},
		"kinds differ":                            {`seven == "7"`, false},
		"nil equals nil":                          {"absent == nil", true},
		"an empty list is not nil":                {"[] == nil", false},
		"false is not nil":                        {"no == absent", false},
		"unequal":                                 {"seven != 8", true},
		"unequal to nil":                          {"seven != nil", true},
		"numbers are ordered":                     {"seven > half && seven >= 7 && half < 3 && 3 <= 3.0", true},
		"strings are ordered":                     {`text < "abd"`, true},
		"comparisons chain":                       {"1 < half < 3", true},
		"a chain is a conjunction":                {"1 < half < 2", false},
		"words and signs mix":                     {"yes and yes && !no or no", true},
		"and stops early":                         {"no && absent", false},
		"or stops early":                          {"yes || absent", true},
		"not":                                     {"not no", true},
		"coalesce gives what is there":            {"seven ?? 1", int64(7)},
		"coalesce gives the default":              {"absent ?? 1", int64(1)},
		"coalesce keeps false":                    {"no ?? yes", false},
		"coalesce chains":                         {"absent ?? nil ?? 3", int64(3)},
		"coalesce binds tighter than conditions":  {"false || absent ?? true", true},
		"ternary":                                 {`yes ? "a" : "b"`, "a"},
		"the other branch is not evaluated":       {"no ? absent + 1 : 2", int64(2)},
		"if else":                                 {"if seven > 9 { 1 } else if seven > 5 { 2 } else { 3 }", int64(2)},
		"in a list":                               {`"b" in xs`, true},
		"in compares as numbers":                  {"1.0 in xs", true},
		"nil in a list":                           {"absent in xs", true},
		"not in a list":                           {`"c" not in xs`, true},
		"in a map means its keys":                 {`"a" in m`, true},
		"nil is no key":                           {"absent in m", false},
		"in what is absent":                       {`"a" in absent`, false},
		"in a literal list":                       {`text in ["abc", "def"]`, true},
		"in a range":                              {"seven in 1..10", true},
		"contains":                                {`text contains "bc"`, true},
		"not contains":                            {`text not contains "x"`, true},
		"startsWith":                              {`text startsWith "ab"`, true},
		"endsWith":                                {`text endsWith "bc"`, true},
		"matches":                                 {`text matches "^a.c$"`, true},
		"matches finds anywhere":                  {`text matches "b"`, true},
		"not matches":                             {`text not matches "^b"`, true},
		"a range includes both ends":              {"1..3", []any{int64(1), int64(2), int64(3)}},
		"a range of one":                          {"seven..7", []any{int64(7)}},
		"a range backwards is empty":              {"3..1", []any{}},
		"a range at the end of the integers":      {"9223372036854775806..most", []any{int64(math.MaxInt64 - 1), int64(math.MaxInt64)}},
		"let":                                     {"let x = seven; let y = x * 2; x + y", int64(21)},
		"let inside parentheses":                  {"(let x = 2; x) + 1", int64(3)},
		"let in a predicate":                      {"map([1, 2], {let x = #; x * x})", []any{int64(1), int64(4)}},
		"the same name in two lets side by side":  {"(let x = 1; x) + (let x = 2; x)", int64(3)},
		"pipes pass the value on":                 {`text | upper() | split("B")`, []any{"A", "C"}},
		"a list":                                  {"[1, text, [nil]]", []any{int64(1), "abc", []any{nil}}},
		"a map":                                   {`{a: 1, "b c": text, (text + "d"): nil, 5: 6}`, map[string]any{"a": int64(1), "b c": "abc", "abcd": nil, "5": int64(6)}},
		"comments":                                {"1 /* one */ + 2 // two", int64(3)},
		"escapes and other letters":               {`"é\n\u00e9" + 'x\'' + ` + "`a\\n`", "é\né" + "x'" + `a\n`},
		"a trailing semicolon":                    {"1;", int64(1)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustEval(t, tt.source, names)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.source, diff)
			}
		})
	}
}

// TestOperatorKinds puts a value of every kind on either side of every operator:
// whatever is not listed must be a located error.
func TestOperatorKinds(t *testing.T) {
	ok := map[string][]string{
		"+":          {"int/int", "int/float", "float/int", "float/float", "text/text"},
		"-":          {"int/int", "int/float", "float/int", "float/float"},
		"*":          {"int/int", "int/float", "float/int", "float/float"},
		"/":          {"int/int", "int/float", "float/int", "float/float"},
		"**":         {"int/int", "int/float", "float/int", "float/float"},
		"%":          {"int/int"},
		"..":         {"int/int"},
		"<":          {"int/int", "int/float", "float/int", "float/float", "text/text"},
		">=":         {"int/int", "int/float", "float/int", "float/float", "text/text"},
		"contains":   {"text/text"},
		"startsWith": {"text/text"},
		"endsWith":   {"text/text"},
		"&&":         {"yes/yes", "yes/no", "no/yes", "no/no", "no/absent", "no/int", "no/float", "no/text", "no/list", "no/m"},
		"||":         {"yes/yes", "yes/no", "no/yes", "no/no", "yes/absent", "yes/int", "yes/float", "yes/text", "yes/list", "yes/m"},
		"in": {
			"absent/list", "yes/list", "no/list", "int/list", "float/list", "text/list", "list/list", "m/list",
			"absent/absent", "yes/absent", "no/absent", "int/absent", "float/absent", "text/absent", "list/absent", "m/absent",
			"text/m", "absent/m",
		},
	}
	operands := []string{"absent", "yes", "no", "int", "float", "text", "list", "m"}
	for operator, pairs := range ok {
		allowed := map[string]bool{}
		for _, pair := range pairs {
			allowed[pair] = true
		}
		for _, left := range operands {
			for _, right := range operands {
				source := left + " " + operator + " " + right
				_, err := kindNames().eval(source)
				switch {
				case allowed[left+"/"+right] && err != nil:
					t.Errorf("%s: %v", source, err)
				case !allowed[left+"/"+right] && err == nil:
					t.Errorf("%s: no error", source)
				case err != nil:
					_, _ = place(t, source, err)
				}
			}
		}
	}
}

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
		"a literal is an int64 like a field":     {"1 + 1", int64(2)},
		"the smallest integer can be reached":    {"-9223372036854775807 - 1", int64(math.MinInt64)},
		"the smallest integer times one":         {"least * 1", int64(math.MinInt64)},
		"remainder by minus one":                 {"least % -1", int64(0)},
		"power of a negative base":               {"(-2) ** 63", int64(math.MinInt64)},
		"a negative exponent gives a float":      {"2 ** -1", 0.5},
		"a caret is a power too":                 {"3 ^ 2", int64(9)},
		"one to any power":                       {"1 ** most", int64(1)},
		"equality does not round":                {"big == 9007199254740992.0", false},
		"ordering does not round":                {"big > 9007199254740992.0", true},
		"a float beyond all integers":            {"most < 1e30", true},
		"a float below all integers":             {"least > -1e30", true},
		"lists are equal across kinds of number": {"[1, 2] == [1.0, 2]", true},
		"maps are equal across kinds of number":  {`{"a": 1.0} == m`, true},
		"maps with other keys differ":            {`{"b": 1} == m`, false},
		"maps nest":                              {`{"x": {"y": [m]}} == {x: {y: [{a: 1}]}}`, true},
		"kinds differ":                           {`seven == "7"`, false},
		"an empty list is not nil":               {"[] == nil", false},
		"and stops early":                        {"no && absent", false},
		"or stops early":                         {"yes || absent", true},
		"coalesce binds tighter than conditions": {"false || absent ?? true", true},
		"the other branch is not evaluated":      {"no ? absent + 1 : 2", int64(2)},
		"in compares as numbers":                 {"1.0 in xs", true},
		"nil in a list":                          {"absent in xs", true},
		"nil is no key":                          {"absent in m", false},
		"in what is absent":                      {`"a" in absent`, false},
		"in a range":                             {"seven in 1..10", true},
		"a range backwards is empty":             {"3..1", []any{}},
		"a range at the end of the integers":     {"9223372036854775806..most", []any{int64(math.MaxInt64 - 1), int64(math.MaxInt64)}},
		"the same name in two lets side by side": {"(let x = 1; x) + (let x = 2; x)", int64(3)},
		"a map":                                  {`{a: 1, "b c": text, (text + "d"): nil, 5: 6}`, map[string]any{"a": int64(1), "b c": "abc", "abcd": nil, "5": int64(6)}},
		"no halves of characters":                {`"\\ud800 \ud7ff \u{1d800}"` + " + `\\ud800`", "\\ud800 \ud7ff \U0001d800\\ud800"},
		"escapes and other letters":              {`"é\n\u00e9" + 'x\'' + ` + "`a\\n`", "é\né" + "x'" + `a\n`},
		"a trailing semicolon":                   {"1;", int64(1)},
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
		"+":  {"int/int", "int/float", "float/int", "float/float", "text/text"},
		"-":  {"int/int", "int/float", "float/int", "float/float"},
		"*":  {"int/int", "int/float", "float/int", "float/float"},
		"/":  {"int/int", "int/float", "float/int", "float/float"},
		"**": {"int/int", "int/float", "float/int", "float/float"},
		"%":  {"int/int"},
		"..": {"int/int"},
		"<":  {"int/int", "int/float", "float/int", "float/float", "text/text"},
		">=": {"int/int", "int/float", "float/int", "float/float", "text/text"},
		"&&": {"yes/yes", "yes/no", "no/yes", "no/no", "no/absent", "no/int", "no/float", "no/text", "no/list", "no/m"},
		"||": {"yes/yes", "yes/no", "no/yes", "no/no", "yes/absent", "yes/int", "yes/float", "yes/text", "yes/list", "yes/m"},
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

package mutation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInExpression(t *testing.T) {
	tests := map[string]struct {
		reason, expression string
		want               []string
	}{
		"comparison":    {"an operator and a number", "pd >= 3", []string{"pd > 3", "pd >= 4"}},
		"equality":      {"a string gets a letter more", `env == "prod"`, []string{`env != "prod"`, `env == "prodx"`}},
		"logic":         {"in both spellings", "a && b or c", []string{"a || b or c", "a && b and c"}},
		"sum":           {"fractions too", "a + 1.5", []string{"a - 1.5", "a + 11.5"}},
		"negation":      {"removed, in both spellings", "!a || not b", []string{"a || not b", "!a && not b", "!a ||  b"}},
		"boolean":       {"flipped", "true", []string{"false"}},
		"membership":    {"negated", `"a" in list`, []string{`"ax" in list`, `"a" not in list`}},
		"pattern":       {"without each anchor", `v matches "^v1$"`, []string{`v not matches "^v1$"`, `v matches "^v1$x"`, `v matches "v1$"`, `v matches "^v1"`}},
		"duration":      {"twice as long", `olderThan(t, "1h")`, []string{`olderThan(t, "2h")`}},
		"quotes":        {"each kind ends where it does", "['a\\'b', `c\\`, \"\"]", []string{"['a\\'bx', `c\\`, \"\"]", "['a\\'b', `c\\x`, \"\"]", "['a\\'b', `c\\`, \"x\"]"}},
		"quantifier":    {"all and any", "any(pods, .ready)", []string{"all(pods, .ready)"}},
		"names":         {"fields and keys are no operators", `{in: object.not, true: x?.all}`, nil},
		"default":       {"the sides of an absent value", "a.b?.c ?? d.e", []string{"d.e ?? a.b?.c"}},
		"long sides":    {"with calls and what is in brackets", `f(a, 1)["k"].l ?? g(b).m`, []string{`f(a, 2)["k"].l ?? g(b).m`, `f(a, 1)["kx"].l ?? g(b).m`, `g(b).m ?? f(a, 1)["k"].l`}},
		"predicate":     {"of an element", "filter(l, (.a ?? .b.c) > #.d)", []string{"filter(l, (.b.c ?? .a) > #.d)", "filter(l, (.a ?? .b.c) >= #.d)"}},
		"dynamic":       {"an index may be absent", "a?.[k] ?? b?.[k]", []string{"b?.[k] ?? a?.[k]"}},
		"parentheses":   {"are a side", "(a + b) ?? c", []string{"(a - b) ?? c", "c ?? (a + b)"}},
		"nothing":       {"a name is right or wrong as it is", "object.metadata.name", nil},
		"empty":         {"nor is there anything in nothing", " ", nil},
		"half a string": {"what cannot be read is left alone", `a == "b`, []string{`a != "b`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, texts(inExpression(test.expression))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestInTemplate(t *testing.T) {
	tests := map[string]struct {
		reason, template string
		want             []string
	}{
		"text":        {"a letter more", "basic", []string{"basicx"}},
		"empty":       {"a letter", "", []string{"x"}},
		"duration":    {"twice as long", "10m", []string{"20m"}},
		"expression":  {"only what is in it", "${pd + 1}", []string{"${pd - 1}", "${pd + 2}"}},
		"both":        {"and what is around it", "${a}-b", []string{"${a}-bx"}},
		"several":     {"each", "${a + b} of ${c}", []string{"${a - b} of ${c}", "${a + b} of ${c}x"}},
		"only before": {"text before an expression counts too", "had ${1}", []string{"had ${2}", "had ${1}x"}},
		"brace":       {"a map or a string does not end it", `${f({a: 1}, "}") > 2}`, []string{`${f({a: 2}, "}") > 2}`, `${f({a: 1}, "}x") > 2}`, `${f({a: 1}, "}") >= 2}`, `${f({a: 1}, "}") > 3}`}},
		"open":        {"one that does not end is left to the compiler", "${a > b", []string{"${a >= b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, texts(inTemplate(test.template))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func texts(changes []change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.text)
	}
	return out
}

// FuzzChanges wants every change to be one, whatever is changed.
func FuzzChanges(f *testing.F) {
	for _, seed := range []string{"a ?? b", "${a ?? (b)}", ") ?? (", "?? ??", "a?.[", "${", "}${}", "'", "#.a ?? [", "not not in"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range inExpression(text) {
			if c.text == text && !strings.Contains(c.what, "??") {
				t.Errorf("%s: %q is as it was", c.what, text)
			}
		}
		for _, c := range inTemplate(text) {
			if c.what == "" {
				t.Errorf("%q has a change without a name", text)
			}
		}
	})
}

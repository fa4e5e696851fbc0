package expression

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestTemplate(t *testing.T) {
	names := env{
		"object": sample(), "replicas": int64(3), "absent": nil, "half": 0.5, "yes": true, "text": "a\nb",
		"xs": []any{int64(1)},
	}
	tests := map[string]struct {
		text string
		want any
	}{
		"no expression":               {"plain text", "plain text"},
		"nothing":                     {"", ""},
		"an integer stays one":        {"${replicas + 1}", int64(4)},
		"a list stays one":            {"${object.spec.ports[:1]}", []any{map[string]any{"name": "client", "port": int64(2379)}}},
		"nil stays nil":               {"${absent}", nil},
		"omit() stays itself":         {"${omit()}", value.Omitted{}},
		"white space around":          {" \n ${replicas}\n", int64(3)},
		"white space inside":          {"${\n  replicas\n}", int64(3)},
		"text around":                 {"have ${replicas}, want ${replicas + 1}", "have 3, want 4"},
		"expressions side by side":    {"${replicas}${replicas}", "33"},
		"white space between":         {"${replicas} ${yes}", "3 true"},
		"a float in a text":           {"ratio ${half} ${1.0} ${1e21}", "ratio 0.5 1 1e+21"},
		"a text in a text":            {"<${text}>", "<a\nb>"},
		"$${ writes ${":               {"$${replicas}", "${replicas}"},
		"$${ beside an expression":    {"$${a} ${replicas} $${b}", "${a} 3 ${b}"},
		"$$${ writes $${":             {"$$${a}", "$${a}"},
		"$${ keeps it a text":         {"$${${replicas}}", "${3}"},
		"dollars are just text":       {"$(POD_NAME) $HOME $$ 5$", "$(POD_NAME) $HOME $$ 5$"},
		"a dollar before":             {"$ ${replicas}", "$ 3"},
		"a brace in a string":         {`${"}" + '}' + ` + "`}`}", "}}}"},
		"an escaped quote":            {`${"\"}"}`, `"}`},
		"a brace in a comment":        {"${replicas /* } */ + 1}", int64(4)},
		"a line comment":              {"${replicas // }\n}", int64(3)},
		"a map":                       {`${{"a": {b: replicas}}}`, map[string]any{"a": map[string]any{"b": int64(3)}}},
		"a predicate":                 {"${map(xs, {{n: #}})}", []any{map[string]any{"n": int64(1)}}},
		"a ${ in a string":            {`${"${"}`, "${"},
		"braces after an expression":  {"${replicas}}", "3}"},
		"other letters":               {"größe ${replicas} größe ${text}", "größe 3 größe a\nb"},
		"other letters in it":         {"${'größe'} ${'}ö}'}!", "größe }ö}!"},
		"a large text":                {strings.Repeat("x", 100_000) + "${replicas}", strings.Repeat("x", 100_000) + "3"},
		"${ } of two lines in a text": {"a: ${replicas\n+ 1}\n", "a: 4\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			template, err := CompileTemplate(tt.text, names.scope())
			if err != nil {
				t.Fatalf("CompileTemplate(%q): %v", tt.text, err)
			}
			got, err := template.Eval(&Evaluation{Names: names, Budget: value.NewBudget(len(tt.text))})
			if err != nil {
				t.Fatalf("%q: %v", tt.text, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q: (-want +got)\n%s", tt.text, diff)
			}
		})
	}
}

func TestTemplateConstant(t *testing.T) {
	tests := map[string]struct {
		text string
		want string
		ok   bool
	}{
		"plain":      {"a", "a", true},
		"empty":      {"", "", true},
		"escaped":    {"$${a}", "${a}", true},
		"expression": {"${1}", "", false},
		"both":       {"a ${1}", "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			template, err := CompileTemplate(tt.text, NewScope())
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := template.Constant(); got != tt.want || ok != tt.ok {
				t.Errorf("Constant() = %q, %v, want %q, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestTemplateNames(t *testing.T) {
	template, err := CompileTemplate("${b + a} ${c} ${a} $${d}", NewScope("a", "b", "c", "d"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a", "c"}, template.Names()); diff != "" {
		t.Errorf("Names() (-want +got)\n%s", diff)
	}
}

func TestTemplateLimits(t *testing.T) {
	if _, err := CompileTemplate("a\xff", NewScope()); err == nil {
		t.Error("bytes that are no text: no error")
	}
	if _, err := CompileTemplate(strings.Repeat("${1}", maxParts), NewScope()); err != nil {
		t.Errorf("the limit itself: %v", err)
	}
	_, err := CompileTemplate(strings.Repeat("${1}", 100_000), NewScope())
	if err == nil || !strings.Contains(err.Error(), "more than 200 expressions") {
		t.Errorf("too many expressions: %v", err)
	}
	_, err = CompileTemplate("${"+strings.Repeat("a", syntax.MaxSource+1)+"}", NewScope())
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("too long an expression: %v", err)
	}
	template, err := CompileTemplate("${text} ${text}", NewScope("text"))
	if err != nil {
		t.Fatal(err)
	}
	names := env{"text": strings.Repeat("a", 2<<20)}
	if _, err = template.Eval(&Evaluation{Names: names, Budget: value.NewBudget(0)}); !errors.Is(err, value.ErrBudget) {
		t.Errorf("a large result: %v, want one that wraps value.ErrBudget", err)
	}
}

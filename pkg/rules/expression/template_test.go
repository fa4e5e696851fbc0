package expression

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
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
		"omit() stays itself":         {"${omit()}", Omitted{}},
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
			got, err := template.Eval(&Evaluation{Names: names, Budget: NewBudget(len(tt.text))})
			if err != nil {
				t.Fatalf("%q: %v", tt.text, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q: (-want +got)\n%s", tt.text, diff)
			}
		})
	}
}

func TestTemplateErrors(t *testing.T) {
	names := env{"replicas": int64(3), "absent": nil, "xs": []any{"a"}, "object": sample()}
	tests := map[string]struct {
		text    string
		at      string
		message string
		hint    string
	}{
		"empty": {
			"a ${} b", "${}", "the expression in ${} is empty", "write $${ for a literal ${",
		},
		"blank": {
			"a ${ \n } b", "${ \n }", "the expression in ${} is empty", "write $${ for a literal ${",
		},
		"unclosed": {
			"a ${replicas", "${", "the ${ that starts here is not closed", "end it with }, or write $${ for a literal ${",
		},
		"closed only by a brace of its own": {
			"a ${ {a: 1} b", "${", "the ${ that starts here is not closed", "end it with }, or write $${ for a literal ${",
		},
		"closed in a comment": {
			"a ${replicas // }", "${", "the ${ that starts here is not closed", "a // comment hides the rest of its line",
		},
		"an open string": {
			"ö ${replicas} ${ 'a } b", "'", "the string that starts here has no closing quote", "",
		},
		"an open block comment": {
			"ö ${ 1 /* } b", "/*", "the comment that starts here is not closed", "end it with */",
		},
		"an unknown name": {
			"größe ${'ö'} ${replica}", "replica", `unknown name "replica"`, `did you mean "replicas"?`,
		},
		"a syntax error": {
			"a ${replicas +} b", "", "the expression ends too early, after +", "",
		},
		"an error of the evaluation alone": {
			"  ${replicas + absent}", "absent", "absent is absent, and + wants a number", "?? gives a default: (absent ?? 0)",
		},
		"an error of the evaluation in a text": {
			"ö ${replicas} ${replicas + absent}", "absent", "absent is absent, and + wants a number", "?? gives a default: (absent ?? 0)",
		},
		"nil in a text": {
			"a ${object.spec.storage} b", "object.spec.storage",
			"object.spec.storage is absent, and the text around ${ } wants a boolean, a number or a string", `say when: object.spec.storage != nil if nothing is to be done then, or give a default: ${object.spec.storage ?? "none"}`,
		},
		"a list in a text": {
			"a ${xs}", "xs", "the text around ${ } wants a boolean, a number or a string, and xs is a list",
			"write toJSON(...) around it, or join(...) around a list of strings",
		},
		"a map in a text": {
			"a ${ {a: 1} }", " {a: 1} ", "the text around ${ } wants a boolean, a number or a string, have a map",
			"write toJSON(...) around it, or join(...) around a list of strings",
		},
		"omit() in a text": {
			"a ${omit()}", "omit()", "the text around ${ } wants a boolean, a number or a string, have omit()",
			"omit() drops a whole value and must stand alone",
		},
		"invalid UTF-8": {
			"a\xff", "a\xff", "the text is not valid UTF-8", "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			template, err := CompileTemplate(tt.text, names.scope())
			if err == nil {
				_, err = template.Eval(&Evaluation{Names: names})
			}
			got, at := place(t, tt.text, err)
			if got.Message != tt.message || got.Hint != tt.hint || at != tt.at {
				t.Errorf("%q:\n got %q at %q, hint %q\nwant %q at %q, hint %q",
					tt.text, got.Message, at, got.Hint, tt.message, tt.at, tt.hint)
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
	if _, err = template.Eval(&Evaluation{Names: names, Budget: NewBudget(0)}); !errors.Is(err, ErrBudget) {
		t.Errorf("a large result: %v, want one that wraps ErrBudget", err)
	}
}

package function_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/test/oracle"
)

// newYear is the moment that the examples are true at.
var newYear = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// TestExamples evaluates the example of every row, which also shows that it has an
// implementation and that it mentions the function it is about.
func TestExamples(t *testing.T) {
	for _, f := range function.All() {
		t.Run(f.Name, func(t *testing.T) {
			if !strings.Contains(f.Example.Expression, f.Name+"(") {
				t.Errorf("the example %s does not call %s", f.Example.Expression, f.Name)
			}
			p, err := expression.Compile(f.Example.Expression, expression.NewScope())
			if err != nil {
				t.Fatal(err)
			}
			e := &expression.Evaluation{Budget: value.NewBudget(0), Instant: value.NewInstant(newYear)}
			v, err := p.Eval(e)
			if err != nil {
				t.Fatal(err)
			}
			if of, mistakes := check.Program(p, nil, nil); len(mistakes) > 0 || !oracle.Admits(of, v) {
				t.Errorf("%s = %v, and is checked as %s: %v", f.Example.Expression, v, written(of), mistakes)
			}
			if v, err = value.Strip(v, e.Budget); err != nil {
				t.Fatal(err)
			}
			got, err := value.JSON(template.Stamped(v, nil, newYear, schema.Merged), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got != f.Example.Want {
				t.Errorf("%s = %s, want %s", f.Example.Expression, got, f.Example.Want)
			}
			if !json.Valid([]byte(f.Example.Want)) {
				t.Errorf("%s is not JSON", f.Example.Want)
			}
		})
	}
}

// TestRows checks what the reference and the compiler rely on.
func TestRows(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)
	seen := map[string]bool{}
	for _, f := range function.All() {
		if !name.MatchString(f.Name) || seen[f.Name] {
			t.Errorf("the name %q is taken or not in camel case", f.Name)
		}
		seen[f.Name] = true
		if f.Result == 0 {
			t.Errorf("%s has no result", f.Name)
		}
		if !strings.HasSuffix(f.Doc, ".") || strings.ToUpper(f.Doc[:1]) != f.Doc[:1] {
			t.Errorf("%s: %q is not a sentence", f.Name, f.Doc)
		}
		checkParams(t, f)
		if found, ok := function.Lookup(f.Name); !ok || found.Name != f.Name {
			t.Errorf("Lookup(%s) = %v, %v", f.Name, found, ok)
		}
	}
}

func checkParams(t *testing.T, f function.Function) {
	t.Helper()
	optional := false
	for i, p := range f.Params {
		if p.Name == "" || p.Kinds == 0 {
			t.Errorf("%s: parameter %d has no name or no kind", f.Name, i)
		}
		last, second := i == len(f.Params)-1, i == 1
		inPlace := (p.Optional || !optional) && (last || !p.Variadic) && (second || !p.Predicate)
		if !inPlace {
			t.Errorf("%s: parameter %s is out of place", f.Name, p.Name)
		}
		takesList := p.Kinds&(value.List|value.Map) != 0
		takesAnything := p.Kinds.Has(value.Any &^ value.Nil)
		if takesList && !takesAnything && !p.Kinds.Has(value.Nil) {
			t.Errorf("%s: parameter %s refuses an absent list or map", f.Name, p.Name)
		}
		optional = optional || p.Optional
	}
}

func TestSignature(t *testing.T) {
	for name, want := range map[string]string{
		"len":    "len(of)",
		"split":  "split(text, separator, [limit])",
		"reduce": "reduce(list, result, [initial])",
		"max":    "max(numbers...)",
		"omit":   "omit()",
		"count":  "count(list, [condition])",
	} {
		if f, _ := function.Lookup(name); f.Signature() != want {
			t.Errorf("Signature() = %s, want %s", f.Signature(), want)
		}
	}
}

func TestCheckCount(t *testing.T) {
	for name, bounds := range map[string][2]int{"omit": {0, 0}, "take": {2, 2}, "split": {2, 3}, "concat": {1, 100}} {
		f, _ := function.Lookup(name)
		for n := range 101 {
			if err := f.CheckCount(n); (err == nil) != (n >= bounds[0] && n <= bounds[1]) {
				t.Errorf("%s with %d arguments: %v", name, n, err)
			}
		}
	}
}

func TestInstead(t *testing.T) {
	for word, want := range map[string]string{"timezone": "times are RFC 3339 strings: write timestamp(text)", "size": "write len(x)", "contains": "write x contains y", "": "", "pods": ""} {
		if got := function.Instead(word); got != want {
			t.Errorf("Instead(%s) = %q, want %q", word, got, want)
		}
	}
}

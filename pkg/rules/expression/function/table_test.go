package function_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
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
			e := &expression.Evaluation{Budget: expression.NewBudget(0), Instant: expression.NewInstant(newYear)}
			v, err := p.Eval(e)
			if err != nil {
				t.Fatal(err)
			}
			if v, err = expression.Strip(v, e.Budget); err != nil {
				t.Fatal(err)
			}
			got, err := value.JSON(body.Stamped(v, nil, newYear, schema.Merged), nil)
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
		if function.Refused(f.Name) != nil || !function.Reserved(f.Name) {
			t.Errorf("%s is refused or not reserved", f.Name)
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
	tests := map[string]struct {
		least, most int
		want        string // The message for one too few or, if that cannot be, too many.
	}{
		"omit":   {0, 0, "omit takes 0 arguments, have 1"},
		"upper":  {1, 1, "upper takes 1 argument, have 0"},
		"take":   {2, 2, "take takes 2 arguments, have 1"},
		"trim":   {1, 2, "trim takes 1 to 2 arguments, have 0"},
		"split":  {2, 3, "split takes 2 to 3 arguments, have 1"},
		"concat": {1, 100, "concat takes at least 1 argument, have 0"},
	}
	for name, tt := range tests {
		f, _ := function.Lookup(name)
		for n := tt.least; n <= tt.most; n++ {
			if err := f.CheckCount(n); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		wrong := tt.least - 1
		if wrong < 0 {
			wrong = tt.most + 1
		}
		err := f.CheckCount(wrong)
		if fault, ok := errors.AsType[*value.Fault](err); !ok || fault.Message != tt.want || fault.Hint != "write "+f.Signature() {
			t.Errorf("%s with %d arguments: %v, want %s", name, wrong, err, tt.want)
		}
		if name != "concat" && f.CheckCount(tt.most+1) == nil {
			t.Errorf("%s takes %d arguments", name, tt.most+1)
		}
	}
}

func TestRefused(t *testing.T) {
	tests := map[string]struct {
		reason   string
		reserved bool
		message  string
		hint     string
	}{
		"now":      {"expr has it", true, "there is no now(), because the same objects must always give the same answer", "write after(t), before(t) or olderThan(t, d), which look again in time; stamp() writes the time"},
		"timezone": {"expr has it", true, `there is no function "timezone", because times are RFC 3339 strings`, "write timestamp(text)"},
		"bitnot":   {"expr has it", true, `there is no function "bitnot", because rules have no bit operations`, ""},
		"Now":      {"expr's users look for it", false, "there is no function \"Now\"", "write after(t), before(t) or olderThan(t, d), which look again in time; stamp() writes the time"},
		"size":     {"CEL has it", false, `there is no function "size"`, "write len(x)"},
		"exists":   {"CEL has it", false, `there is no function "exists"`, "write any(list, condition)"},
	}
	for name, tt := range tests {
		fault := function.Refused(name)
		if fault == nil || fault.Message != tt.message || fault.Hint != tt.hint {
			t.Errorf("Refused(%s) = %v, want %q and %q: %s", name, fault, tt.message, tt.hint, tt.reason)
		}
		if function.Reserved(name) != tt.reserved {
			t.Errorf("Reserved(%s) = %v: %s", name, !tt.reserved, tt.reason)
		}
	}
	for _, name := range []string{"", "pods", "frobnicate"} {
		if fault := function.Refused(name); fault != nil || function.Reserved(name) {
			t.Errorf("%q is refused (%v) or reserved", name, fault)
		}
	}
}

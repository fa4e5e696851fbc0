package clause_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
)

// scope resolves the names of the tests.
type scope map[string]*expression.Program

func (s scope) Definition(name string) *expression.Program { return s[name] }

func (s scope) Root(name string) string { return name }

func (s scope) Constant(name string) (any, bool) {
	if name != "params" {
		return nil, false
	}
	return map[string]any{"least": int64(3), "deep": map[string]any{"mode": "fast"}}, true
}

func compile(t testing.TB, text string) *expression.Program {
	t.Helper()
	p, err := expression.Compile(text, expression.NewScope("object", "params", "pods", "prod", "replicas", "again"))
	if err != nil {
		t.Fatalf("compiling %q: %v", text, err)
	}
	return p
}

func lets(t testing.TB) scope {
	t.Helper()
	return scope{
		"prod":     compile(t, `object.metadata.labels.env == "prod"`),
		"replicas": compile(t, `object.spec.replicas ?? 1`),
		"again":    compile(t, `prod && again`),
	}
}

func TestExclusive(t *testing.T) {
	tests := []struct {
		reason string
		a, b   string
		want   bool
	}{
		{"One is the other negated.", `prod`, `!prod`, true},
		{"So it is where the one is written out.", `object.metadata.labels.env == "prod"`, `!prod`, true},
		{"Nothing has two values.", `object.spec.mode == "a"`, `object.spec.mode == "b"`, true},
		{"Optional access is the same field.", `object.spec?.mode == "a"`, `object.spec["mode"] == "b"`, true},
		{"The same value is no contradiction.", `object.spec.mode == "a"`, `object.spec.mode == "a"`, false},
		{"Two fields have nothing to do with each other.", `object.spec.mode == "a"`, `object.spec.kind == "b"`, false},
		{"A value is not one that it is not.", `object.spec.mode == "a"`, `object.spec.mode != "a"`, true},
		{"A field that is absent is another, too.", `object.spec.mode != "b"`, `object.spec.mode == nil`, false},
		{"What is nil is not present.", `object.spec.x == nil`, `object.spec.x != nil`, true},
		{"What is nil has no value.", `object.spec.x == nil`, `object.spec.x == 3`, true},
		{"A key is there or not.", `"a" in object.metadata.labels`, `!("a" in object.metadata.labels)`, true},
		{"A key that is not there has no value.", `object.metadata.labels.a == "x"`, `not ("a" in object.metadata.labels)`, true},
		{"Numbers are above or below.", `object.spec.n > 3`, `object.spec.n <= 3`, true},
		{"Ranges overlap.", `object.spec.n > 3`, `object.spec.n < 5`, false},
		{"The ends of ranges touch.", `object.spec.n >= 3`, `object.spec.n <= 3`, false},
		{"They touch, but one is open.", `object.spec.n > 3`, `object.spec.n <= 3.0`, true},
		{"The constant may stand first.", `3 < object.spec.n`, `object.spec.n <= 3`, true},
		{"A parameter is a constant.", `object.spec.n >= params.least`, `object.spec.n < 3`, true},
		{"So is one within one.", `object.spec.mode == params.deep.mode`, `object.spec.mode == "slow"`, true},
		{"A number is in no other range.", `object.spec.n == 2`, `object.spec.n > 2`, true},
		{"Lists have a value in common.", `object.spec.mode in ["a", "b"]`, `object.spec.mode in ["b", "c"]`, false},
		{"Lists have none in common.", `object.spec.mode in ["a", "b"]`, `object.spec.mode in ["c"]`, true},
		{"One is in the list, the other is not.", `object.spec.mode in ["a"]`, `!(object.spec.mode in ["a", "b"])`, true},
		{"A default stands in for nil.", `(object.spec.n ?? 0) > 0`, `object.spec.n == nil`, true},
		{"A default may be what is asked for.", `(object.spec.n ?? 5) > 0`, `object.spec.n == nil`, false},
		{"A let with a default is written out.", `replicas > 1`, `(object.spec.replicas ?? 1) <= 1`, true},
		{"A flag that is absent is off.", `object.spec.paused ?? false`, `!(object.spec.paused ?? false)`, true},
		{"A flag compared and a flag itself.", `object.spec.paused == true`, `!(object.spec.paused ?? false)`, true},
		{"A conjunction contradicts by one of its parts.", `prod && object.spec.n > 3`, `object.spec.n < 2 && object.spec.kind == "x"`, true},
		{"A disjunction contradicts by all of its parts.", `prod || object.spec.n > 3`, `!prod && object.spec.n < 2`, true},
		{"A disjunction leaves a way.", `prod || object.spec.n > 3`, `!prod`, false},
		{"Negated, and becomes or.", `!(prod && object.spec.n > 3)`, `prod && object.spec.n > 3`, true},
		{"What is not understood is compared as text.", `len(pods) > 3 && any(pods, .status.phase == "Failed")`, `!any(pods, .status.phase == "Failed")`, true},
		{"Lengths are numbers.", `len(pods) == 0`, `len(pods) >= 1`, true},
		{"Texts have no order here.", `object.spec.a < "b"`, `object.spec.a > "c"`, false},
		{"A circle ends.", `again`, `!again`, false},
		{"Nothing is known of slices.", `object.spec.list[1:] == [1]`, `object.spec.list[1:] == [2]`, false},
	}
	for _, tc := range tests {
		names := lets(t)
		a, b := clause.Of(compile(t, tc.a), names), clause.Of(compile(t, tc.b), names)
		if got := clause.Exclusive(a, b); got != tc.want {
			t.Errorf("%s\n%s\n%s\nexclusive: %t, want %t", tc.reason, tc.a, tc.b, got, tc.want)
		}
		if clause.Exclusive(a, b) != clause.Exclusive(b, a) {
			t.Errorf("%s The order of %q and %q matters", tc.reason, tc.a, tc.b)
		}
	}
}

func TestAnd(t *testing.T) {
	names := lets(t)
	prod, many, few := clause.Of(compile(t, "prod"), names), clause.Of(compile(t, "object.spec.n > 3"), names), clause.Of(compile(t, "object.spec.n < 2"), names)
	if !clause.Exclusive(clause.And(prod, many), few) {
		t.Error("a part of a conjunction contradicts, and it is not seen")
	}
	if clause.Exclusive(clause.Condition{}, few) || clause.Exclusive(clause.And(clause.Condition{}, prod), many) {
		t.Error("what always holds contradicts something")
	}
	if !clause.Exclusive(clause.And(many, few), prod) {
		t.Error("what never holds does not contradict everything")
	}
}

// TestBounded makes sure that conditions which would fall apart into very many ways are given up.
func TestBounded(t *testing.T) {
	var parts []string
	for range 60 {
		parts = append(parts, "(object.spec.a == 1 || object.spec.b == 2)")
	}
	p := compile(t, strings.Join(parts, " && "))
	if wide := clause.Of(p, lets(t)); clause.Exclusive(wide, clause.Of(compile(t, "prod"), lets(t))) {
		t.Error("a condition that is given up contradicts something")
	}
}

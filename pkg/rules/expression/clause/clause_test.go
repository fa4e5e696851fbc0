package clause_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
)

const plenty = 1_000_000

// scope resolves the names of the tests.
type scope map[string]*expression.Program

func (s scope) Definition(name string) *expression.Program { return s[name] }

func (s scope) Root(name string) (called string, stored bool) {
	return name, name == "object" || name == "pods"
}

func (s scope) Constant(name string) (any, bool) {
	if name != "params" {
		return nil, false
	}
	return map[string]any{"least": int64(3), "deep": map[string]any{"mode": "fast"}}, true
}

func compile(t testing.TB, text string) *expression.Program {
	t.Helper()
	p, err := expression.Compile(text, expression.NewScope("object", "params", "pods", "prod", "replicas", "again", "again2", "size", "sizes"))
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
		"size":     compile(t, `quantity(object.spec.size)`),
		"sizes":    compile(t, `{"a": quantity(object.spec.size)}`),
	}
}

// long is a list of more values than are kept apart.
var long = "object.spec.mode in [" + strings.TrimSuffix(strings.Repeat(`"abc",`, 200), ",") + "]"

func TestExclusive(t *testing.T) {
	tests := []struct {
		reason string
		a, b   string
		want   bool
	}{
		{"One is the other negated.", `prod`, `!prod`, true},
		{"So it is where the one is written out.", `object.metadata.labels.env == "prod"`, `!prod`, true},
		{"A condition has one status.", `condition(object, "Ready")?.status == "True"`, `condition(object, "Ready")?.status == "False"`, true},
		{"Two conditions have one each.", `condition(object, "Ready")?.status == "True"`, `condition(object, "Stalled")?.status == "False"`, false},
		{"What is made of elements may be equal to both.", `first(map(pods, quantity(.spec.size))) == "1"`, `first(map(pods, quantity(.spec.size))) == "1.0"`, false},
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
		{"Two texts can be one quantity.", `quantity(object.spec.size) == "1Gi"`, `quantity(object.spec.size) == "1024Mi"`, false},
		{"A text can be a number as a quantity.", `quantity(object.spec.size) == "5"`, `quantity(object.spec.size) > 4`, false},
		{"So it is by a let.", `size == "1Gi"`, `size == "1024Mi"`, false},
		{"And in a let.", `sizes.a == "1Gi"`, `sizes.a == "1024Mi"`, false},
		{"And in a list.", `quantity(object.spec.size) in ["1Gi"]`, `quantity(object.spec.size) in ["1024Mi"]`, false},
		{"And with a default.", `(quantity(object.spec.size) ?? "1Gi") == "1Gi"`, `(quantity(object.spec.size) ?? "1Gi") == "1024Mi"`, false},
		{"Two texts can be one duration.", `duration(object.spec.d) == "1h"`, `duration(object.spec.d) == "60m"`, false},
		{"Two texts can be one moment.", `timestamp(object.spec.t) == "2026-01-01T00:00:00Z"`, `timestamp(object.spec.t) == "2026-01-01T01:00:00+01:00"`, false},
		{"What a loop is over is not known.", `again2 == "1Gi"`, `again2 == "1024Mi"`, false},
		{"A comparison of what is computed is one text.", `quantity(object.spec.size) == "1Gi"`, `quantity(object.spec.size) != "1Gi"`, true},
		{"So is an order.", `quantity(object.spec.size) > "1Gi"`, `quantity(object.spec.size) <= "1Gi"`, true},
		{"The other way round, too.", `"1Gi" < quantity(object.spec.size)`, `quantity(object.spec.size) <= "1Gi"`, true},
		{"So is one of two fields.", `object.spec.a == object.spec.b`, `object.spec.a != object.spec.b`, true},
		{"And of texts.", `object.spec.a < "b"`, `object.spec.a >= "b"`, true},
		{"A number of a text is a number.", `int(object.spec.a) == 1`, `int(object.spec.a) == 2`, true},
		{"Integers are compared exactly.", `object.spec.n > 9007199254740992`, `object.spec.n <= 9007199254740993`, false},
		{"Where floats would be the same.", `object.spec.n >= 9007199254740993`, `object.spec.n <= 9007199254740992`, true},
		{"An integer and a float are compared as numbers.", `object.spec.n == 2`, `object.spec.n == 2.0`, false},
		{"nil may be in a list.", `object.spec.mode in [nil, "a"]`, `object.spec.mode == nil`, false},
		{"nil may be out of it.", `!(object.spec.mode in [nil, "a"])`, `object.spec.mode == nil`, true},
		{"A list with a default.", `(object.spec.mode ?? "a") in ["a", "b"]`, `object.spec.mode == "c"`, true},
		{"A default that is in the list.", `(object.spec.mode ?? "a") in ["a", "b"]`, `object.spec.mode == nil`, false},
		{"Lists are compared as text.", `object.spec.list == [1]`, `object.spec.list != [1]`, true},
		{"Other lists may be the same.", `object.spec.list == [1]`, `object.spec.list == [1.0]`, false},
		{"An integer and a float are two arguments.", `any(pods, .n / 1 == .m)`, `!any(pods, .n / 1.0 == .m)`, false},
		{"Long lists are compared as text.", long, `!(` + long + `)`, true},
		{"Of two long lists nothing is known.", long, `object.spec.mode == "no"`, false},
		{"Nothing is known of slices.", `object.spec.list[1:] == [1]`, `object.spec.list[1:] == [2]`, false},
	}
	for _, tc := range tests {
		names := lets(t)
		work := clause.NewWork(plenty)
		a, b := clause.Of(compile(t, tc.a), names, work), clause.Of(compile(t, tc.b), names, work)
		if got := clause.Exclusive(a, b, work); got != tc.want {
			t.Errorf("%s\n%s\n%s\nexclusive: %t, want %t", tc.reason, tc.a, tc.b, got, tc.want)
		}
		if clause.Exclusive(a, b, work) != clause.Exclusive(b, a, work) {
			t.Errorf("%s The order of %q and %q matters", tc.reason, tc.a, tc.b)
		}
	}
}

func TestAnd(t *testing.T) {
	names, work := lets(t), clause.NewWork(plenty)
	of := func(text string) clause.Condition { return clause.Of(compile(t, text), names, work) }
	prod, many, few := of("prod"), of("object.spec.n > 3"), of("object.spec.n < 2")
	if !clause.Exclusive(clause.And(prod, many, work), few, work) {
		t.Error("a part of a conjunction contradicts, and it is not seen")
	}
	if clause.Exclusive(clause.Condition{}, few, work) || clause.Exclusive(clause.And(clause.Condition{}, prod, work), many, work) {
		t.Error("what always holds contradicts something")
	}
	never := clause.And(many, few, work)
	if !clause.Exclusive(never, prod, work) || !clause.Exclusive(clause.Condition{}, never, work) || !clause.Exclusive(never, never, work) {
		t.Error("what never holds does not contradict everything")
	}
}

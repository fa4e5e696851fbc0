package expression

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestProgramNames(t *testing.T) {
	scope := NewScope("a", "b", "c", "object")
	tests := map[string]struct {
		source string
		want   []string
	}{
		"none":                   {"1 + 1", nil},
		"in order":               {"c + a", []string{"c", "a"}},
		"once":                   {"a + a.b + a", []string{"a"}},
		"fields are no names":    {"object.a.b", []string{"object"}},
		"in indexes":             {"object[b].c", []string{"object", "b"}},
		"in predicates":          {"filter(b, #.a == c)", []string{"b", "c"}},
		"in branches":            {"true ? a : b", []string{"a", "b"}},
		"in what is not reached": {"false && a", []string{"a"}},
		"in lets":                {"let x = b; x + a", []string{"b", "a"}},
		"in pipes":               {"b | map(# + a)", []string{"b", "a"}},
		"in sort keys":           {"sortBy(b, [desc(a), c])", []string{"b", "a", "c"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, compiled(t, tt.source, scope).Names()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.source, diff)
			}
		})
	}
}

// TestNamesEvaluatePrograms lets names be computed by programs that share the
// evaluation, while others are running with variables on the stack.
func TestNamesEvaluatePrograms(t *testing.T) {
	scope := NewScope("a", "b", "c")
	names := &lazy{values: map[int]any{}}
	names.evaluation = &Evaluation{Names: names, Budget: value.NewBudget(0)}
	names.programs = map[int]*Program{
		0: compiled(t, "let v = 1; let w = b; map([v, w], # + sum([10, 20], # + v))", scope),
		1: compiled(t, "let v = 100; reduce(1..3, #acc + c, v)", scope),
		2: compiled(t, "concat(map(1..30, string(#)), [\"x\"]) | len()", scope),
	}
	p := compiled(t, "let v = 7; concat(map([v], # + v), a, [v], a)", scope)
	got, err := p.Eval(names.evaluation)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{int64(14), int64(33), int64(225), int64(7), int64(33), int64(225)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if names.evaluated != 3 {
		t.Errorf("%d programs were evaluated, want 3", names.evaluated)
	}
	for i, v := range names.evaluation.stack {
		if v != nil {
			t.Errorf("the stack still holds %v at %d", v, i)
		}
	}
}

// TestNamesFailInTheirOwnSource keeps the place of an error in a let apart from
// the place where the let is used.
func TestNamesFailInTheirOwnSource(t *testing.T) {
	scope := NewScope("a", "b")
	names := &lazy{values: map[int]any{1: nil}, programs: map[int]*Program{0: compiled(t, "1000 + b", scope)}}
	names.evaluation = &Evaluation{Names: names}
	const source = "1 + a"
	_, err := compiled(t, source, scope).Eval(names.evaluation)
	if _, at := place(t, source, err); at != "a" {
		t.Errorf("the use is at %q, want a", at)
	}
	_, at := place(t, "1000 + b", errors.Unwrap(err))
	if at != "b" {
		t.Errorf("the cause is at %q, want b", at)
	}
}

func TestScope(t *testing.T) {
	scope := NewScope("a", "b")
	extended := scope.Extend("c")
	if _, found := scope.Slot("c"); found {
		t.Error("Extend changed the scope")
	}
	for want, name := range []string{"a", "b", "c"} {
		if slot, found := extended.Slot(name); !found || slot != want {
			t.Errorf("Slot(%s) = %d, %v, want %d", name, slot, found, want)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, extended.Names()); diff != "" {
		t.Errorf("Names() (-want +got)\n%s", diff)
	}
}

func TestReserved(t *testing.T) {
	for _, name := range []string{
		"object", "params", "rule", "index", "true", "nil", "null", "not", "in", "matches", "let", "if",
		"len", "map", "omit", "after", "stamp", "now", "date", "bitand", "desc",
	} {
		if Reserved(name) == "" {
			t.Errorf("Reserved(%q) is empty", name)
		}
	}
	for _, name := range []string{"pods", "config", "x", "size", "has", "Object", ""} {
		if why := Reserved(name); why != "" {
			t.Errorf("Reserved(%q) = %q", name, why)
		}
	}
}

// TestConcurrentUse evaluates one program in many goroutines for the race
// detector, which make unit runs this test of the package with.
func TestConcurrentUse(t *testing.T) {
	names := env{"object": sample(), "xs": []any{int64(3), int64(1), int64(2)}}
	p := compiled(t, `let n = object.spec.pd.replicas; {a: sortBy(xs, [desc(#)]), b: [n, [1, 2]], c: sum(xs, # * n), d: "x" matches "x"}`, names.scope())
	template, err := CompileTemplate("${len(xs)} of ${object.spec.pd.replicas}", names.scope())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": []any{int64(3), int64(2), int64(1)}, "b": []any{int64(3), []any{int64(1), int64(2)}}, "c": int64(18), "d": true,
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				e := &Evaluation{Names: names}
				if got, err := p.Eval(e); err != nil || !cmp.Equal(want, got) {
					t.Errorf("Eval = %v, %v", got, err)
				}
				if got, err := template.Eval(e); err != nil || got != "3 of 3" {
					t.Errorf("Eval of the template = %v, %v", got, err)
				}
				if _, err := p.Explain(e); err == nil || !strings.Contains(err.Error(), "a condition wants a boolean") {
					t.Errorf("Explain: %v", err)
				}
			}
		})
	}
	group.Wait()
}

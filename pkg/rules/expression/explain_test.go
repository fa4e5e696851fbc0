package expression

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExplain(t *testing.T) {
	names := env{"object": sample(), "replicas": int64(3), "absent": nil, "xs": []any{int64(1)}}
	yes := func(source string, offset int, reads ...Read) Clause {
		return Clause{Source: source, Offset: offset, Holds: true, Reads: reads}
	}
	no := func(source string, offset int, reads ...Read) Clause {
		return Clause{Source: source, Offset: offset, Reads: reads}
	}
	replicas := Read{"replicas", int64(3)}
	tests := map[string]struct {
		source string
		want   []Clause
		err    string
	}{
		"one clause": {
			"replicas == 4", []Clause{no("replicas == 4", 0, replicas)}, "",
		},
		"the first false one decides": {
			"replicas > 1 && replicas > 3 && replicas > 2",
			[]Clause{yes("replicas > 1", 0, replicas), no("replicas > 3", 16, replicas)},
			"",
		},
		"all hold": {
			"replicas > 1 and not (replicas > 3)",
			[]Clause{yes("replicas > 1", 0, replicas), yes("not (replicas > 3)", 17, replicas)},
			"",
		},
		"paths and their values": {
			`object.spec.pd.replicas == replicas && object.spec.tidb?.replicas != nil`,
			[]Clause{
				yes("object.spec.pd.replicas == replicas", 0, Read{"object.spec.pd.replicas", int64(3)}, replicas),
				no("object.spec.tidb?.replicas != nil", 39, Read{"object.spec.tidb?.replicas", nil}),
			},
			"",
		},
		"a path is read once": {
			"replicas > 1 || replicas > 2", []Clause{yes("replicas > 1 || replicas > 2", 0, replicas)}, "",
		},
		"parentheses around several": {
			"(replicas > 1 && (replicas) > 3)",
			[]Clause{yes("replicas > 1", 1, replicas), no("(replicas) > 3", 17, replicas)},
			"",
		},
		"parentheses of a clause": {
			"(replicas > 1 || true) && ((replicas > 3))",
			[]Clause{yes("(replicas > 1 || true)", 0, replicas), no("((replicas > 3))", 26, replicas)},
			"",
		},
		"behind a let": {
			"let x = replicas; let y = x; y > 1 && y > 3",
			[]Clause{yes("y > 1", 29, replicas, Read{"x", int64(3)}, Read{"y", int64(3)}), no("y > 3", 38, Read{"y", int64(3)})},
			"",
		},
		"a chained comparison is one clause": {
			"1 < replicas < 3 && true", []Clause{no("1 < replicas < 3", 0, replicas)}, "",
		},
		"predicates say what list they are about": {
			"any(xs, # > 1) && true", []Clause{no("any(xs, # > 1)", 0, Read{"xs", []any{int64(1)}})}, "",
		},
		"pipes": {
			"true && (xs | len()) > 1", []Clause{yes("true", 0), no("(xs | len()) > 1", 8, Read{"xs", []any{int64(1)}})}, "",
		},
		"a pipe takes all before it": {
			"len(xs) > 1 | string() == \"true\"", []Clause{no("len(xs) > 1 | string() == \"true\"", 0, Read{"xs", []any{int64(1)}})}, "",
		},
		"if": {
			"true && (if replicas > 1 {false} else {true})",
			[]Clause{yes("true", 0), no("(if replicas > 1 {false} else {true})", 8, replicas)},
			"",
		},
		"minus, slices, calls and literals": {
			"-replicas < 0 && xs[:1] == [1] && len(xs) == 1 && true not in [true] && -1 != object.a?.b",
			[]Clause{
				yes("-replicas < 0", 0, replicas),
				yes("xs[:1] == [1]", 17, Read{"xs[...]", []any{int64(1)}}),
				yes("len(xs) == 1", 34, Read{"xs", []any{int64(1)}}),
				no("true not in [true]", 50),
			},
			"",
		},
		"comments are no part": {
			"/* a */ replicas > 3 // b\n&& true", []Clause{no("replicas > 3", 8, replicas)}, "",
		},
		"an error is in the last clause": {
			"replicas > 1 && replicas > absent && true",
			[]Clause{yes("replicas > 1", 0, replicas), no("replicas > absent", 16, replicas, Read{"absent", nil})},
			"absent is absent, and > wants a number; ?? gives a default: (absent ?? 0)",
		},
		"not a boolean": {
			"replicas > 1 && replicas",
			[]Clause{yes("replicas > 1", 0, replicas), no("replicas", 16, replicas)},
			"&& wants a boolean, and replicas is an integer",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(tt.source, names.scope())
			if err != nil {
				t.Fatal(err)
			}
			e := &Evaluation{Names: names}
			got, err := p.Explain(e)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.source, diff)
			}
			if message := errorText(err); message != tt.err {
				t.Errorf("%s: error %q, want %q", tt.source, message, tt.err)
			}
			if tt.err == "" {
				want := tt.want[len(tt.want)-1].Holds
				if result, err := p.EvalBool(e); err != nil || result != want {
					t.Errorf("%s = %v, %v, but explained as %v", tt.source, result, err, want)
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestExplainInside makes sure that explaining a condition leaves no trace in the
// programs that its names evaluate.
func TestExplainInside(t *testing.T) {
	scope := NewScope("a", "b")
	names := &lazy{programs: map[int]*Program{}, values: map[int]any{1: int64(1)}}
	names.programs[0] = compiled(t, "b + 1", scope)
	names.evaluation = &Evaluation{Names: names}
	clauses, err := compiled(t, "a > 1 && a > 2", scope).Explain(names.evaluation)
	if err != nil {
		t.Fatal(err)
	}
	want := []Clause{
		{Source: "a > 1", Holds: true, Reads: []Read{{"a", int64(2)}}},
		{Source: "a > 2", Offset: 9, Reads: []Read{{"a", int64(2)}}},
	}
	if diff := cmp.Diff(want, clauses); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// lazy evaluates names with programs of their own, as a rule does with let.
type lazy struct {
	evaluation *Evaluation
	programs   map[int]*Program
	values     map[int]any
	evaluated  int
}

func (l *lazy) Value(slot int) (any, error) {
	if v, found := l.values[slot]; found {
		return v, nil
	}
	p := l.programs[slot]
	if p == nil {
		return nil, errors.New("nothing here")
	}
	l.evaluated++
	v, err := p.Eval(l.evaluation)
	if err == nil {
		l.values[slot] = v
	}
	return v, err
}

func compiled(t *testing.T, source string, scope *Scope) *Program {
	t.Helper()
	p, err := Compile(source, scope)
	if err != nil {
		t.Fatalf("Compile(%s): %v", source, err)
	}
	return p
}

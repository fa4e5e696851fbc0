package expression

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClauses holds what is one clause, and how its text is cut out. What became of each is for TestExplain.
func TestClauses(t *testing.T) {
	tests := map[string]struct {
		reason, source string
		want           []string
	}{
		"one":         {"Without && and || there is one clause.", "a == 4", []string{"a == 4"}},
		"and":         {"All that is joined.", "a && b > 1", []string{"a", "b > 1"}},
		"parentheses": {"They do not hide clauses.", "a && (b || (c) > 1) && !(a && b)", []string{"a", "b", "(c) > 1", "!(a && b)"}},
		"own":         {"A clause keeps those of its own.", "(a.b) && (len(c))", []string{"(a.b)", "(len(c))"}},
		"around":      {"And not those around several.", "(a.b && c)", []string{"a.b", "c"}},
		"chain":       {"A chain of comparisons is one clause.", "1 < a < 3 || b", []string{"1 < a < 3", "b"}},
		"let":         {"Variables are for all clauses.", "let x = a; x > 1 && x > 3", []string{"x > 1", "x > 3"}},
		"inner let":   {"And inside them.", "(let x = a; x > 1 || x > 3) && b", []string{"x > 1", "x > 3", "b"}},
		"predicate":   {"A predicate is part of its clause.", "any([1, 2], # > 1 && # < 3) && a", []string{"any([1, 2], # > 1 && # < 3)", "a"}},
		"calls":       {"Up to their closing bracket.", "len(a) > 1 && len(b)", []string{"len(a) > 1", "len(b)"}},
		"pipes":       {"From what is piped on.", "(a | len()) > 1 && b[0].c", []string{"(a | len()) > 1", "b[0].c"}},
		"if":          {"With its branches.", "(if a {b} else {c}) && -c < 1", []string{"(if a {b} else {c})", "-c < 1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			program, err := Compile(tt.source, NewScope("a", "b", "c"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, clause := range program.Clauses() {
				got = append(got, clause.Source)
				if text := tt.source[clause.Offset : clause.Offset+len(clause.Source)]; text != clause.Source {
					t.Errorf("%q is said to be at %d, where %q is", clause.Source, clause.Offset, text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestDeciding finds the clause by which a condition is not true, and what all of it has read.
func TestDeciding(t *testing.T) {
	names := env{"a": true, "b": map[string]any{"c": int64(1)}}
	clause, err := compiled(t, "a && !(a && b.c > 1) && (b.c > 2 || a && b.c > 3) && a", names.scope()).Explain(&Evaluation{Names: names})
	if err != nil || clause.Holds() {
		t.Fatalf("%v, %v", clause.Holds(), err)
	}
	if got := clause.Deciding().Source; got != "(b.c > 2 || a && b.c > 3)" {
		t.Errorf("%s decides", got)
	}
	if got := len(clause.Joined()); got != 6 {
		t.Errorf("%d clauses are joined", got)
	}
	if diff := cmp.Diff([]Read{{"a", true}, {"b.c", int64(1)}}, clause.AllReads()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

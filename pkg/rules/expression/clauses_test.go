package expression

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	names := env{"object": sample(), "replicas": int64(3), "absent": nil, "yes": true, "no": false}
	tests := map[string]struct {
		reason, source string
		all            []string // every clause, as written
		holds, fails   []string // those whose value was asked for
		err            string
	}{
		"one":   {"without && and || there is one clause", "replicas == 4", []string{"replicas == 4"}, nil, []string{"replicas == 4"}, ""},
		"and":   {"all are asked for where all hold", "yes && replicas > 1", []string{"yes", "replicas > 1"}, []string{"yes", "replicas > 1"}, nil, ""},
		"stops": {"a false one leaves the others open", "no && yes", []string{"no", "yes"}, nil, []string{"no"}, ""},
		"or":    {"a true one too", "yes || no", []string{"yes", "no"}, []string{"yes"}, nil, ""},
		"goes on": {
			"a false one does not where another may be true", "no || yes", []string{"no", "yes"}, []string{"yes"}, []string{"no"}, "",
		},
		"words": {"operators may be words", "no or yes and not no", []string{"no", "yes", "not no"}, []string{"yes", "not no"}, []string{"no"}, ""},
		"nested": {
			"parentheses do not hide clauses", "yes && (no || (replicas) > 1) && !(yes && no)",
			[]string{"yes", "no", "(replicas) > 1", "!(yes && no)"},
			[]string{"yes", "(replicas) > 1", "!(yes && no)"},
			[]string{"no"},
			"",
		},
		"chain": {"a chain of comparisons is one clause", "1 < replicas < 3 || no", []string{"1 < replicas < 3", "no"}, nil, []string{"1 < replicas < 3", "no"}, ""},
		"let": {
			"variables are for all clauses", "let x = replicas; x > 1 && x > 3",
			[]string{"x > 1", "x > 3"},
			[]string{"x > 1"},
			[]string{"x > 3"},
			"",
		},
		"inner let": {
			"and inside them", "(let x = replicas; x > 1 || x > 3) && no",
			[]string{"x > 1", "x > 3", "no"},
			[]string{"x > 1"},
			[]string{"no"},
			"",
		},
		"predicate": {
			"a predicate is part of its clause", "any([1, 2], # > 1 && # < 3) && yes",
			[]string{"any([1, 2], # > 1 && # < 3)", "yes"},
			[]string{"any([1, 2], # > 1 && # < 3)", "yes"},
			nil, "",
		},
		"error": {
			"what fails is neither", "yes && absent > 1", []string{"yes", "absent > 1"}, []string{"yes"}, nil, "absent is absent, and > wants a number; ?? gives a default: (absent ?? 0)",
		},
		"no boolean": {
			"nor is what is no condition", "yes && replicas", []string{"yes", "replicas"}, []string{"yes"}, nil, "&& wants a boolean, and replicas is an integer",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			program := compiled(t, test.source, names.scope())
			var all []string
			for _, clause := range program.Clauses() {
				all = append(all, clause.Source)
				if text := test.source[clause.Offset : clause.Offset+len(clause.Source)]; text != clause.Source {
					t.Errorf("%q is said to be at %d, where %q is", clause.Source, clause.Offset, text)
				}
			}
			if diff := cmp.Diff(test.all, all); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
			var holds, fails []string
			e := &Evaluation{Names: names}
			judged, err := program.Judge(e)
			for _, clause := range judged {
				if clause.Holds() {
					holds = append(holds, clause.Source)
				} else {
					fails = append(fails, clause.Source)
				}
			}
			if diff := cmp.Diff([][]string{test.holds, test.fails}, [][]string{holds, fails}); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
			if have := errorText(err); have != test.err {
				t.Errorf("have the error %q, want %q", have, test.err)
			}
			if e.trace != nil {
				t.Error("the evaluation is still being traced")
			}
		})
	}
}

package expression

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outline writes a clause in a line, and those that it is made of below it.
func outline(c Clause) string {
	var out strings.Builder
	c.outline(&out, "")
	return out.String()
}

func (c Clause) outline(out *strings.Builder, margin string) {
	fmt.Fprintf(out, "%s%s", margin, c.Verdict)
	if c.Operator != "" {
		fmt.Fprintf(out, " %s", c.Operator)
	}
	fmt.Fprintf(out, " @%d `%s`", c.Offset, c.Source)
	for _, read := range c.Reads {
		fmt.Fprintf(out, " %s=%v", read.Path, read.Value)
	}
	if c.Err != nil {
		fmt.Fprintf(out, " ! %s", c.Err)
	}
	out.WriteString("\n")
	for _, part := range c.Clauses {
		part.outline(out, margin+"  ")
	}
}

func TestExplain(t *testing.T) {
	names := env{"object": sample(), "replicas": int64(3), "absent": nil, "xs": []any{int64(1)}, "yes": true, "no": false}
	tests := map[string]struct {
		reason, source string
		want           string
		err            string
	}{
		"one clause": {
			"What is not joined is one clause.", "replicas == 4",
			"false @0 `replicas == 4` replicas=3\n", "",
		},
		"count": {
			"Of what is only counted, a cache has nothing but the count.", "len(object.metadata.labels ?? {}) > 99 || len(xs) > 99",
			"false || @0 `len(object.metadata.labels ?? {}) > 99 || len(xs) > 99`\n" +
				"  false @0 `len(object.metadata.labels ?? {}) > 99` len(object.metadata.labels ?? {})=2\n" +
				"  false @42 `len(xs) > 99` xs=[1]\n", "",
		},
		"kind": {
			"Of what is only asked for its kind, it has nothing but that.", `type(object.metadata.labels) == "list"`,
			"false @0 `type(object.metadata.labels) == \"list\"` type(object.metadata.labels)=map\n", "",
		},
		"and": {
			"The first false one decides.", "replicas > 1 && replicas > 3 && replicas > 2",
			"false && @0 `replicas > 1 && replicas > 3 && replicas > 2`\n" +
				"  true @0 `replicas > 1` replicas=3\n" +
				"  false @16 `replicas > 3` replicas=3\n" +
				"  not asked @32 `replicas > 2`\n", "",
		},
		"mixed": {
			"Parentheses group.", "(no || replicas > 1) && (yes && no) && yes",
			"false && @0 `(no || replicas > 1) && (yes && no) && yes`\n" +
				"  true || @0 `(no || replicas > 1)`\n" +
				"    false @1 `no` no=false\n" +
				"    true @7 `replicas > 1` replicas=3\n" +
				"  true @25 `yes` yes=true\n" +
				"  false @32 `no` no=false\n" +
				"  not asked @39 `yes`\n", "",
		},
		"not": {
			"A negation is opened.", "!yes && !(no && yes)",
			"false && @0 `!yes && !(no && yes)`\n" +
				"  false ! @0 `!yes`\n" +
				"    true @1 `yes` yes=true\n" +
				"  not asked ! @8 `!(no && yes)`\n" +
				"    not asked && @9 `(no && yes)`\n" +
				"      not asked @10 `no`\n" +
				"      not asked @16 `yes`\n", "",
		},
		"choice": {
			"Of two branches one is asked for.", "replicas > 1 ? no || yes : yes",
			"true ?: @0 `replicas > 1 ? no || yes : yes`\n" +
				"  true @0 `replicas > 1` replicas=3\n" +
				"  true || @15 `no || yes`\n" +
				"    false @15 `no` no=false\n" +
				"    true @21 `yes` yes=true\n" +
				"  not asked @27 `yes`\n", "",
		},
		"else if": {
			"It may go on.", "if no {yes} else if replicas > 1 {no || no} else {yes}",
			"false ?: @0 `if no {yes} else if replicas > 1 {no || no} else {yes}`\n" +
				"  false @3 `no` no=false\n" +
				"  not asked @7 `yes`\n" +
				"  false ?: @17 `if replicas > 1 {no || no} else {yes}`\n" +
				"    true @20 `replicas > 1` replicas=3\n" +
				"    false || @34 `no || no`\n" +
				"      false @34 `no` no=false\n" +
				"      false @40 `no` no=false\n" +
				"    not asked @50 `yes`\n", "",
		},
		"paths": {
			"Each path has its value, absent ones too.", "object.spec.pd.replicas == replicas && object.spec.tidb?.replicas != nil",
			"false && @0 `object.spec.pd.replicas == replicas && object.spec.tidb?.replicas != nil`\n" +
				"  true @0 `object.spec.pd.replicas == replicas` object.spec.pd.replicas=3 replicas=3\n" +
				"  false @39 `object.spec.tidb?.replicas != nil` object.spec.tidb?.replicas=<nil>\n", "",
		},
		"once": {
			"A path is told once.", "replicas > 1 && replicas - replicas == 1",
			"false && @0 `replicas > 1 && replicas - replicas == 1`\n" +
				"  true @0 `replicas > 1` replicas=3\n" +
				"  false @16 `replicas - replicas == 1` replicas=3\n", "",
		},
		"let of conditions": {
			"It is no clause, whatever it is made of.", "let x = yes && replicas > 1; no || x",
			"true || @29 `no || x`\n" +
				"  false @29 `no` yes=true replicas=3 no=false\n" +
				"  true @35 `x` x=true\n", "",
		},
		"let": {
			"What a variable read is told with what comes first.", "let x = replicas; let y = x; y > 1 && y > 3",
			"false && @29 `y > 1 && y > 3`\n" +
				"  true @29 `y > 1` replicas=3 x=3 y=3\n" +
				"  false @38 `y > 3` y=3\n", "",
		},
		"predicate": {
			"A predicate is a part of its clause, and reads the same for every element.", "any(xs, # > 1 && # < 3) || len(filter(xs, !(# > 1))) > 1",
			"false || @0 `any(xs, # > 1 && # < 3) || len(filter(xs, !(# > 1))) > 1`\n" +
				"  false @0 `any(xs, # > 1 && # < 3)` xs=[1]\n" +
				"  false @27 `len(filter(xs, !(# > 1))) > 1` xs=[1]\n", "",
		},
		"not in": {
			"An operator of two words negates nothing.", "-replicas < 0 && xs[:1] == [1] && true not in [true]",
			"false && @0 `-replicas < 0 && xs[:1] == [1] && true not in [true]`\n" +
				"  true @0 `-replicas < 0` replicas=3\n" +
				"  true @17 `xs[:1] == [1]` xs[...]=[1]\n" +
				"  false @34 `true not in [true]`\n", "",
		},
		"comments": {
			"Comments are no part.", "/* a */ replicas > 3 // b\n&& true",
			"false && @8 `replicas > 3 // b\n" +
				"&& true`\n" +
				"  false @8 `replicas > 3` replicas=3\n" +
				"  not asked @29 `true`\n", "",
		},
		"error": {
			"An error is told where it comes from.", "replicas > 1 && (no || !(replicas > absent)) && true",
			"error && @0 `replicas > 1 && (no || !(replicas > absent)) && true`\n" +
				"  true @0 `replicas > 1` replicas=3\n" +
				"  error || @16 `(no || !(replicas > absent))`\n" +
				"    false @17 `no` no=false\n" +
				"    error ! @23 `!(replicas > absent)`\n" +
				"      error @24 `(replicas > absent)` replicas=3 absent=<nil> ! absent is absent, and > wants a number; ?? gives a default: (absent ?? 0)\n" +
				"  not asked @48 `true`\n", "absent is absent, and > wants a number; ?? gives a default: (absent ?? 0)",
		},
		"not a boolean": {
			"So is what is no condition.", "replicas > 1 && replicas",
			"error && @0 `replicas > 1 && replicas`\n" +
				"  true @0 `replicas > 1` replicas=3\n" +
				"  error @16 `replicas` replicas=3 ! && wants a boolean, and replicas is an integer; write (replicas ?? 0) != 0\n", "&& wants a boolean, and replicas is an integer; write (replicas ?? 0) != 0",
		},
		"coalesce": {
			"A default is a part of its clause.", "(object.spec.paused ?? yes) && no",
			"false && @0 `(object.spec.paused ?? yes) && no`\n" +
				"  false @0 `(object.spec.paused ?? yes)` object.spec.paused=false\n" +
				"  not asked @31 `no`\n", "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := compiled(t, tt.source, names.scope())
			e := &Evaluation{Names: names}
			got, err := p.Explain(e)
			if diff := cmp.Diff(tt.want, outline(got)); diff != "" {
				t.Errorf("%s %s: (-want +got)\n%s", tt.reason, tt.source, diff)
			}
			if message := errorText(err); message != tt.err {
				t.Errorf("%s: error %q, want %q", tt.source, message, tt.err)
			}
			if result, err := p.EvalBool(e); errorText(err) != tt.err || result != got.Holds() {
				t.Errorf("%s = %v, %v, but explained as %v", tt.source, result, err, got.Verdict)
			}
			if e.recorder != nil {
				t.Error("the evaluation is still being recorded")
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
	whole, err := compiled(t, "a > 1 && a > 2", scope).Explain(names.evaluation)
	if err != nil {
		t.Fatal(err)
	}
	const want = "false && @0 `a > 1 && a > 2`\n  true @0 `a > 1` a=2\n  false @9 `a > 2` a=2\n"
	if diff := cmp.Diff(want, outline(whole)); diff != "" {
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

package expression

import (
	"errors"
	"reflect"
	"runtime"
	"testing"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
)

// corpus adds what the other tests evaluate.
func corpus(f *testing.F, wrap func(string) string) {
	f.Helper()
	for _, row := range function.All() {
		f.Add(wrap(row.Example.Expression))
	}
	for _, source := range hostile {
		if len(source) < 1000 {
			f.Add(wrap(source))
		}
	}
	for _, source := range []string{
		nonMatching, "object.spec?.pd?.[xs[0]].replicas[1:-1] ?? 3", "let x = 1; if x > 2 {x} else if true {-x} else {!x}",
		`{a: 1, "b": [object.x, ...], (xs): nil}`, "xs | map(# ** 2) | filter(#index > 0)", "reduce(xs, #acc + #, 0.5)",
		"1..3 == [1, 2, 3]", "a not in b not matches \"c\"", "\"größe\" + '\\u{1F600}' + `raw`", "/* a */ 1 // b", "${object}", "$env", "b'x'",
	} {
		f.Add(wrap(source))
	}
}

func same(source string) string { return source }

// FuzzCompile makes sure that any source gives a program or an error that is
// placed inside it.
func FuzzCompile(f *testing.F) {
	corpus(f, same)
	scope := NewScope("object", "xs", "a", "b")
	f.Fuzz(func(t *testing.T, source string) {
		p, err := Compile(source, scope)
		if err != nil {
			checkPlace(t, source, err)
			return
		}
		if p.Source() != source {
			t.Errorf("Source() = %q, want %q", p.Source(), source)
		}
		for _, name := range p.Names() {
			if _, found := scope.Slot(name); !found {
				t.Errorf("unknown name %q", name)
			}
		}
	})
}

// FuzzEval makes sure that no program panics, exceeds its budget, changes its
// input or gives two answers.
func FuzzEval(f *testing.F) {
	corpus(f, same)
	object := sample()
	f.Fuzz(func(t *testing.T, source string) {
		names := env{"object": object, "xs": []any{int64(1), "a", nil, 1.5}, "a": int64(7), "b": "text"}
		p, err := Compile(source, names.scope())
		if err != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		first, err := outcome(p, names)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("allocated %d MiB", used>>20)
		}
		if err != nil {
			checkPlace(t, source, err)
		}
		// Not cmp.Equal, which takes exponential time on deep lists.
		second, again := outcome(p, names)
		if (err == nil) != (again == nil) || err == nil && !reflect.DeepEqual(first, second) {
			t.Errorf("gave %v, %v and then %v, %v", first, err, second, again)
		}
		if !reflect.DeepEqual(object, sample()) {
			t.Fatal("the object has changed")
		}
		explained(t, p, names, err)
	})
}

// outcome is the value of a program as it is written out.
func outcome(p *Program, names env) (any, error) {
	e := &Evaluation{Names: names, Budget: NewBudget(0)}
	v, err := p.Eval(e)
	if err != nil {
		return nil, err
	}
	stripped, err := Strip(v, e.Budget)
	if err != nil {
		return nil, p.whole().locate(err)
	}
	return stripped, nil
}

// explained compares Explain with EvalBool.
func explained(t *testing.T, p *Program, names env, failed error) {
	t.Helper()
	want, wantErr := p.EvalBool(&Evaluation{Names: names, Budget: NewBudget(0)})
	clauses, err := p.Explain(&Evaluation{Names: names, Budget: NewBudget(0)})
	if (err == nil) != (wantErr == nil) {
		t.Errorf("explained with %v, evaluated with %v", err, wantErr)
	}
	if err != nil || failed != nil {
		return
	}
	if len(clauses) == 0 {
		t.Fatal("no clause")
	}
	if got := clauses[len(clauses)-1].Holds; got != want {
		t.Errorf("explained as %v, evaluated to %v", got, want)
	}
	for _, c := range clauses {
		if p.Source()[c.Offset:c.Offset+len(c.Source)] != c.Source {
			t.Errorf("clause %q is not at %d", c.Source, c.Offset)
		}
	}
}

// FuzzTemplate makes sure that any text gives a template or an error inside it,
// and that a text without expressions is constant.
func FuzzTemplate(f *testing.F) {
	corpus(f, func(source string) string { return "${" + source + "}" })
	corpus(f, func(source string) string { return "größe $${ ${" + source + "} }" })
	f.Add("$${a} ${ {a: {b: '}'}}.a } $")
	f.Fuzz(func(t *testing.T, text string) {
		names := env{"object": sample(), "xs": []any{int64(1), "a", nil, 1.5}, "a": int64(7), "b": "text"}
		template, err := CompileTemplate(text, names.scope())
		if err != nil {
			checkPlace(t, text, err)
			return
		}
		got, err := template.Eval(&Evaluation{Names: names, Budget: NewBudget(len(text))})
		if err != nil {
			checkPlace(t, text, err)
			return
		}
		constant, ok := template.Constant()
		if ok && got != constant {
			t.Errorf("Constant() = %q, evaluated to %v", constant, got)
		}
		if s, isText := got.(string); isText && !utf8.ValidString(s) {
			t.Errorf("%q is not valid UTF-8", s)
		}
	})
}

func checkPlace(t *testing.T, source string, err error) {
	t.Helper()
	var located *Error
	if !errors.As(err, &located) {
		t.Fatalf("error %v, want an *Error", err)
	}
	if located.Offset < 0 || located.Length < 0 || located.Offset+located.Length > len(source) {
		t.Errorf("error %v at %d+%d of %d bytes", err, located.Offset, located.Length, len(source))
	}
	if utf8.ValidString(source) && !utf8.ValidString(located.Error()) {
		t.Errorf("the message %q is not valid UTF-8", located.Error())
	}
}

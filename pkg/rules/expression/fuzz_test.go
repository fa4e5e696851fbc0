package expression

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
	"github.com/dyncontroller/dyncontroller/test/generate"
	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// odd are sources that look right and hardly are.
var odd = []string{
	nonMatching, "object.spec?.pd?.[xs[0]].replicas[1:-1] ?? 3", "let x = 1; if x > 2 {x} else if true {-x} else {!x}",
	`{a: 1, "b": [object.x, ...], (xs): nil}`, "xs | map(# ** 2) | filter(#index > 0)", "reduce(xs, #acc + #, 0.5)",
	"1..3 == [1, 2, 3]", "a not in b not matches \"c\"", "\"größe\" + '\\u{1F600}' + `raw`", "/* a */ 1 // b", "${object}", "$env", "b'x'",
	"$${a} ${ {a: {b: '}'}}.a } $",
}

// corpus is every expression there is: of the reference, the guide, the examples and the hostile cases that are short.
func corpus(f *testing.F) []string {
	f.Helper()
	return slices.Concat(odd, examples(), attacks(f), written(f))
}

func examples() []string {
	var out []string
	for _, row := range function.All() {
		out = append(out, row.Example.Expression)
	}
	return out
}

func attacks(f *testing.F) []string {
	f.Helper()
	var out []string
	cases, err := hostile.Cases()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		const short = 1000
		text, err := c.Text()
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < short && c.Kind != hostile.Document {
			out = append(out, text)
		}
	}
	return out
}

// quoted finds what is between backticks in a guide, and in quotes or behind a colon in a file of rules.
var quoted = regexp.MustCompile("`([^`\n]+)`|\"([^\"\n]+)\"|: ([^\"{\n]+)\n")

// written are the texts of the guide and the examples, most of which are expressions or templates.
func written(f *testing.F) []string {
	f.Helper()
	var out []string
	for _, pattern := range []string{"../../../docs/guide/*.md", "../../../examples/rules/*/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("%d files of %s, %v", len(names), pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			for _, match := range quoted.FindAllStringSubmatch(string(data), -1) {
				out = append(out, strings.Join(match[1:], ""))
			}
		}
	}
	return out
}

// FuzzCompile makes sure that any source gives a program or an error that is
// placed inside it.
func FuzzCompile(f *testing.F) {
	for _, source := range corpus(f) {
		f.Add(source)
	}
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

// FuzzEval checks any source as checkEval does.
func FuzzEval(f *testing.F) {
	for _, source := range corpus(f) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		checkEval(t, source, func() env {
			return env{"object": sample(), "xs": []any{int64(1), "a", nil, 1.5}, "a": int64(7), "b": "text"}
		})
	})
}

// FuzzGenerated checks sources that are mostly right, on objects that are.
func FuzzGenerated(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(checkGenerated))
}

func TestGenerated(t *testing.T) { rapid.Check(t, checkGenerated) }

func checkGenerated(t *rapid.T) {
	source := generateExpression().Draw(t, "source")
	for range evenly(t, 3) {
		source = mutated(t, source)
	}
	object := generateObject().Draw(t, "object")
	checkEval(t, source, func() env {
		copied, _ := deepCopy(object).(map[string]any)
		return env{"object": copied, "other": sample(), "pods": []any{sample(), nil, sample()}, "params": map[string]any{"key": "a", "n": int64(1)}}
	})
}

// tokens are what a mutation puts in: all that means something to the lexer.
var tokens = []string{
	"(", ")", "[", "]", "{", "}", ",", ";", ".", "?.", "..", "#", "#acc", "#index", "!", "not", "-", "+", "*", "/", "%", "**", "==", "!=", "<", ">=",
	"&&", "||", "and", "or", "in", "not in", "matches", "contains", "startsWith", "?", ":", "??", "?:", "|", "let x = 1;", "if", "else", "nil", "true", "0",
	"9223372036854775807", "-1", "1.5", "1e999", "0x1F", "07", `"`, `"a"`, "'b'", "`c`", "\\", "\n", " ", "//", "/*", "*/", "object", "pods", "x", "$env", "${", "&", "=", "é", "\x00",
}

// mutated replaces a part of a source by a token, or repeats it.
func mutated(t *rapid.T, source string) string {
	runes := []rune(source)
	at := int(evenly(t, uint64(len(runes))+1))
	end := min(at+int(evenly(t, 5)), len(runes))
	return string(runes[:at]) + tokens[evenly(t, uint64(len(tokens)))] + string(runes[at+int(evenly(t, uint64(end-at)+1)):])
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, element := range v {
			out[key] = deepCopy(element)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = deepCopy(element)
		}
		return out
	default:
		return v
	}
}

// checkEval makes sure that a program does not panic, exceed its budget, change
// its input or give two answers.
func checkEval(t rapid.TB, source string, input func() env) {
	named := input()
	p, err := Compile(source, named.scope())
	if err != nil {
		checkPlace(t, source, err)
		return
	}
	names := named.slots()
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
	if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() || err == nil && !reflect.DeepEqual(first, second) {
		t.Errorf("%s gave %v, %v and then %v, %v", source, first, err, second, again)
	}
	if !reflect.DeepEqual(named, input()) {
		t.Fatalf("%s has changed its input", source)
	}
	explained(t, p, names, err)
}

// slots are the values in the order of the scope.
func (v env) slots() slots {
	var out slots
	for _, name := range slices.Sorted(maps.Keys(v)) {
		out = append(out, v[name])
	}
	return out
}

// outcome is the value of a program as it is written out.
func outcome(p *Program, names Names) (any, error) {
	e := &Evaluation{Names: names, Budget: value.NewBudget(0), Instant: newYear()}
	v, err := p.Eval(e)
	if err != nil {
		return nil, err
	}
	stripped, err := value.Strip(v, e.Budget)
	if err != nil {
		return nil, p.Whole().Locate(err)
	}
	return stripped, nil
}

// explained compares Explain with EvalBool.
func explained(t rapid.TB, p *Program, names Names, failed error) {
	want, wantErr := p.EvalBool(&Evaluation{Names: names, Budget: value.NewBudget(0), Instant: newYear()})
	whole, err := p.Explain(&Evaluation{Names: names, Budget: value.NewBudget(0), Instant: newYear()})
	if (err == nil) != (wantErr == nil) {
		t.Errorf("%s explained with %v, evaluated with %v", p.Source(), err, wantErr)
	}
	if err != nil || failed != nil {
		return
	}
	if whole.Holds() != want {
		t.Errorf("%s explained as %v, evaluated to %v", p.Source(), whole.Verdict, want)
	}
	placed(t, p, whole)
}

// placed holds that every part of a condition is where it says, and adds up.
func placed(t rapid.TB, p *Program, c Clause) {
	if p.Source()[c.Offset:c.Offset+len(c.Source)] != c.Source {
		t.Errorf("clause %q is not at %d of %s", c.Source, c.Offset, p.Source())
	}
	for _, part := range c.Clauses {
		placed(t, p, part)
		if c.Verdict == trace.NotAsked && part.Verdict != trace.NotAsked {
			t.Errorf("%q was not asked for, but its part %q was %s", c.Source, part.Source, part.Verdict)
		}
		if c.Operator == trace.Not && c.Verdict != trace.NotAsked && c.Holds() == part.Holds() {
			t.Errorf("%q is as %q, and should be the other", c.Source, part.Source)
		}
	}
	last := c.Deciding()
	if c.Operator == trace.And && c.Verdict != trace.NotAsked && last.Holds() != c.Holds() {
		t.Errorf("%q was %s, decided by %q, which was %s", c.Source, c.Verdict, last.Source, last.Verdict)
	}
}

// FuzzTemplate makes sure that any text gives a template or an error inside it,
// and that a text without expressions is constant.
func FuzzTemplate(f *testing.F) {
	for _, source := range corpus(f) {
		f.Add(source)
		f.Add("${" + source + "}")
		f.Add("größe $${ ${" + source + "} }")
	}
	f.Fuzz(func(t *testing.T, text string) { checkTemplate(t, text) })
}

// FuzzGeneratedTemplate puts expressions that are mostly right into a text.
func FuzzGeneratedTemplate(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(checkGeneratedTemplate))
}

func TestGeneratedTemplate(t *testing.T) { rapid.Check(t, checkGeneratedTemplate) }

func checkGeneratedTemplate(t *rapid.T) {
	text := ""
	for range 1 + evenly(t, 4) {
		switch evenly(t, 4) {
		case 0:
			text += tokens[evenly(t, uint64(len(tokens)))]
		case 1:
			text += "größe $${ "
		default:
			text += "${" + strings.ReplaceAll(generateExpression().Draw(t, "source"), "pods", "xs") + "}"
		}
	}
	if evenly(t, 4) == 0 {
		text = mutated(t, text)
	}
	checkTemplate(t, text)
}

func checkTemplate(t rapid.TB, text string) {
	names := env{"object": sample(), "xs": []any{int64(1), "a", nil, 1.5}, "other": nil, "params": map[string]any{}, "a": int64(7), "b": "text"}
	template, err := CompileTemplate(text, names.scope())
	if err != nil {
		checkPlace(t, text, err)
		return
	}
	evaluate := func() (any, error) {
		return template.Eval(&Evaluation{Names: names.slots(), Budget: value.NewBudget(len(text)), Instant: newYear()})
	}
	got, err := evaluate()
	again, second := evaluate()
	if (err == nil) != (second == nil) || err == nil && !reflect.DeepEqual(got, again) {
		t.Errorf("%q gave %v, %v and then %v, %v", text, got, err, again, second)
	}
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
}

func checkPlace(t rapid.TB, source string, err error) {
	var located *Error
	if !errors.As(err, &located) {
		t.Fatalf("%q: error %v, want an *Error", source, err)
	}
	if located.Offset < 0 || located.Length < 0 || located.Offset+located.Length > len(source) {
		t.Errorf("%q: error %v at %d+%d of %d bytes", source, err, located.Offset, located.Length, len(source))
	}
	if utf8.ValidString(source) && !utf8.ValidString(located.Error()) {
		t.Errorf("the message %q is not valid UTF-8", located.Error())
	}
	const longest = 2000
	if len(located.Error()) > longest {
		t.Errorf("%q: a message of %d bytes: %.200q", source, len(located.Error()), located.Error())
	}
}

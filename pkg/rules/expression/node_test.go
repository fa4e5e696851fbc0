package expression

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
)

func rootOf(t *testing.T, text string) Node {
	t.Helper()
	p, err := Compile(text, NewScope("a", "b", "c", "object"))
	if err != nil {
		t.Fatalf("compiling %q: %v", text, err)
	}
	return p.Root()
}

// TestWritten holds where messages say that a node is, and what they call it.
func TestWritten(t *testing.T) {
	tests := map[string]struct{ reason, text, at, name string }{
		"keys":           {"From the root to the last name.", " a.b?.c ", "a.b?.c", "a.b?.c"},
		"an index":       {"To its closing bracket.", "a[b[0]]", "a[b[0]]", "a[b[0]]"},
		"a dynamic one":  {"What is computed is left out.", "a[1 + 2].b", "a[1 + 2].b", "a[...].b"},
		"a negative one": {"It is a literal.", "a[-1]", "a[-1]", "a[-1]"},
		"a text":         {"As a field if it can be one.", `a["b"]["c-d"]`, `a["b"]["c-d"]`, `a.b["c-d"]`},
		"a slice":        {"Its bounds are left out.", "a.b[1:2]", "a.b[1:2]", "a.b[...]"},
		"a call":         {"Without its arguments.", "first(a).b", "first(a).b", "first(...).b"},
		"parentheses":    {"They have no name.", "(a ?? b).c", "(a ?? b).c", "(...).c"},
		"an operator":    {"Nor has what is computed.", "a + b", "+", ""},
		"a list":         {"At its bracket.", "[a]", "[", ""},
		"a choice":       {"At its condition.", "a ? b : c", "a", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := rootOf(t, tt.text).Written()
			if at := tt.text[got.At.Offset:got.At.End()]; at != tt.at || got.Text != tt.name {
				t.Errorf("%s %s is at %q and called %q, want %q and %q", tt.reason, tt.text, at, got.Text, tt.at, tt.name)
			}
		})
	}
}

func TestLiterals(t *testing.T) {
	tests := map[string]struct {
		reason string
		want   any
		is     bool
	}{
		"nil":        {"It is a value that is written.", nil, true},
		"true":       {"A boolean.", true, true},
		`"text"`:     {"A text.", "text", true},
		"5":          {"An integer has 64 bits.", int64(5), true},
		"-5":         {"A sign belongs to the number.", int64(-5), true},
		"- -5":       {"So do two.", int64(5), true},
		"-1.5":       {"As it does to a float.", -1.5, true},
		"+5":         {"This one is an operator.", nil, false},
		"!true":      {"So is that.", nil, false},
		`-"text"`:    {"A text has no sign.", nil, false},
		"[1]":        {"A list is more than a literal.", nil, false},
		"object":     {"A name stands for something.", nil, false},
		"1 + 1":      {"What is computed is not written.", nil, false},
		"-object.ab": {"Nor is what has a sign only.", nil, false},
	}
	for text, tc := range tests {
		if got, is := LiteralOf(rootOf(t, text)); got != tc.want || is != tc.is {
			t.Errorf("%s %s is %v, %t; want %v, %t", tc.reason, text, got, is, tc.want, tc.is)
		}
	}
}

// TestMisread refuses operators beside one another that hardly anybody means.
func TestMisread(t *testing.T) {
	tests := map[string]struct{ text, at, message string }{
		"a default behind ==":  {"a == b ?? c", "??", "?? beside another operator needs parentheses; write (x == y) ?? z or x == (y ?? z)"},
		"parts in parentheses": {"a == (b) ?? c", "??", "?? beside another operator needs parentheses; write (x == y) ?? z or x == (y ?? z)"},
		"in parentheses":       {"a == (b ?? c)", "", ""},
		"behind &&":            {"a && b ?? c", "", ""},
		"a negated default":    {"(!a) ?? b", "??", "?? has ! to its left, which is never nil; write !(x ?? y)"},
		"one to be negated":    {"!a ?? b", "??", "?? beside another operator needs parentheses; write !(x ?? y)"},
		"with parentheses":     {"!(a ?? b)", "", ""},
		"of a sum":             {"(a + b) ?? c", "??", "?? has + to its left, which is never nil; write x + (y ?? z), or (x ?? z) + y"},
		"of a default":         {"a ?? b ?? c", "", ""},
		"not before >":         {"not a > b", "not", "not binds tighter than >; write not (a > b)"},
		"a method":             {"a.split(',')", "split", "values have no methods; write split(text, separator, [limit])"},
		"! before in":          {"!a in b", "!", "! binds tighter than in; write ! (a in b)"},
		"! before ==":          {"!a == b", "", ""},
		"! in parentheses":     {"(!a) in [true]", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(tt.text, NewScope("a", "b", "c"))
			if errorText(err) != tt.message {
				t.Errorf("%s: %v, want %q", tt.text, err, tt.message)
			}
			if located, is := errors.AsType[*Error](err); is && tt.text[located.Offset:located.Offset+located.Length] != tt.at {
				t.Errorf("%s: at %d, want at %s", tt.text, located.Offset, tt.at)
			}
		})
	}
}

// TestWhole holds that what is written of a node is an expression of its own, of the same kind, for every node that needs
// nothing from around it.
func TestWhole(t *testing.T) {
	texts := []string{
		"(a.b).c == ((a.b).c ?? b)", "if (a.b).c {1} else if b {2} else {(c)}", "(if a {b} else {c}).d", "reduce(a, # + (.n ?? #acc), 0)",
		"a | map(.x) | first() ?? [1, (2)]", `((a))["b"][c:][(1)]`, "!((a)) && (not (b) or c not in [1])", "-(a) ** (b)", "let x = (a); (x + (let y = b; y))",
		"{a: (b), (c): [(a) ? (b) : (c)]}", "1 < (a) < ((b))", `(a) /* ( */ + ("(") // )`, "sortBy(a, [(desc((.b))), #index])",
	}
	for _, f := range function.All() {
		texts = append(texts, f.Example.Expression)
	}
	for seed := range 200 {
		texts = append(texts, generateExpression().Example(seed))
	}
	for _, text := range texts {
		p, err := Compile(text, worldScope.Extend("a", "b", "c"))
		if err != nil {
			continue // A generated one may have a constant that is no quantity.
		}
		Visit(p.Root(), func(n Node) {
			if !stands(n) {
				return
			}
			whole := n.Written().Whole
			part := text[whole.Offset:whole.End()]
			again, err := Compile(part, worldScope.Extend("a", "b", "c"))
			if err != nil {
				t.Errorf("%s: %q is no expression: %v", text, part, err)
				return
			}
			_, negated := again.Root().(*Unary) // What not in negates has no text of its own.
			if !negated && reflect.TypeOf(again.Root()) != reflect.TypeOf(n) {
				t.Errorf("%s: %q is a %T, want %T", text, part, again.Root(), n)
			}
		})
	}
}

// stands reports whether a node means the same without what is around it.
func stands(n Node) bool {
	alone := true
	Visit(n, func(below Node) {
		switch below.(type) {
		case *Element, *Variable, *Predicate:
			alone = false
		}
	})
	_, isKey := n.(*Literal) // That of a map needs no quotes.
	_, isKeys := n.(*List)   // Those of sortBy may have desc() around them.
	return alone && !isKey && !isKeys
}

// TestVisit holds that everything in an expression is visited, and that constants can be asked what an operator gives.
func TestVisit(t *testing.T) {
	var names []string
	Visit(rootOf(t, `let x = [a, {k: b}]; if !c {x[0][a:b]} else {any(object, #.y[c] == -a) ? len(b) : a ?? b}`), func(n Node) {
		if name, is := n.(*Name); is {
			names = append(names, name.Name)
		}
	})
	if got := strings.Join(names, " "); got != "a b c a b object c a b a b" {
		t.Errorf("it visits the names %s", got)
	}
}

func TestHolds(t *testing.T) {
	for text, want := range map[string]any{"1 < 2": true, `"a" in ["b"]`: false, `1 < "a"`: nil, "true && true": nil, `1 + 2`: nil, `duration("1h") == "x"`: nil} {
		b, is := rootOf(t, text).(*Binary)
		if !is {
			t.Fatalf("%s has no operator", text)
		}
		left, _ := Constant(b.Left)
		if name, _ := Calls(b.Left); name == "duration" {
			left = time.Hour
		}
		right, _ := Constant(b.Right)
		if got, known := b.Holds(left, right); known != (want != nil) || known && got != want {
			t.Errorf("%s is %v, %t; want %v", text, got, known, want)
		}
	}
}

// TestFields holds that a field which a name surely lacks is refused where it is written.
func TestFields(t *testing.T) {
	scope := NewScope("params", "none").WithFields(map[string][]string{"params": {"least", "most"}, "none": {}})
	for text, want := range map[string]string{
		"params.least + params[none.x.y]": `none has no "x"; none has no fields`,
		"params.leest":                    `params has no "leest"; did you mean params.least?`,
		"params.other":                    `params has no "other"; params has least, most`,
		"params.most":                     "",
	} {
		if _, err := Compile(text, scope); errorText(err) != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

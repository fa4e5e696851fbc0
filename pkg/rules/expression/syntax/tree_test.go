package syntax_test

import (
	"errors"
	"testing"

	"github.com/expr-lang/expr/ast"
	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

func parsed(tb testing.TB, text string) *syntax.Tree {
	tb.Helper()
	tree, err := syntax.Parse(text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return tree
}

func at(tree *syntax.Tree, span syntax.Span) string { return tree.Text[span.Offset:span.End()] }

// TestSpan places nodes at the token that says what they are.
func TestSpan(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "a.b.c": "c", "a[0]": "[", "a + b": "+", "!a": "!", "len(a)": "len", "f(a)": "f", "ä + \"ö\"": "+", "a | len()": "len", "[a]": "[", "{a: 1}": "{",
	} {
		tree := parsed(t, text)
		if got := at(tree, tree.Span(tree.Node)); got != want {
			t.Errorf("%s is at %q, want %q", text, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	tests := map[string]struct{ reason, text, want, name string }{
		"keys":           {"from the root to the last name", " a.b?.c ", "a.b?.c", "a.b?.c"},
		"an index":       {"to its closing bracket", "a[b[0]] + 1", "a[b[0]]", "a[b[0]]"},
		"a dynamic one":  {"what is computed is left out", "a[1 + 2].b", "a[1 + 2].b", "a[...].b"},
		"a negative one": {"it is a literal", "a[-1]", "a[-1]", "a[-1]"},
		"a text":         {"as a field if it can be one", `a["b"]["c-d"]`, `a["b"]["c-d"]`, `a.b["c-d"]`},
		"a slice":        {"its bounds are left out", "a.b[1:2]", "a.b[1:2]", "a.b[...]"},
		"an element":     {"its dot is its root", "map(a, .b.c)", ".b.c", "#.b.c"},
		"a call":         {"without its arguments", "first(a).b", "first(a).b", "first(...).b"},
		"a function":     {"that expr does not know", "merge(a).b", "merge(a).b", "merge(...).b"},
		"parentheses":    {"they have no name", "(a ?? b).c", "?? b).c", "(...).c"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := parsed(t, tt.text)
			node := tree.Node
			if n, is := node.(*ast.BinaryNode); is {
				node = n.Left
			}
			if n, is := node.(*ast.BuiltinNode); is && n.Name == "map" {
				node = n.Arguments[1].(*ast.PredicateNode).Node
			}
			accesses, root := syntax.Spine(node)
			start := tree.Span(root)
			if call, is := root.(*ast.CallNode); is {
				start = tree.Span(call.Callee)
			}
			if got := at(tree, tree.Path(start, tree.Span(accesses[0]))); got != tt.want {
				t.Errorf("%s is %q, want %q: %s", tt.text, got, tt.want, tt.reason)
			}
			if got := syntax.Text(node); got != tt.name {
				t.Errorf("%s is called %q, want %q: %s", tt.text, got, tt.name, tt.reason)
			}
		})
	}
	for _, text := range []string{"1", "a + b", "[a]", "!a", "a ? b : c"} {
		if got := syntax.Text(parsed(t, text).Node); got != "" {
			t.Errorf("%s is called %q", text, got)
		}
	}
}

func TestOptional(t *testing.T) {
	for access, want := range map[string]string{".a": "?.a", "[0]": "?.[0]"} {
		if got := syntax.Optional(access); got != want {
			t.Errorf("%s with ?. is %s, want %s", access, got, want)
		}
	}
}

func TestClause(t *testing.T) {
	tests := map[string]struct{ text, left, right string }{
		"two":               {"a == 1 && b", "a == 1", "b"},
		"words":             {"not a and b", "not a", "b"},
		"own parentheses":   {"(a || b) && (c)", "(a || b)", "(c)"},
		"around both":       {"(a.b && c)", "a.b", "c"},
		"calls":             {"len(a) > 1 && f(b)", "len(a) > 1", "f(b)"},
		"pipes":             {"(a | len()) > 1 && b[0].c", "(a | len()) > 1", "b[0].c"},
		"if":                {"(if a {b} else {c}) && -d < 1", "(if a {b} else {c})", "-d < 1"},
		"characters, bytes": {`"äö" == a && "ü" == b`, `"äö" == a`, `"ü" == b`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := parsed(t, tt.text)
			n, is := tree.Conjunction(tree.Node)
			if !is {
				t.Fatalf("%s is no conjunction", tt.text)
			}
			left, right := at(tree, tree.Clause(n.Left, tree.Span(n).Offset)), at(tree, tree.Clause(n.Right, len(tt.text)))
			if left != tt.left || right != tt.right {
				t.Errorf("%s: %q and %q, want %q and %q", tt.text, left, right, tt.left, tt.right)
			}
		})
	}
	for _, text := range []string{"a < b < c", "a || b", "a"} {
		tree := parsed(t, text)
		if _, is := tree.Conjunction(tree.Node); is {
			t.Errorf("%s is no conjunction", text)
		}
	}
}

// TestOperators refuses what hardly anybody means.
func TestOperators(t *testing.T) {
	tests := map[string]struct{ text, at, message, hint string }{
		"a default behind ==": {"a == b ?? c", "??", "?? beside another operator needs parentheses", "write (x == y) ?? z or x == (y ?? z)"},
		"in parentheses":      {"a == (b ?? c)", "", "", ""},
		"behind &&":           {"a && b ?? c", "", "", ""},
		"a negated default":   {"(!a) ?? b", "??", "?? has ! to its left, which is never nil", "write !(x ?? y)"},
		"one to be negated":   {"!a ?? b", "??", "?? beside another operator needs parentheses", "write !(x ?? y)"},
		"with parentheses":    {"!(a ?? b)", "", "", ""},
		"of a sum":            {"(a + b) ?? c", "??", "?? has + to its left, which is never nil", "write x + (y ?? z), or (x ?? z) + y"},
		"of a default":        {"a ?? b ?? c", "", "", ""},
		"not before >":        {"not a > b", "not", "not binds tighter than >", "write not (a > b)"},
		"! before in":         {"!a in b", "!", "! binds tighter than in", "write ! (a in b)"},
		"! before ==":         {"!a == b", "", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := parsed(t, tt.text)
			switch n := tree.Node.(type) {
			case *ast.BinaryNode:
				checkError(t, tt.text, tree.CheckBinary(n), tt.at, tt.message, tt.hint)
			case *ast.UnaryNode:
				checkError(t, tt.text, tree.CheckUnary(n), tt.at, tt.message, tt.hint)
			}
		})
	}
}

func checkError(t *testing.T, text string, err error, at, message, hint string) {
	t.Helper()
	if err == nil || message == "" {
		if err != nil || message != "" {
			t.Errorf("%s: %v, want %q", text, err, message)
		}
		return
	}
	located, is := errors.AsType[*syntax.Error](err)
	if !is {
		t.Fatalf("%s: %v is no *Error", text, err)
	}
	got := []string{text[located.Offset : located.Offset+located.Length], located.Message, located.Hint}
	if diff := cmp.Diff([]string{at, message, hint}, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", text, diff)
	}
}

func TestClosingBrace(t *testing.T) {
	tests := map[string]struct {
		reason, text, rest string
		wrong              string
	}{
		"the first":        {"nothing is open", "a}b}", "}b}", ""},
		"a map":            {"it has braces of its own", "{a: {}}} c", "} c", ""},
		"a text":           {"what is in quotes is a text", `"}" + '}'}`, "}", ""},
		"a comment":        {"it ends nothing", "a /* } */ }", "}", ""},
		"wide characters":  {"places are bytes", `"äöü" }ä`, "}ä", ""},
		"none":             {"the text ends", "a + b", "", "the ${ that starts here is not closed"},
		"a line comment":   {"the brace is in it", "a // }", "", "the ${ that starts here is not closed"},
		"a text unclosed":  {"the brace is in it", `"a}`, "", "the string that starts here has no closing quote"},
		"an odd character": {"nothing can follow", "a ~ b}", "", "the character '~' means nothing here"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			const before = "x ${"
			text := before + tt.text
			end, err := syntax.ClosingBrace(text, len(before))
			if err == nil && text[end:] != tt.rest {
				t.Errorf("%s ends before %q, want %q: %s", text, text[end:], tt.rest, tt.reason)
			}
			if message := messageOf(err); message != tt.wrong {
				t.Errorf("%s: %q, want %q: %s", text, message, tt.wrong, tt.reason)
			}
		})
	}
}

func messageOf(err error) string {
	if located, is := errors.AsType[*syntax.Error](err); is {
		return located.Message
	}
	return ""
}

package syntax_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

func parsed(tb testing.TB, text string) *syntax.Tree {
	tb.Helper()
	tree, err := parse(text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return tree
}

func parse(text string) (*syntax.Tree, error) {
	tree, err := syntax.Scan(text, false)
	if err != nil {
		return nil, err
	}
	return tree, tree.Parse()
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

func TestScan(t *testing.T) {
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
			tree, err := syntax.Scan(tt.text, true)
			if err == nil && tt.text[len(tree.Text):] != tt.rest {
				t.Errorf("%s ends before %q, want %q: %s", tt.text, tt.text[len(tree.Text):], tt.rest, tt.reason)
			}
			if message := messageOf(err); message != tt.wrong {
				t.Errorf("%s: %q, want %q: %s", tt.text, message, tt.wrong, tt.reason)
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

// TestBalanced finds all of what is written between two tokens, and the parentheses around it.
func TestBalanced(t *testing.T) {
	for text, want := range map[string][2]string{
		"(a.b).c": {"(a.b).c", "(a.b).c"}, "x + (a[b] + c)": {"a[b] + c", "(a[b] + c)"}, "f(a + (c))": {"a + (c)", "a + (c)"}, "a + f(b, c)": {"a + f(b, c)", "a + f(b, c)"},
	} {
		tree := parsed(t, text)
		balanced := tree.Balanced(strings.Index(text, "a"), strings.Index(text, "c")+1)
		if got := [2]string{at(tree, balanced), at(tree, tree.Parenthesized(balanced))}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if first := tree.Before(tree.Next(balanced).Offset); first.Offset != balanced.Offset {
			t.Errorf("%s: %v is before the token behind %v", text, first, balanced)
		}
	}
}

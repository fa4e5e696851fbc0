package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestErrorError(t *testing.T) {
	cases := map[string]struct {
		err  Error
		want string
	}{
		"everything":     {Error{File: "f", Line: 1, Column: 2, Path: "a.b", Message: "m", Hint: "h"}, "f:1:2: a.b: m; h"},
		"no hint":        {Error{File: "f", Line: 1, Column: 2, Message: "m"}, "f:1:2: m"},
		"no position":    {Error{File: "f", Message: "m", Hint: "h"}, "f: m; h"},
		"standard input": {Error{File: "-", Line: 1, Column: 2, Message: "m"}, "<stdin>:1:2: m"},
		"no file":        {Error{Line: 1, Column: 2, Message: "m"}, "1:2: m"},
		"nothing":        {Error{Message: "m"}, "m"},
	}
	for name, tc := range cases {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("%s: have %q, want %q", name, got, tc.want)
		}
	}
}

func TestRender(t *testing.T) {
	x := strings.Repeat("x", 200)
	cases := map[string]struct {
		reason string
		source string
		part   string
		want   string
	}{
		"tabs": {"they become spaces in both lines", "v:\ta\tbad\tc\n", "bad", `
  1 | v:    a    bad    c
    |            ^^^
`},
		"part with tab": {"the carets are as wide as what they mark", "v: \"a\tb\"\n", "a\tb", `
  1 | v: "a    b"
    |     ^^^^^^
`},
		"wide runes": {"they take two columns", "v: 日本 bad 日本\n", "bad", `
  1 | v: 日本 bad 日本
    |         ^^^
`},
		"wide part": {"and so many carets", "v: a 日本 b\n", "日本", `
  1 | v: a 日本 b
    |      ^^^^
`},
		"combining": {"a mark above a letter takes none", "v: e\u0301e\u0301 bad\n", "bad", `
  1 | v: ` + "e\u0301e\u0301" + ` bad
    |       ^^^
`},
		"unseen": {"what cannot be seen is shown", "v: a\u200bb bad\n", "bad", `
  1 | v: a\u200bb bad
    |             ^^^
`},
		"long before": {"the start is cut", "v: " + x + " bad\n", "bad", `
  1 | ...` + x[:59] + ` bad
    |                                                                ^^^
`},
		"long after": {"the end is cut", "v: bad " + x + "\n", "bad", `
  1 | v: bad ` + x[:93] + `...
    |    ^^^
`},
		"long part": {"and so are the carets", "v: " + x + "\n", x, `
  1 | v: ` + x[:97] + `...
    |    ` + strings.Repeat("^", 100) + `
`},
		"wide numbers": {"the bar stays in place", strings.Repeat("\n", 99) + "v: bad\n", "bad", `
  100 | v: bad
      |    ^^^
`},
		"end of line": {"the caret stands behind it", "v: \"a\\nb \"\n", "", `
  1 | v: "a\nb "
    |         ^
`},
		"several lines": {"only the first is marked", "v: a\n  b\n", "a b", `
  1 | v: a
    |    ^
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n := valueOf(mustParse(t, tc.source)[0])
			offset := strings.Index(n.Text(), tc.part)
			if tc.part == "" {
				offset = len(n.Text())
			}
			err := n.ErrorAt(offset, len(tc.part), "", "m")
			_, got, _ := strings.Cut(err.Render(), "\n")
			if diff := cmp.Diff(tc.want, "\n"+got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

// TestRenderSafe holds that nothing in a file reaches a terminal as a command.
func TestRenderSafe(t *testing.T) {
	for r := rune(1); r < 0x20; r++ {
		if r == '\n' || r == '\r' || r == '\t' {
			continue
		}
		_, errs := Parse(File{Name: "f", Data: fmt.Appendf(nil, "a: %c[31m\n", r)})
		if len(errs) != 1 || strings.ContainsRune(errs.Render(), r) {
			t.Errorf("%U: %q", r, errs.Render())
		}
	}
}

// TestMessageSafe holds that whatever a message tells of, it is one short line.
func TestMessageSafe(t *testing.T) {
	n := mustParse(t, "a: b\n")[0]
	for value, want := range map[string]string{
		"plain: é日🙂":                  "have plain: é日🙂",
		"two\nlines\tand a tab":       "have two lines    and a tab",
		"\x1b[31m \u202e":             "have \\u001b[31m \\u202e",
		strings.Repeat("long ", 1000): "have " + strings.Repeat("long ", 159) + "...",
	} {
		err := n.Errorf(value, "have %s", value)
		if err.Message != want || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%.40q gives %q, want %q", value, err.Message, want)
		}
	}
}

func TestErrors(t *testing.T) {
	var none Errors
	if none.Err() != nil || none.Error() != "" || none.Render() != "" || len(none.Sorted()) != 0 {
		t.Error("no errors are not nothing")
	}
	a := &Error{File: "a", Line: 2, Column: 1, Message: "m"}
	b := &Error{File: "a", Line: 10, Column: 1, Message: "m", Hint: "h"}
	c := &Error{File: "a", Line: 10, Column: 3, Message: "m"}
	d := &Error{File: "a", Line: 10, Column: 3, Message: "n"}
	e := &Error{File: "b", Line: 1, Column: 1, Message: "m"}
	again := *c
	again.Path = "other.path"
	list := Errors{e, d, c, b, &again, a}
	sorted := list.Sorted()
	if want := (Errors{a, b, c, d, e}); !slices.Equal(sorted, want) {
		t.Errorf("sorted:\n%v\nwant:\n%v", sorted, want)
	}
	if !slices.Equal(list, Errors{e, d, c, b, &again, a}) {
		t.Error("sorting changed the list itself")
	}
	if want := "a:2:1: m\na:10:1: m; h"; sorted[:2].Error() != want {
		t.Errorf("have %q, want %q", sorted[:2].Error(), want)
	}
	if want := "a:2:1: m\n\na:10:1: m\n  hint: h\n"; sorted[:2].Render() != want {
		t.Errorf("have %q, want %q", sorted[:2].Render(), want)
	}
	var found *Error
	if err := fmt.Errorf("loading: %w", list.Err()); !errors.As(err, &found) || found != e || !errors.Is(err, d) {
		t.Errorf("found %v in %v", found, err)
	}
}

// TestManyErrors holds that a hundred mistakes of each file are enough, and
// that it does not matter how often they are sorted.
func TestManyErrors(t *testing.T) {
	var list Errors
	for line := range maxErrors + 50 {
		list = append(list, &Error{File: "a", Line: line + 1, Column: 1, Message: "m", Path: "p", Hint: "h"})
		list = append(list, &Error{File: "b", Line: line + 1, Column: 1, Message: "m"})
	}
	for _, sorted := range []Errors{list.Sorted(), list.Sorted().Sorted()} {
		if got, want := sorted[maxErrors].Error(), "a:101:1: p: more mistakes follow; correct the others first"; len(sorted) != 2*(maxErrors+1) || got != want {
			t.Errorf("of %d the last of the first file is %q, want %q", len(sorted), got, want)
		}
	}
	if list[2*maxErrors].Message != "m" {
		t.Error("sorting changed an error of the list itself")
	}
}

// TestSummaries holds what programs, and people who see a part, are told of findings.
func TestSummaries(t *testing.T) {
	found := Errors{(&Error{File: "f", Line: 1, Column: 2, Length: 3, Path: "a.b", Message: "m", Hint: "h"}).Warn()}
	want := []Finding{{Severity: "warning", Code: Describe("").Code, File: "f", Line: 1, Column: 2, Length: 3, Path: "a.b", Message: "m", Hint: "h"}}
	if diff := cmp.Diff(want, found.Findings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	lines := []string{"a", "b", "c"}
	if diff := cmp.Diff([][]string{lines, {"a", "and 2 more"}}, [][]string{Few(lines, 3), Few(lines, 1)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Count(1, "rule") + ", " + Count(2, "rule"); got != "1 rule, 2 rules" {
		t.Errorf("it counts %s", got)
	}
}

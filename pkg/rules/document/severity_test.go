package document

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeverity(t *testing.T) {
	n := mustParse(t, "a: b\n")[0].Get("a")
	cases := map[string]struct {
		reason string
		err    *Error
		line   string
		render string
	}{
		"mistake": {
			"What nobody says anything of is a mistake, and says so by itself.",
			n.Errorf("h", "m"), "f.yaml:1:4: a: m; h",
			"f.yaml:1:4: a: m\n  1 | a: b\n    |    ^\n  hint: h\n",
		},
		"warning": {
			"The word is behind the place, where compilers have it and editors look for it.",
			n.Errorf("h", "m").Warn(), "f.yaml:1:4: warning: a: m; h",
			"f.yaml:1:4: warning: a: m\n  1 | a: b\n    |    ^\n  hint: h\n",
		},
		"note": {
			"The same for a note.",
			n.Errorf("", "m").Note(), "f.yaml:1:4: note: a: m",
			"f.yaml:1:4: note: a: m\n  1 | a: b\n    |    ^\n",
		},
		"nowhere": {
			"Without a place it comes first.",
			(&Error{Message: "m"}).Warn(), "warning: m", "warning: m\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.err.Error(); got != tc.line {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.line, got)
			}
			if diff := cmp.Diff(tc.render, tc.err.Render()); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOf(t *testing.T) {
	mistake, warning, note, other := &Error{Message: "a"}, (&Error{Message: "b"}).Warn(), (&Error{Message: "c"}).Note(), &Error{Message: "d"}
	all := Errors{note, mistake, warning, other}
	for severity, want := range map[Severity]Errors{Mistake: {mistake, other}, Warning: {warning}, Note: {note}} {
		if got := all.Of(severity); !equal(got, want) {
			t.Errorf("%s: want %v, got %v", severity, want, got)
		}
	}
	if got := (Errors{mistake}).Of(Note); got.Err() != nil {
		t.Errorf("there is no note, got %v", got)
	}
}

// TestManyWarnings holds that the line that stands for the rest says what is left
// out, and is as grave as that.
func TestManyWarnings(t *testing.T) {
	var list Errors
	for line := range maxErrors + 10 {
		list = append(list, (&Error{File: "a", Line: line + 1, Column: 1, Message: "m", Code: CodeCycle}).Warn())
	}
	sorted := list.Sorted()
	last := sorted[len(sorted)-1]
	if want := "a:101:1: warning: more warnings follow [too-many]; correct the others first"; last.Error() != want {
		t.Errorf("want %q, got %q", want, last)
	}
	if last.Code != CodeTooMany || last.Severity != Warning {
		t.Errorf("got a %s of the code %q", last.Severity, last.Code)
	}
}

func TestRedactedKeepsSeverity(t *testing.T) {
	got := (&Error{Message: "a secret", Hint: "b"}).Coded(CodeExpression).Warn().Redacted("m")
	if got.Severity != Warning || got.Code != CodeExpression || got.Message != "m" || got.Hint != "" {
		t.Errorf("got %+v", got)
	}
}

func TestText(t *testing.T) {
	n := mustParse(t, "a: b\r\n  \nc: [d,\n  e]\n")[0]
	for name, tc := range map[string]struct {
		err  *Error
		want string
	}{
		"line":       {n.Get("a").Errorf("", "m"), "a: b"},
		"last lines": {n.Get("c").Elements()[1].Errorf("", "m"), "  e]"},
		"no line":    {&Error{File: "f", Message: "m"}, ""},
		"no source":  {&Error{File: "f", Line: 1, Column: 1, Message: "m"}, ""},
	} {
		if got := tc.err.Text(); got != tc.want {
			t.Errorf("%s: want %q, got %q", name, tc.want, got)
		}
	}
}

func TestSeverityString(t *testing.T) {
	for severity, want := range map[Severity]string{Mistake: "mistake", Warning: "warning", Note: "note", Note + 1: "note"} {
		if got := severity.String(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

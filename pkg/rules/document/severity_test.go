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

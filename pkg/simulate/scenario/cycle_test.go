package scenario

import (
	"strings"
	"testing"
)

func TestPeriod(t *testing.T) {
	of := func(words string) []move {
		var out []move
		for word := range strings.FieldsSeq(words) { // by:fields=values
			by, rest, _ := strings.Cut(word, ":")
			fields, _, _ := strings.Cut(rest, "=")
			out = append(out, move{by: by, fields: fields, what: rest})
		}
		return out
	}
	tests := map[string]struct{ reason, moves, want string }{
		"none":    {"nothing was written", "", ""},
		"once":    {"one write is no round", "a:x=1", ""},
		"no end":  {"different writes are none either", "a:x=1 b:y=1 c:z=1", ""},
		"same":    {"the same again and again", "a:x=1 a:x=1", "a:x=1"},
		"two":     {"two rules take turns", "z:z=0 a:x=1 b:x=2 a:x=1 b:x=2", "a:x=1 b:x=2"},
		"flips":   {"one rule takes turns with itself: values tell more than fields", "a:x=1 a:x=2 a:x=1 a:x=2", "a:x=1 a:x=2"},
		"grows":   {"what grows has other values each time", "a:x=1 a:x=2 a:x=3", "a:x=3"},
		"another": {"two grow in turn", "a:x=1 b:y=1 a:x=2 b:y=2", "a:x=2 b:y=2"},
		"rules":   {"the rules count", "a:x=1 b:x=1", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var have []string
			for _, m := range period(of(test.moves)) {
				have = append(have, m.by+":"+m.what)
			}
			if strings.Join(have, " ") != test.want {
				t.Errorf("%s: want %q, have %q", test.reason, test.want, have)
			}
		})
	}
}

func TestNamesAreTheSameEveryTime(t *testing.T) {
	first, again := namer{}, namer{}
	seen := map[string]bool{}
	for range 100 {
		name := first.next("web-")
		if again.next("web-") != name || seen[name] || !strings.HasPrefix(name, "web-") || len(name) != len("web-")+5 {
			t.Fatalf("have %q", name)
		}
		seen[name] = true
	}
}

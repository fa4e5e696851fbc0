package write

import (
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestEventName(t *testing.T) {
	event := func(name, message string) plan.Event {
		return plan.Event{Regarding: plan.Object{Name: name, UID: "u", ResourceVersion: "1"}, Reason: "R", Message: message}
	}
	for name, object := range map[string]string{
		"Plain":    "basic",
		"Longest":  strings.Repeat("a", 253),
		"RBAC":     "system:node",
		"CutAtDot": strings.Repeat("a", 235) + "." + strings.Repeat("b", 17),
	} {
		t.Run(name, func(t *testing.T) {
			got := EventName(event(object, "m")).Name
			if wrong := validation.IsDNS1123Subdomain(got); len(wrong) > 0 {
				t.Errorf("the API server would refuse %q: %v", got, wrong)
			}
			if again := EventName(event(object, "m")).Name; again != got {
				t.Errorf("the name changed from %q to %q: a restart would repeat the Event", got, again)
			}
			if other := EventName(event(object, "n")).Name; other == got {
				t.Errorf("another text has the same name %q", got)
			}
			later := event(object, "m")
			later.Regarding.ResourceVersion = "2"
			if other := EventName(later).Name; other != got {
				t.Errorf("the name depends on the version of the object: %q, %q", got, other)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"aéb", 2, "a"},
		{"日本", 5, "日"},
		{"日本", 2, ""},
	} {
		got := cut(tc.text, tc.limit)
		if got != tc.want || !utf8.ValidString(got) {
			t.Errorf("cut(%q, %d) = %q, want %q", tc.text, tc.limit, got, tc.want)
		}
	}
}

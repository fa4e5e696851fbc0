//go:build !operator

package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTable holds that the last column is told in as many lines as it takes, up to a few.
func TestTable(t *testing.T) {
	wide := strings.Repeat("n", 80)
	tests := map[string]struct {
		reason     string
		name, text string
		want       string
	}{
		"short": {"One line is enough.", "a", "all is well", "NAME   WHY\na      all is well\n"},
		"long": {
			"A line ends at a blank, and the next one begins in its column.", "a",
			"it waits for a later wave of the rollout: wave 1 of 3 is for 1 of 3 objects, and the others wait as well",
			"NAME   WHY\na      it waits for a later wave of the rollout: wave 1 of 3 is for 1 of 3 objects, and the others\n       wait as well\n",
		},
		"wide": {
			"The others take what they need.", wide, "it waits for a later wave of the rollout",
			"NAME" + strings.Repeat(" ", 79) + "WHY\n" + wide + "   it waits for a later wave of\n" + strings.Repeat(" ", 83) + "the rollout\n",
		},
		"lines":   {"A line break is no row.", "a", "b\nc", "NAME   WHY\na      b\\nc\n"},
		"nothing": {"A cell may be empty.", "a", "", "NAME   WHY\na      \n"},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, table([]string{"NAME", "WHY"}, [][]string{{tc.name, tc.text}})); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
	endless := strings.Split(table([]string{"NAME", "WHY"}, [][]string{{"a", strings.Repeat("word ", 200)}, {"b", "fine"}}), "\n")
	if len(endless) != 1+mostLines+1+1 || !strings.HasSuffix(endless[mostLines], "...") || len(endless[mostLines]) > tableWidth || endless[mostLines+1] != "b      fine" {
		t.Errorf("of what has no end, the end is not cut:\n%s", strings.Join(endless, "\n"))
	}
}

// TestWithoutPosition holds that only the place of an error in the rules is left out.
func TestWithoutPosition(t *testing.T) {
	for text, want := range map[string]string{
		"certs/certs.yaml:18:19: spec.rules[0].when: it is absent":    "spec.rules[0].when: it is absent",
		"a dir/b:1.yaml:18:19: spec.rules[0].when: at x.yaml:1:2: no": "spec.rules[0].when: at x.yaml:1:2: no",
		"spec.rules[0].when: it is absent":                            "spec.rules[0].when: it is absent",
		"writing configmaps a/b: bad value in x:1:2: of data":         "writing configmaps a/b: bad value in x:1:2: of data",
	} {
		if got := withoutPosition(text); got != want {
			t.Errorf("%s: have %s", text, got)
		}
	}
}

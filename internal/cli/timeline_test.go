//go:build !operator

package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFolded(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text string
		want         []string
	}{
		"empty":    {"a cell has a line", "", []string{""}},
		"fits":     {"nothing is too long", "0123456789", []string{"0123456789"}},
		"words":    {"a line ends after a word, without the blank", "replicas 3 -> 0", []string{"replicas 3", "-> 0"}},
		"paths":    {"the first line would be too short", "a/replicas.b", []string{"a/replicas", ".b"}},
		"sign":     {"a line ends after a sign", "replicas/of", []string{"replicas/", "of"}},
		"no sign":  {"a word that is too long is cut", "0123456789abcdefghijk", []string{"0123456789", "abcdefghij", "k"}},
		"no ASCII": {"characters count, not bytes", "ääääääääää", []string{"ääääääääää"}},
	} {
		if diff := cmp.Diff(tc.want, folded(tc.text, 10, " /")); diff != "" {
			t.Errorf("%s: %s: (-want +have)\n%s", name, tc.reason, diff)
		}
	}
}

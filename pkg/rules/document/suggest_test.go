package document

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSuggest(t *testing.T) {
	fields := []string{"when", "watch", "name", "serviceAccountName", "serviceAccountNamespace", "let", "for", "mode"}
	cases := map[string]struct {
		reason string
		want   string
	}{
		"wehn":                    {"two letters swapped are one mistake", "when"},
		"whn":                     {"one is missing", "when"},
		"whenn":                   {"one is too many", "when"},
		"whan":                    {"one is another", "when"},
		"When":                    {"case does not count", "when"},
		"serviceaccountname":      {"nor here", "serviceAccountName"},
		"serviceAccountNamspace":  {"the nearest counts, not the first", "serviceAccountNamespace"},
		"service_account_name":    {"a third may be wrong", "serviceAccountName"},
		"lett":                    {"short words too", "let"},
		"four":                    {"even if both are words", "for"},
		"xyz":                     {"nothing is near", ""},
		"description":             {"nothing is near", ""},
		"wah":                     {"of three letters one may be wrong, not two", ""},
		"":                        {"nothing is like nothing", ""},
		strings.Repeat("w", 5000): {"no time is lost with such", ""},
	}
	for word, tc := range cases {
		if got := Suggest(word, fields); got != tc.want {
			t.Errorf("%s: %q is %q, want %q", tc.reason, word, got, tc.want)
		}
	}
	if got := Suggest("when", nil); got != "" {
		t.Errorf("of nothing %q", got)
	}
	if got := Suggest("kez", []string{strings.Repeat("k", 5000), "key"}); got != "key" {
		t.Errorf("of a long candidate %q", got)
	}
}

// TestSuggestGivesUp holds that a suggestion costs little among ever so many
// candidates that are all nearly as long.
func TestSuggestGivesUp(t *testing.T) {
	word := strings.Repeat("a", longestWord)
	candidates := slices.Repeat([]string{strings.Repeat("b", longestWord)}, 100_000)
	start := cpuTime(t)
	if got := Suggest(word, append(candidates, word)); got != "" {
		t.Errorf("the last of many is found: %q", got)
	}
	if took := cpuTime(t) - start; took > time.Second {
		t.Errorf("took %v", took)
	}
	if got := Suggest(word, append(slices.Repeat([]string{"b"}, 1000), word)); got != word {
		t.Errorf("behind a thousand that are much shorter, %q is found", got)
	}
}

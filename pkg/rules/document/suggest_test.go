package document

import (
	"strings"
	"testing"
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

func TestDistance(t *testing.T) {
	cases := []struct {
		from, to string
		want     int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abcd", "badc", 2},
		{"ca", "abc", 3},
		{"kitten", "sitting", 3},
		{"日本", "本日", 1},
	}
	for _, tc := range cases {
		if got := distance(tc.from, tc.to); got != tc.want {
			t.Errorf("%q to %q is %d, want %d", tc.from, tc.to, got, tc.want)
		}
		if there, back := distance(tc.from, tc.to), distance(tc.to, tc.from); there != back {
			t.Errorf("%q to %q is %d there and %d back", tc.from, tc.to, there, back)
		}
	}
}

package corpus

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func TestMisspell(t *testing.T) {
	possible := []string{"replicas", "replica", "image", "imagePullPolicy", "imagePullSecrets", "port", "ports", "a"}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		for _, word := range possible {
			spelt, ok := misspell(random, word, possible)
			if !ok {
				continue
			}
			if slices.Contains(possible, spelt) {
				t.Errorf("%q became %q, which is another word", word, spelt)
			}
			if got := document.Suggest(spelt, possible); got != word {
				t.Errorf("%q became %q, for which %q is suggested", word, spelt, got)
			}
		}
	}
}

func TestMisspellGivesUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		reason, word string
		possible     []string
	}{
		{"every slip in a word of three letters is another word", "cpu", []string{"cpu"}},
		{"nobody would know which was meant", "abcd", []string{"abcd", "bcd", "acd", "abd", "abc", "aabcd", "abbcd", "abccd", "abcdd"}},
		{"nobody compares words this long", "anExceedinglyLongWordThatNobodyWouldCompareWithAnother", nil},
	} {
		if got, ok := misspell(random, c.word, c.possible); ok {
			t.Errorf("%s: %q became %q", c.reason, c.word, got)
		}
	}
}

func TestSpelled(t *testing.T) {
	for _, pattern := range []string{
		`^[a-z]{3}-[0-9]+$`, `^(a|b)c?$`, `^\d{4}-\d{2}$`, `^x*y+z{2,5}$`, `(?i)^abc$`, `^[^a]$`, `.`, `^(\d+)\.(\d+)$`, `^$`,
		`^[A-Za-z0-9]([A-Za-z0-9_.-]{10,60}[A-Za-z0-9])$`,
	} {
		texts := spelled(pattern)
		if !slices.ContainsFunc(texts, func(text string) bool { return fits(text, limitedBy(pattern)) }) {
			t.Errorf("none of %q matches %s", texts, pattern)
		}
	}
	for _, pattern := range []string{"", "(", "a{1001}"} {
		if texts := spelled(pattern); len(texts) != 0 {
			t.Errorf("%q is no pattern, and gives %q", pattern, texts)
		}
	}
}

package corpus

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// misspell makes a mistake of one finger in a word: a letter too few, twice, or swapped with its neighbour. The word that
// was meant stays the nearest of all that are possible, so that whoever finds the mistake must suggest it.
func misspell(random *rand.Rand, word string, possible []string) (string, bool) {
	const shortest, longest, attempts = 4, 40, 12
	if len(word) < shortest || len(word) > longest {
		return "", false
	}
	for range attempts {
		spelt := slip(random, word)
		if spelt != word && meant(spelt, word, possible) {
			return spelt, true
		}
	}
	return "", false
}

func slip(random *rand.Rand, word string) string {
	i := random.IntN(len(word) - 1)
	switch random.IntN(3) {
	case 0:
		return word[:i] + word[i+1:]
	case 1:
		return word[:i+1] + word[i:]
	default:
		return word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
	}
}

// meant reports whether a misspelt word is closer to the one that was meant than to any other, in whatever order they
// come.
func meant(spelt, word string, possible []string) bool {
	backward := slices.Clone(possible)
	slices.Reverse(backward)
	return document.Suggest(spelt, possible) == word && document.Suggest(spelt, backward) == word &&
		identifier.MatchString(word) == identifier.MatchString(spelt) &&
		!slices.ContainsFunc(possible, func(other string) bool { return other != word && strings.EqualFold(other, spelt) })
}

package document

import (
	"cmp"
	"strings"
)

// Suggest compares words up to so many letters, and gives up after so much work: candidates may come from the same
// hostile file as the word.
const (
	longestWord   = 64
	mostCompared  = 50_000 // pairs of letters
	pairsToDecide = 16     // what a candidate costs that is only looked at
)

// Suggest returns the candidate that the word most likely was meant to be, or
// "" if none is near. Case is ignored; a letter added, left out, changed or
// swapped with its neighbour counts as one mistake, and a third of the word may
// be wrong. If none is so near, it is the shortest one that the word is a part of, as labels
// of matchLabels, or that ends otherwise, as maxReplicas and maxReplicaCount.
func Suggest(word string, candidates []string) string {
	if len(word) > longestWord {
		return ""
	}
	word = strings.ToLower(word)
	a := []rune(word)
	best, other, nearest := "", "", max(len(word)/3, 1)+1
	compared := 0
	for _, candidate := range candidates {
		if compared += pairsToDecide; compared > mostCompared {
			break
		}
		if len(candidate) > longestWord {
			continue
		}
		lower := strings.ToLower(candidate)
		b := []rune(lower)
		if akin(word, lower) && (other == "" || len(candidate) < len(other)) {
			other = candidate
		}
		if len(a)-len(b) >= nearest || len(b)-len(a) >= nearest {
			continue // Each letter too many is a mistake.
		}
		compared += len(a) * len(b)
		if d := distance(a, b); d < nearest {
			best, nearest = candidate, d
		}
	}
	return cmp.Or(best, other)
}

// leastAkin is how many letters of two words are the same by design, not by chance.
const leastAkin = 5

// akin reports whether a word is part of another one, or goes on otherwise in its last two letters.
func akin(word, other string) bool {
	if len(word) < leastAkin || len(other) < leastAkin {
		return false
	}
	return strings.HasPrefix(other, word[:max(len(word)-2, leastAkin)]) || strings.Contains(other, word)
}

// distance is the Damerau-Levenshtein distance in its simple form, in which no
// part of the text is changed twice.
func distance(a, b []rune) int {
	var rows [3][longestWord + 1]int // Of the table, the last two and the one being filled.
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, twoAbove := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := above[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(above[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twoAbove[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

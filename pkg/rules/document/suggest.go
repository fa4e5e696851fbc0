package document

import "strings"

// Suggest returns the candidate that the word most likely was meant to be, or
// "" if none is near. Case is ignored; a letter added, left out, changed or
// swapped with its neighbour counts as one mistake, and a third of the word may
// be wrong.
func Suggest(word string, candidates []string) string {
	const longest = 64
	if len(word) > longest {
		return ""
	}
	best, nearest := "", max(len(word)/3, 1)+1
	for _, candidate := range candidates {
		if len(candidate) > longest {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < nearest {
			best, nearest = candidate, d
		}
	}
	return best
}

// distance is the Damerau-Levenshtein distance in its simple form, in which no
// part of the text is changed twice.
func distance(from, to string) int {
	a, b := []rune(from), []rune(to)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

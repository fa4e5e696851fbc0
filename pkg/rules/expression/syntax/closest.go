package syntax

import "strings"

// longest is more letters than anybody gives a name, and the distance is quadratic.
const longest = 40

// Closest returns the candidate that a misspelt name most likely means, or "".
func Closest(name string, candidates []string) string {
	if len(name) > longest {
		return ""
	}
	best, least := "", 1+max(1, len(name)/3)
	work := 50_000 // Pairs of letters: a hostile set has thousands of names.
	for _, candidate := range candidates {
		if longer := len(candidate) - len(name); longer >= least || -longer >= least {
			continue // Each letter too many is a mistake.
		}
		if work -= len(name) * len(candidate); work < 0 {
			break
		}
		if distance := editDistance(strings.ToLower(name), strings.ToLower(candidate)); distance < least {
			best, least = candidate, distance
		}
	}
	return best
}

// editDistance counts insertions, deletions and replacements of bytes.
func editDistance(a, b string) int {
	var space [2*longest + 1]int // What is compared is at most a third longer than the name.
	row := space[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

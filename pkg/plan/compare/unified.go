package compare

import udiff "github.com/aymanbagabas/go-udiff"

// unchanged is how many lines there are around a change.
const unchanged = 3

// Unified is the difference of two texts as diff -u writes it, empty for none.
func Unified(nameBefore, nameAfter, before, after string) string {
	return unified(nameBefore, nameAfter, before, after, unchanged)
}

// Whole is the same with all lines of both texts.
func Whole(nameBefore, nameAfter, before, after string) string {
	return unified(nameBefore, nameAfter, before, after, len(before))
}

func unified(nameBefore, nameAfter, before, after string, around int) string {
	text, err := udiff.ToUnifiedDiff(nameBefore, nameAfter, before, udiff.Lines(before, after), around)
	if err != nil {
		return err.Error() // Of edits that do not fit the text.
	}
	// Hunks of several changes forget the lines between them in where they begin.
	more := 0
	for _, hunk := range text.Hunks {
		hunk.ToLine = hunk.FromLine + more
		for _, line := range hunk.Lines {
			switch line.Kind {
			case udiff.Insert:
				more++
			case udiff.Delete:
				more--
			case udiff.Equal:
			}
		}
	}
	return text.String()
}

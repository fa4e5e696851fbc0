package simulate

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// spoiledBy returns the documents of a file that are not strict YAML: what is read of them
// may not be what is meant. A mistake is in the last document that begins before it,
// unless a line "---" between the two says that it is in one that cannot be read at all.
func spoiledBy(errs document.Errors, documents []*document.Node, data []byte) map[*document.Node]bool {
	out := map[*document.Node]bool{}
	if len(errs) == 0 {
		return out
	}
	lines := strings.Split(string(data), "\n")
	for _, err := range errs {
		for _, n := range slices.Backward(documents) {
			begin := n.Position().Line
			if begin > err.Line {
				continue
			}
			if !separated(lines[min(begin, len(lines)):min(err.Line, len(lines))]) {
				out[n] = true
			}
			break
		}
	}
	return out
}

// separated reports whether a document ends in the lines.
func separated(lines []string) bool {
	for _, line := range lines {
		if mark, _, _ := strings.Cut(strings.TrimRight(line, "\r"), " "); mark == "---" {
			return true
		}
	}
	return false
}

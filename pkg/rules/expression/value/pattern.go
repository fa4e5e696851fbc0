package value

import "regexp/syntax"

// PatternSize estimates the instructions of a pattern before anything is expanded. The parser
// limits how deep a pattern nests, and how much it repeats.
func PatternSize(tree *syntax.Regexp) int {
	size := 0
	for _, part := range tree.Sub {
		size += PatternSize(part)
	}
	switch tree.Op {
	case syntax.OpLiteral:
		return len(tree.Rune)
	case syntax.OpRepeat:
		return 1 + size*max(tree.Min, tree.Max, 1)
	default:
		return size + 1
	}
}

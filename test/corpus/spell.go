package corpus

import (
	"regexp/syntax"
	"strings"
)

// spelled are texts that a pattern may match, short ones first.
func spelled(pattern string) []string {
	const longest = 4096
	if pattern == "" || len(pattern) > longest {
		return nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	var out []string
	for _, more := range []int{0, 1, 3, 10, 40} {
		out = append(out, spell(tree, more))
	}
	return out
}

// spell follows a pattern and repeats what may be repeated so often.
func spell(re *syntax.Regexp, more int) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(pleasant(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpAlternate:
		return spell(re.Sub[more%len(re.Sub)], more)
	case syntax.OpStar:
		return strings.Repeat(spell(re.Sub[0], more), more)
	case syntax.OpPlus:
		return strings.Repeat(spell(re.Sub[0], more), max(1, more))
	case syntax.OpQuest:
		return strings.Repeat(spell(re.Sub[0], more), min(1, more))
	case syntax.OpRepeat:
		n := max(re.Min, more)
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		return strings.Repeat(spell(re.Sub[0], more), n)
	default: // Concatenations and groups have parts, anchors have none.
		var out strings.Builder
		for _, sub := range re.Sub {
			out.WriteString(spell(sub, more))
		}
		return out.String()
	}
}

// pleasant chooses from the ranges of a class.
func pleasant(ranges []rune) rune {
	for _, r := range "a1A0-" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return r
			}
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}

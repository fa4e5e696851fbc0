package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// What patterns may take, since they come from whoever wrote the schema, and
// matching takes as many steps as the text is long, times the size of the program.
const (
	mostSteps     = 50_000_000 // of all texts of a value
	longestShown  = 200
	longestSource = 8 << 10
	largest       = 50_000 // instructions of a program
)

// pattern is a compiled one, nil where there is none to be had.
type pattern struct {
	*regexp.Regexp
	size int // of its program, in instructions
}

// pattern compares a text with a pattern. One that cannot be read is none: the API
// server takes no such schema.
func (c *validation) pattern(source, text string) {
	compiled, known := c.patterns[source]
	if !known {
		compiled = compile(source)
		if c.patterns == nil {
			c.patterns = map[string]*pattern{}
		}
		c.patterns[source] = compiled
	}
	if compiled == nil || c.matches(compiled, text) {
		return
	}
	hint := ""
	for _, other := range variants(text) {
		if other != text && c.matches(compiled, other) && c.steps >= 0 {
			hint = fmt.Sprintf("did you mean %q?", other)
			break
		}
	}
	if len(source) > longestShown {
		source = strings.ToValidUTF8(source[:longestShown], "") + "..."
	}
	c.report(document.CodeWrongFormat, fmt.Sprintf("%s does not match the pattern %s", shown(text), source), hint)
}

// variants are how a text of letters and digits is often meant.
func variants(text string) []string {
	const longest = 100
	if len(text) > longest {
		return nil
	}
	trimmed := strings.TrimSpace(text)
	lower := strings.ToLower(trimmed)
	dashed := strings.NewReplacer("_", "-", " ", "-", ".", "-").Replace(lower)
	return []string{trimmed, lower, strings.ToUpper(trimmed), dashed}
}

// matches takes what it has no steps left for as a match.
func (c *validation) matches(p *pattern, text string) bool {
	c.steps -= (len(text) + 1) * p.size
	return c.steps < 0 || p.MatchString(text)
}

// compile returns nil for what is no pattern, or too large a one.
func compile(source string) *pattern {
	if len(source) > longestSource {
		return nil
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	size := size(parsed)
	if size > largest {
		return nil
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil
	}
	return &pattern{compiled, size}
}

// size is about how many instructions the program of a pattern has: a repetition
// is written out as often as it counts.
func size(re *syntax.Regexp) int {
	total := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		total = min(total+size(sub), largest+1)
	}
	if re.Op == syntax.OpRepeat {
		total *= max(re.Min, re.Max, 1)
	}
	return min(total, largest+1)
}

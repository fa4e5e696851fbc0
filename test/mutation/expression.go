package mutation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// change is an expression or template with one thing changed.
type change struct{ what, text string }

// flips are the operators and constants that stand for one another.
var flips = map[string]string{
	"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "and": "or", "or": "and",
	"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "!": "", "not": "", "in": "not in", "matches": "not matches",
	"contains": "startsWith", "startsWith": "endsWith", "endsWith": "contains", "true": "false", "false": "true", "any": "all", "all": "any",
}

// inExpression lists what one change makes of an expression.
func inExpression(expression string) []change {
	var out []change
	all := tokens(expression)
	for i, t := range all {
		replace := func(with string) {
			out = append(out, change{named(t.text, with), expression[:t.start] + with + expression[t.end():]})
		}
		switch {
		case is(all, i-1, "?. .") && t.kind == word, is(all, i+1, ":") && is(all, i-1, "{ ,"): // The name of a field, a key.
		case is(all, i, "??"):
			left, right := all[operandBefore(all, i)].start, all[operandAfter(all, i)].end()
			one, two := strings.TrimSpace(expression[left:t.start]), strings.TrimSpace(expression[t.end():right])
			out = append(out, change{"the sides of ?? swapped", expression[:left] + two + " ?? " + one + expression[right:]})
		case t.kind == number:
			replace(more(t.text))
		case t.kind == text:
			for _, other := range others(t.text[1 : len(t.text)-1]) {
				replace(t.text[:1] + other + t.text[len(t.text)-1:])
			}
		default:
			if with, known := flips[t.text]; known {
				replace(with)
			}
		}
	}
	return out
}

func named(old, with string) string {
	if with == "" {
		return fmt.Sprintf("%s removed", old)
	}
	return fmt.Sprintf("%s becomes %s", old, with)
}

// more is a number and one.
func more(text string) string {
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(whole+1, 10)
	}
	return "1" + text
}

var durations = regexp.MustCompile(`^([0-9]+)(ms|s|m|h|d|w)$`)

// others are what a string may become: a duration twice as long, a pattern without an
// anchor, any other text with a letter more.
func others(text string) []string {
	if parts := durations.FindStringSubmatch(text); parts != nil {
		if count, err := strconv.Atoi(parts[1]); err == nil {
			return []string{strconv.Itoa(2*count) + parts[2]}
		}
	}
	out := []string{text + "x"}
	if bare, has := strings.CutPrefix(text, "^"); has {
		out = append(out, bare)
	}
	if bare, has := strings.CutSuffix(text, "$"); has {
		out = append(out, bare)
	}
	return out
}

// inTemplate lists what one change makes of a template: of its expressions, and of what
// is written around them.
func inTemplate(template string) []change {
	var out []change
	plain, at := false, 0
	for at < len(template) {
		start := strings.Index(template[at:], "${")
		if start < 0 {
			break
		}
		start += at
		plain = plain || strings.TrimSpace(template[at:start]) != ""
		inner := template[start+2:]
		end := closing(inner)
		for _, c := range inExpression(inner[:end]) {
			out = append(out, change{c.what, template[:start+2] + c.text + inner[end:]})
		}
		at = start + 2 + end + 1
	}
	if plain || at == 0 || at < len(template) {
		for _, other := range others(template) {
			out = append(out, change{named(strconv.Quote(template), strconv.Quote(other)), other})
		}
	}
	return out
}

// closing is where the expression of a template ends.
func closing(rest string) int {
	depth := 0
	for _, t := range tokens(rest) {
		switch {
		case t.kind != symbol:
		case t.text == "{":
			depth++
		case t.text == "}" && depth == 0:
			return t.start
		case t.text == "}":
			depth--
		}
	}
	return len(rest)
}

package mutation

import (
	"regexp"
	"strings"
)

// token is a piece of an expression.
type token struct {
	kind  kind
	text  string
	start int // in bytes
}

func (t token) end() int { return t.start + len(t.text) }

type kind int

const (
	word kind = iota // a name or keyword
	number
	text // a string with its quotes
	symbol
)

// pieces matches one token at the start, by kind. Longer symbols come first.
var pieces = map[kind]*regexp.Regexp{
	word:   regexp.MustCompile(`^[\pL_$][\pL\pN_$]*`),
	number: regexp.MustCompile(`^[0-9][0-9_]*(\.[0-9]+)?`),
	text:   regexp.MustCompile("^(\"(\\\\.|[^\"\\\\])*\"|'(\\\\.|[^'\\\\])*'|`[^`]*`)"),
	symbol: regexp.MustCompile(`^(==|!=|<=|>=|&&|\|\||\?\?|\?\.|\.\.|\*\*|.)`),
}

// tokens splits an expression. What it cannot read ends it.
func tokens(expression string) []token {
	var out []token
	for at := 0; at < len(expression); {
		rest := expression[at:]
		if trimmed := strings.TrimLeft(rest, " \t\r\n"); len(trimmed) < len(rest) {
			at += len(rest) - len(trimmed)
			continue
		}
		next, found := first(rest)
		if !found {
			return out
		}
		next.start = at
		out = append(out, next)
		at = next.end()
	}
	return out
}

func first(rest string) (token, bool) {
	for _, k := range []kind{word, number, text, symbol} {
		if found := pieces[k].FindString(rest); found != "" {
			return token{kind: k, text: found}, true
		}
	}
	return token{}, false
}

// is reports whether a token at an index is a symbol or keyword.
func is(all []token, at int, texts string) bool {
	if at < 0 || at >= len(all) || all[at].kind == text || all[at].kind == number {
		return false
	}
	for one := range strings.FieldsSeq(texts) {
		if all[at].text == one {
			return true
		}
	}
	return false
}

// match finds the bracket that belongs to the one at an index, forwards or backwards.
func match(all []token, at, step int) int {
	for depth, i := 0, at; i >= 0 && i < len(all); i += step {
		switch {
		case is(all, i, "( [ {"):
			depth += step
		case is(all, i, ") ] }"):
			depth -= step
		}
		if depth == 0 {
			return i
		}
	}
	return at
}

// operandBefore finds the first token of the operand that ends before an operator: a
// value with its accesses and calls.
func operandBefore(all []token, operator int) int {
	at := operator - 1
	for at > 0 {
		if is(all, at, ") ]") {
			at = match(all, at, -1)
		}
		switch {
		case is(all, at-1, "?. ."):
			at--
			if at > 0 && (all[at-1].kind == word || is(all, at-1, ") ] #")) {
				at--
				continue
			}
			return at
		case is(all, at, "( [") && at > 0 && (all[at-1].kind == word || is(all, at-1, ") ]")):
			at--
		default:
			return max(at, 0)
		}
	}
	return max(at, 0)
}

// operandAfter finds the last token of the operand that begins after an operator.
func operandAfter(all []token, operator int) int {
	at := operator + 1
	if is(all, at, ".") {
		at++
	}
	if is(all, at, "( [ {") {
		at = match(all, at, 1)
	}
	for {
		switch {
		case is(all, at+1, "( ["):
			at = match(all, at+1, 1)
		case is(all, at+1, "?. .") && !is(all, at+2, "["):
			at += 2
		case is(all, at+1, "?."):
			at = match(all, at+2, 1)
		default:
			return min(at, len(all)-1)
		}
	}
}

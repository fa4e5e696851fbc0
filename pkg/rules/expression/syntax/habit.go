package syntax

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/parser/lexer"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func (s *source) has(operator string) bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool { return t.is(lexer.Operator, operator) })
}

// percent explains 50%, before token i or the end.
func (s *source) percent(i int) error {
	if i < 2 || !s.tokens[i-1].is(lexer.Operator, "%") || !s.tokens[i-2].is(lexer.Number) || !s.joined(i-2) {
		return nil
	}
	at := Span{s.tokens[i-2].at.Offset, s.tokens[i-1].at.End() - s.tokens[i-2].at.Offset}
	return at.Errorf("%s is no number", s.textOf(at)).WithHint("put it in quotes if it is text: %q", s.textOf(at))
}

// half is a hint where only one branch of ?: is written, or "".
func (s *source) half() string {
	for i := 1; i+1 < len(s.tokens); i++ {
		if s.tokens[i].is(lexer.Operator, "?") && s.tokens[i+1].is(lexer.Bracket, "[") && s.joined(i-1) && s.joined(i) {
			return `write ?.["key"] for what may be absent, with the dot`
		}
	}
	if !s.has("?") || s.has(":") {
		return ""
	}
	return "?: needs both branches: a > 1 ? x : y; a condition alone is joined with &&"
}

// brackets explains x[] and the filters of JMESPath.
func (s *source) brackets(i int) error {
	if i == 0 || !s.tokens[i-1].is(lexer.Bracket, "[") {
		return nil
	}
	switch t := s.tokens[i]; {
	case t.is(lexer.Bracket, "]") && i >= 2:
		return t.at.Errorf("an index is missing before ]").WithHint("write map(list, .name) for a field of every element, or list[0] for the first")
	case t.is(lexer.Operator, "?"):
		return t.at.Errorf("there are no filters in brackets").WithHint(`write filter(list, .name == "x")`)
	default:
		return nil
	}
}

// missingName explains a dot without a name.
func (s *source) missingName(at Span) error {
	err := at.Errorf("a field name is missing after the dot")
	if strings.HasPrefix(s.text[at.Offset:], "?") || strings.HasPrefix(s.text[at.End():], "?") {
		return err.WithHint("the question mark comes first: write ?. as in object.spec?.x")
	}
	return err.WithHint(`write .name or ["any text"]`)
}

// misspeltOperator explains a name where an operator has to be.
func (s *source) misspeltOperator(i int) error {
	t := s.tokens[i]
	err := t.at.Errorf("an operator is missing between %s and %s", s.textOf(s.tokens[i-1].at), s.textOf(t.at))
	switch word := strings.ReplaceAll(strings.ToLower(t.Value), "_", ""); word {
	case "has", "includes":
		return err.WithHint("write x in list, or text contains part")
	case "hasprefix":
		return err.WithHint("write startsWith")
	case "hassuffix":
		return err.WithHint("write endsWith")
	case "like", "regex":
		return err.WithHint(`write x matches "^a+$"`)
	case "is", "eq", "equals":
		return err.WithHint("write ==")
	default:
		if near := document.Suggest(word, []string{"startsWith", "endsWith", "contains", "matches"}); near != "" {
			return err.WithHint("did you mean %s?", near)
		}
		return err
	}
}

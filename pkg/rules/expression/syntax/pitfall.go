package syntax

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/parser/lexer"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// pitfall recognises what people write who know other languages, or nil.
func (s *source) pitfall(i int) error {
	t := s.tokens[i]
	switch {
	case t.is(lexer.Operator, "#"), t.is(lexer.Operator, ".") && s.startsOperand(i):
		return s.noElement(i)
	case t.is(lexer.Operator, "*"):
		return s.star(i)
	case t.is(lexer.Operator, "contains", "startsWith", "endsWith", "matches") && s.startsOperand(i):
		return t.at.Errorf("%s is an operator and no function", t.Value).WithHint("write x %s y", t.Value)
	case t.is(lexer.Operator, ":") && i >= 2 && s.tokens[i-2].is(lexer.Bracket, "{"):
		return s.tokens[i-2].at.Errorf("these braces belong to the predicate, not to a map").
			WithHint("a map as the result needs its own: map(list, {{%s: ...}})", s.textOf(s.tokens[i-1].at))
	case t.is(lexer.Operator, "let"):
		return t.at.Errorf("let cannot stand here").WithHint("write let x = 1; x + 1, in parentheses if need be")
	case t.is(lexer.Bracket, "(") && !s.startsOperand(i):
		return t.at.Errorf("only a function can be called, by its name").WithHint("write name(...)")
	default:
		return nil
	}
}

// noElement explains # and .name outside of a predicate.
func (s *source) noElement(i int) error {
	if err := s.misspelt(i); err != nil {
		return err
	}
	at := s.tokens[i].at
	if s.tokens[i].Value == "." {
		return at.Errorf("an expression cannot start with a dot here").
			WithHint("write object.spec...; .name alone is a field of the element inside filter(list, .name == 1)")
	}
	return at.Errorf("# is the element of a list and means nothing here").
		WithHint("use it inside a predicate, as in filter(list, # > 1)")
}

// misspelt explains # and .name in what would be a predicate, were the function
// known to the parser. It is nil where that is not the reason.
func (s *source) misspelt(i int) error {
	name, called := s.callAround(i)
	if !called {
		return nil
	}
	if before := s.tokenAt(name.at.Offset) - 1; before >= 0 && s.tokens[before].is(lexer.Operator, ".", "?.") {
		return s.method(name.at)
	}
	if _, found := function.Lookup(name.Value); found {
		return nil
	}
	return NoFunction(name.Value, name.at)
}

// callAround returns the name of the innermost call that token i is in.
func (s *source) callAround(i int) (name token, called bool) {
	for i--; i > 0; i-- {
		switch t := s.tokens[i]; {
		case t.is(lexer.Bracket, ")", "]", "}"):
			i = t.match
		case t.is(lexer.Bracket, "(") && s.tokens[i-1].is(lexer.Identifier):
			return s.tokens[i-1], true
		case t.is(lexer.Bracket):
			return token{}, false
		}
	}
	return token{}, false
}

// star explains [*], and nothing else.
func (s *source) star(i int) error {
	if i == 0 || !s.tokens[i-1].is(lexer.Bracket, "[") {
		return nil
	}
	return s.tokens[i].at.Errorf("* is no index").WithHint("write map(list, .name) for a field of every element")
}

// mapKeyError explains what cannot be the key of a map.
func (s *source) mapKeyError(at Span) error {
	if len(s.tokens) > 1 && at == s.tokens[1].at && s.textOf(at) == "{" {
		return Span{0, at.End()}.Errorf("there are no {{ }} here").WithHint("write what is in them alone, as in object.spec.replicas")
	}
	return at.Errorf("a map key cannot start with %s", s.textOf(at)).
		WithHint(`write a name, a string in quotes, or an expression in parentheses, as in {a: 1, "b-c": 2, (x): 3}`)
}

// behindComma tells whether a value, rather than an operator, follows a comma.
func (s *source) behindComma(i int) bool {
	return i > 0 && s.tokens[i-1].is(lexer.Operator, ",") && !s.tokens[i].is(lexer.Operator)
}

// superfluous explains an argument behind the last that the parser takes.
func (s *source) superfluous(i int) error {
	at := s.tokens[i].at
	if name, called := s.callAround(i); called {
		if f, found := function.Lookup(name.Value); found && f.Iterates() {
			return at.Errorf("%s has too many arguments", name.Value).
				WithHint("write %s, with # for the element", f.Signature())
		}
	}
	return at.Errorf("%s cannot stand here", s.textOf(at))
}

// missingArguments explains a call that the parser knows to end too early.
func (s *source) missingArguments(at Span) error {
	err := at.Errorf("arguments are missing here")
	if name, called := s.callAround(s.tokenAt(at.Offset)); called {
		if f, found := function.Lookup(name.Value); found {
			return err.WithHint("write %s", f.Signature())
		}
	}
	return err
}

// equalsSign explains an = that is no part of let.
func (s *source) equalsSign(i int) *Error {
	at := s.tokens[i].at
	switch {
	case s.joined(i-1) && s.tokens[i-1].is(lexer.Operator, "==", "!="):
		before := s.tokens[i-1]
		return Span{before.at.Offset, 3}.Errorf("%s= is no operator", before.Value).WithHint("write %s", before.Value)
	case s.joined(i) && s.tokens[i+1].is(lexer.Operator, ">"):
		return Span{at.Offset, 2}.Errorf("=> is no operator").WithHint("write the condition with # for the element, as in any(list, # > 1)")
	default:
		return at.Errorf("= compares nothing").WithHint("write == to compare, or let x = 1; to name a value")
	}
}

// withinKey tells whether a name is more likely part of a key such as app-name or
// example.org/name than an operand.
func (s *source) withinKey(at Span) bool {
	i := s.tokenAt(at.Offset) - 1
	return i > 0 && s.tokens[i].is(lexer.Operator, "-", "/") && s.joined(i) && s.joined(i-1)
}

// greaterSign refuses the last half of <>.
func (s *source) greaterSign(i int) *Error {
	if !s.joined(i-1) || !s.tokens[i-1].is(lexer.Operator, "<") {
		return nil
	}
	return Span{s.tokens[i-1].at.Offset, 2}.Errorf("<> is no operator").WithHint("write !=")
}

// joined reports whether token i and the next follow each other without a space.
func (s *source) joined(i int) bool {
	return i >= 0 && i+1 < len(s.tokens) && s.tokens[i].at.End() == s.tokens[i+1].at.Offset
}

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

// method refuses x.f(y), in the words of what the user probably meant.
func (s *source) method(at Span) *Error {
	err := at.Errorf("values have no methods")
	name := s.textOf(at)
	switch name {
	case "contains", "startsWith", "endsWith", "matches":
		return err.WithHint("write x %s y", name)
	}
	if f, found := function.Lookup(name); found && f.Iterates() {
		return err.WithHint("write %s, with # for the element", f.Signature())
	} else if found {
		return err.WithHint("write %s(x)", name)
	}
	if fault := function.Refused(name); fault != nil && fault.Hint != "" {
		return err.WithHint("%s", fault.Hint)
	}
	return err.WithHint("call a function with the value as its argument: f(x)")
}

// NoFunction explains a name that is not in the table.
func NoFunction(name string, at Span) *Error {
	if fault := function.Refused(name); fault != nil {
		err := at.Errorf("%s", fault.Message)
		err.Hint = fault.Hint
		return err
	}
	err := at.Errorf("unknown function %q", value.Excerpt(name))
	if other := ClosestFunction(name); other != "" {
		return err.WithHint("did you mean %s(...)?", other)
	}
	return err
}

// ClosestFunction returns the function that a misspelt name most likely means, or "".
func ClosestFunction(name string) string {
	var names []string
	for _, f := range function.All() {
		names = append(names, f.Name)
	}
	return document.Suggest(name, names)
}

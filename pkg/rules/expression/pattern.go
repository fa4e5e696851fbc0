package expression

import (
	"errors"
	"regexp"
	re "regexp/syntax"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// maxPatternSize limits the compiled pattern: matching may take time in proportion
// to it for each byte of the text.
const maxPatternSize = 500

// matches compiles the operator with its pattern, which must be a literal so that
// it is checked and compiled once.
func (c *compiler) matches(n *ast.BinaryNode) (code, error) {
	left, err := c.compile(n.Left)
	if err != nil {
		return code{}, err
	}
	c.nodes++
	literal, ok := n.Right.(*ast.StringNode)
	if !ok {
		return code{}, c.tree.Span(n.Right).Errorf("the pattern of matches must be a string literal").
			WithHint(`write x matches "^a+$"`)
	}
	pattern, size, err := compilePattern(literal.Value, c.tree.Span(literal))
	if err != nil {
		return code{}, err
	}
	at := c.tree.Span(n)
	return code{at: at, eval: func(e *Evaluation) (any, error) {
		v, err := left.eval(e)
		if err != nil {
			return nil, err
		}
		text, ok := v.(string)
		if !ok {
			return nil, left.wants("matches", value.String, v)
		}
		if err := e.Budget.Steps(1 + len(text)*(4+size)/4); err != nil {
			return nil, at.Locate(err)
		}
		return pattern.MatchString(text), nil
	}}, nil
}

// compilePattern also returns the size of the pattern in instructions.
func compilePattern(text string, at syntax.Span) (*regexp.Regexp, int, error) {
	if len(text) > maxPattern {
		return nil, 0, at.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	tree, err := re.Parse(text, re.Perl)
	if failure, is := errors.AsType[*re.Error](err); is && failure.Code == re.ErrInvalidPerlOp {
		return nil, 0, at.Errorf("the pattern has %s, which RE2 does not know", failure.Expr).
			WithHint("patterns have no look-around and no back-references")
	}
	if err != nil {
		return nil, 0, at.Errorf("the pattern is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	size := patternSize(tree)
	if size > maxPatternSize {
		return nil, 0, at.Errorf("the pattern is too large").WithHint("repeat less: x{100} counts as a hundred x")
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return nil, 0, at.Errorf("the pattern is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return pattern, size, nil
}

// patternSize estimates the instructions before anything is expanded. The parser
// limits how deep a pattern nests.
func patternSize(tree *re.Regexp) int {
	size := 0
	for _, part := range tree.Sub {
		size += patternSize(part)
	}
	switch tree.Op {
	case re.OpLiteral:
		return len(tree.Rune)
	case re.OpRepeat:
		return 1 + size*max(tree.Min, tree.Max, 1)
	default:
		return size + 1
	}
}

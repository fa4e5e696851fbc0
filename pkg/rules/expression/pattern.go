package expression

import (
	"errors"
	"regexp"
	re "regexp/syntax"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// maxPattern limits the pattern, in bytes, and maxPatternSize the compiled pattern: matching may take time in proportion
// to it for each byte of the text.
const (
	maxPattern     = 256
	maxPatternSize = 500
)

// patternOf compiles the pattern of matches, which must be a literal so that it is checked and compiled once. It also
// returns its size in instructions.
func patternOf(n Node) (*regexp.Regexp, int) {
	at := n.Written().At
	text, is := TextOf(n)
	switch {
	case !is:
		fail(at.Errorf("the pattern of matches must be a string literal").WithHint(`write x matches "^a+$"`))
	case len(text) > maxPattern:
		fail(at.Errorf("the pattern is longer than %d bytes", maxPattern))
	}
	tree, err := re.Parse(text, re.Perl)
	if failure, is := errors.AsType[*re.Error](err); is && failure.Code == re.ErrInvalidPerlOp {
		fail(at.Errorf("the pattern has %s, which RE2 does not know", failure.Expr).
			WithHint("patterns have no look-around and no back-references"))
	}
	size := 0
	if err == nil {
		size = value.PatternSize(tree)
	}
	if size > maxPatternSize {
		fail(at.Errorf("the pattern is too large").WithHint("repeat less: x{100} counts as a hundred x"))
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		fail(at.Errorf("the pattern is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	return pattern, size
}

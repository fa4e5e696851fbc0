package document

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// words are the plain scalars with a meaning of their own in both versions of
// YAML.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"true": true, "True": true, "TRUE": true,
	"false": false, "False": false, "FALSE": false,
}

var (
	integer     = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	hexadecimal = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	float       = regexp.MustCompile(`^[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?$`)
)

// trap is a kind of plain scalar that readers of YAML 1.1 and 1.2 understand
// differently, so that nobody can know what its author meant.
type trap struct {
	pattern *regexp.Regexp
	reading string
	hint    string // besides quoting it, may be empty
}

// traps follow https://yaml.org/type/ for YAML 1.1 and the core schema of 1.2,
// with what common readers add. The first match counts.
var traps = []trap{
	{
		regexp.MustCompile(`^(y|Y|yes|Yes|YES|on|On|ON)$`),
		"a boolean in YAML 1.1, a string in YAML 1.2", "true for the boolean",
	},
	{
		regexp.MustCompile(`^(n|N|no|No|NO|off|Off|OFF)$`),
		"a boolean in YAML 1.1, a string in YAML 1.2", "false for the boolean",
	},
	{
		regexp.MustCompile(`^[-+]?0[0-7_]+$`),
		"an octal number in YAML 1.1, a decimal one in YAML 1.2", "the decimal number without a leading zero",
	},
	{
		regexp.MustCompile(`^[-+]?0[0-9_]+$`),
		"a string in YAML 1.1, a number in YAML 1.2", "the number without a leading zero",
	},
	{
		regexp.MustCompile(`^[-+]?0[oO][0-7_]+$`),
		"a string in YAML 1.1, an octal number in YAML 1.2", "the decimal number",
	},
	{
		regexp.MustCompile(`^[-+]?0[bB][01_]+$`),
		"a binary number in YAML 1.1, a string in YAML 1.2", "the decimal number",
	},
	{
		regexp.MustCompile(`^[-+]?0[xX][0-9a-fA-F_]+$`),
		"a number in YAML 1.1, a string in YAML 1.2", "the decimal number",
	},
	{
		regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$`),
		"a string in YAML 1.1, a number in YAML 1.2", "the number with a point and a signed exponent like 1.0e+3",
	},
	{ // Without underscores it is a number for everybody, and does not get here.
		regexp.MustCompile(`^[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?$`),
		"a number in YAML 1.1, a string in YAML 1.2", "the number without underscores",
	},
	{
		regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`),
		"a number to the base of 60 in YAML 1.1, a string in YAML 1.2", "",
	},
	{
		regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}` +
			`(([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]*)?([ \t]*(Z|[-+][0-9]{1,2}(:?[0-9]{2})?))?)?$`),
		"a time in YAML 1.1, a string in YAML 1.2", "",
	},
	{
		regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`),
		"a number that Kubernetes cannot store", "",
	},
	{
		regexp.MustCompile(`^(=|<<)$`),
		"a special value in YAML 1.1, a string in YAML 1.2", "",
	},
}

// resolve gives a plain scalar its type, by the core schema of YAML 1.2. If the
// text is a trap, or a number too large, it returns the message and the hint
// instead.
func resolve(text string) (value any, message, hint string) {
	if value, ok := words[text]; ok {
		return value, "", ""
	}
	var err error
	switch {
	case integer.MatchString(text):
		value, err = strconv.ParseInt(text, 10, 64)
	case hexadecimal.MatchString(text):
		value, err = strconv.ParseInt(text[len("0x"):], 16, 64)
	case float.MatchString(text):
		value, err = strconv.ParseFloat(text, 64)
	default:
		return resolveText(text)
	}
	if err != nil {
		return nil, shorten(text) + " does not fit into 64 bits", "write it in quotes if it is text"
	}
	return value, "", ""
}

func resolveText(text string) (value any, message, hint string) {
	// Most text is not worth a dozen patterns: the traps that are words are short.
	if len(text) > len("yes") && !strings.ContainsAny(text[:1], "+-.0123456789") {
		return text, "", ""
	}
	for _, t := range traps {
		if t.pattern.MatchString(text) {
			hint = fmt.Sprintf("write %s for the text", quote(text))
			if t.hint != "" {
				hint += ", or " + t.hint
			}
			return nil, "unquoted " + shorten(text) + " is " + t.reading, hint
		}
	}
	return text, "", ""
}

// kindOf names the type of what resolve returns.
func kindOf(value any) Kind {
	switch value.(type) {
	case nil:
		return KindNull
	case bool:
		return KindBool
	case int64:
		return KindInt
	case float64:
		return KindFloat
	default:
		return KindString
	}
}

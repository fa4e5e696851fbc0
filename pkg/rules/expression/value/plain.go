package value

import (
	"regexp"
	"strconv"
	"strings"
)

// words are the plain scalars of YAML with a meaning of their own in both of its versions.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"true": true, "True": true, "TRUE": true,
	"false": false, "False": false, "FALSE": false,
}

var (
	wholeNumber = regexp.MustCompile(`^([-+]?(0|[1-9][0-9]*)|0x[0-9a-fA-F]+)$`)
	realNumber  = regexp.MustCompile(`^[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?$`)
)

const (
	asTrue  = ", or true for the boolean"
	asFalse = ", or false for the boolean"
)

// trapWords are words that readers of YAML understand differently, and what else than the text may be meant.
var trapWords = map[string]string{
	"y": asTrue, "Y": asTrue, "yes": asTrue, "Yes": asTrue, "YES": asTrue, "on": asTrue, "On": asTrue, "ON": asTrue,
	"n": asFalse, "N": asFalse, "no": asFalse, "No": asFalse, "NO": asFalse, "off": asFalse, "Off": asFalse, "OFF": asFalse,
	"=": "", "<<": "",
}

// traps are plain scalars that readers of YAML 1.1 and 1.2 understand differently, so that nobody can know what their author
// meant. They follow https://yaml.org/type/ for YAML 1.1 and the core schema of 1.2, with what common readers add. A number for
// all readers does not get here.
var traps = []struct {
	pattern *regexp.Regexp
	hint    string
}{
	{regexp.MustCompile(`^[-+]?(` +
		`0([0-9_]+|[oO][0-7_]+|[bB][01_]+|[xX][0-9a-fA-F_]+)|` + // Of another base.
		`([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?)$`), ", or the number in decimal, such as 8, 0.5 or 1.0e+3"},
	{regexp.MustCompile(`^([-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|` + // To the base of 60.
		`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}` + // A time.
		`(([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]*)?([ \t]*(Z|[-+][0-9]{1,2}(:?[0-9]{2})?))?)?|` +
		`[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`), ""},
}

// Resolve gives a plain scalar of YAML its type, by the core schema of YAML 1.2. If readers of YAML 1.1 and 1.2 do not agree on
// the text, or it is a number too large, it returns the message and the hint instead.
func Resolve(text string) (v any, message, hint string) {
	if v, ok := words[text]; ok {
		return v, "", ""
	}
	hint, trap := trapWords[text]
	var err error
	switch {
	case trap:
	case !strings.ContainsAny(text[:1], "+-.0123456789"):
		return text, "", ""
	case wholeNumber.MatchString(text):
		v, err = strconv.ParseInt(text, 0, 64)
	case realNumber.MatchString(text):
		v, err = strconv.ParseFloat(text, 64)
	default:
		for _, t := range traps {
			if !trap && t.pattern.MatchString(text) {
				hint, trap = t.hint, true
			}
		}
		v = text
	}
	switch {
	case trap:
		return nil, "unquoted " + Excerpt(text) + " is not the same to all readers of YAML", "write " + strconv.Quote(Excerpt(text)) + " for the text" + hint
	case err != nil:
		return nil, Excerpt(text) + " does not fit into 64 bits", "write it in quotes if it is text"
	default:
		return v, "", ""
	}
}

// Rewriting says how to write a value in place of one of another kind, whose text is given too. It is "" where that is not known.
func Rewriting(want, have Kind, text string) string {
	meant, _, _ := Resolve(text)
	kind := KindOf(meant)
	if kind == Int {
		kind = Number
	}
	switch want &^= Nil; {
	case have == Nil:
		return "give it a value or remove it"
	case want&(String|Map) == String && have&(Number|Bool) != 0:
		return "put it in quotes: " + strconv.Quote(Excerpt(text))
	case want&String == 0 && have == String && want&kind != 0:
		return "write it without quotes: " + text
	case want == Int && have == Float:
		return "write it without a fraction"
	case want == List:
		return `write "- " before each element, or [a, b]`
	case want == Map:
		return "write lines of key: value, or {key: value}"
	default:
		return ""
	}
}

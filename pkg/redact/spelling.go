package redact

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// spellings are a value as it is, between the single quotes of YAML, and as JSON and Go have bytes that are no UTF-8. What else quotes
// make of it, [reading.unquoted] takes back.
func spellings(value string) []string {
	out := []string{value, strings.ReplaceAll(value, "'", "''")}
	if utf8.ValidString(value) {
		return out
	}
	var codes strings.Builder // Go has \xff, which in YAML is a code.
	for left := value; left != ""; {
		code, length := utf8.DecodeRuneInString(left)
		if code == utf8.RuneError && length == 1 {
			code = rune(left[0])
		}
		codes.WriteRune(code)
		left = left[length:]
	}
	return append(out, string([]rune(value)), codes.String())
}

// escapes are a value as it is in the path and in the query of an address, and in the path of
// a JSON patch.
func escapes(value string) []string {
	return []string{(&url.URL{Path: value}).EscapedPath(), url.QueryEscape(value), pointer.Replace(value)}
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// deepest is how many times a value may be quoted and still be found: a reason quotes a text that a rule made with toJSON of the result of
// toYAML.
const deepest = 3

// reading is a text without quotes, and where each of its bytes, and its end, is in the text that was read.
type reading struct {
	text  string
	from  []int // nil where each byte stands for itself
	depth int
}

func (r reading) at(i int) int {
	if r.from == nil {
		return i
	}
	return r.from[i]
}

// unquoted is a text without the escapes of JSON, Go and YAML, whichever of them quoted it; false where there are none, or too many.
func (r reading) unquoted() (reading, bool) {
	if r.depth == deepest || strings.IndexByte(r.text, '\\') < 0 {
		return r, false
	}
	var text strings.Builder
	from := make([]int, 0, len(r.text)+1)
	for i := 0; i < len(r.text); {
		meant, length := unescape(r.text[i:])
		text.WriteString(meant)
		for k := range len(meant) {
			if k == 0 {
				from = append(from, r.at(i))
			} else { // What ends here ends with the whole escape.
				from = append(from, r.at(i+length))
			}
		}
		i += length
	}
	return reading{text.String(), append(from, r.at(len(r.text))), r.depth + 1}, true
}

// short are the escapes of one letter, of JSON, Go and YAML.
var short = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b", ' ': " ",
	'"': `"`, '/': "/", '\\': `\`, '\'': "'", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// unescape is what a text that is not empty begins with: an escape, or a byte that stands for itself. The length is how much of the text
// that is.
func unescape(text string) (meant string, length int) {
	if text[0] != '\\' || len(text) == 1 {
		return text[:1], 1
	}
	if meant, is := short[text[1]]; is {
		return meant, 2
	}
	code, length := number(text)
	if utf16.IsSurrogate(code) { // JSON has one of two as an escape of its own.
		if low, more := number(text[length:]); more > 0 && utf16.DecodeRune(code, low) != utf8.RuneError {
			code, length = utf16.DecodeRune(code, low), length+more
		}
	}
	if length == 0 {
		return text[:1], 1
	}
	return string(code), length
}

// number is the code that an escape has as a number, which a text may begin with. The length is 0 where it does not.
func number(text string) (code rune, length int) {
	if len(text) < 2 || text[0] != '\\' {
		return 0, 0
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	if digits == 0 || len(text) < 2+digits {
		return 0, 0
	}
	parsed, err := strconv.ParseUint(text[2:2+digits], 16, 31)
	if err != nil {
		return 0, 0
	}
	return rune(parsed), 2 + digits
}

// folded is a text in lower case, as names have to be. Only ASCII letters are changed, so it
// stays as long as it is.
func folded(text string) string {
	upper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	for i := range len(text) {
		if !upper(text[i]) {
			continue
		}
		out := []byte(text)
		for ; i < len(out); i++ {
			if upper(out[i]) {
				out[i] += 'a' - 'A'
			}
		}
		return string(out)
	}
	return text
}

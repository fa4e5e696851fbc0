package source

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	// maxDocument is above what the parser takes, and stops an object that would become
	// very large in writing.
	maxDocument = 1 << 20
	// maxNesting is above what the parser takes, too.
	maxNesting = 100
	// longestKey is how long a key may be in YAML without a mark before it.
	longestKey = 500
)

// field is a key of a map whose keys have an order.
type field struct {
	key   string
	value any
}

// encode writes a map as YAML that the strict parser reads as the same values: a line
// for each, so that mistakes are told in their order.
func encode(fields []field) []byte {
	e := &encoder{}
	e.fields(fields, 0)
	return e.out.Bytes()
}

// encoder writes blocks: no reader of the same values needs fewer characters that
// count.
type encoder struct{ out bytes.Buffer }

// value writes what stands behind a key or a dash at a depth, with the end of the line.
// Nested says that it may begin on the same line.
func (e *encoder) value(value any, depth int, nested bool) {
	switch v := value.(type) {
	case map[string]any:
		if !e.bottom(len(v), depth, "{}") {
			e.open(nested)
			e.fields(sorted(v), depth)
		}
	case []any:
		if !e.bottom(len(v), depth, "[]") {
			e.open(nested)
			e.list(v, depth)
		}
	default:
		e.out.WriteString(" " + scalar(value) + "\n")
	}
}

// bottom writes a collection that is empty, or too deep to be taken by anybody.
func (e *encoder) bottom(length, depth int, empty string) bool {
	if length > 0 && depth <= maxNesting && e.out.Len() <= maxDocument {
		return false
	}
	e.out.WriteString(" " + empty + "\n")
	return true
}

func (e *encoder) open(nested bool) {
	if nested {
		e.out.WriteString(" ")
	} else {
		e.out.WriteString("\n")
	}
}

// fields writes a map. Where something is on the line already, the first key follows.
func (e *encoder) fields(fields []field, depth int) {
	for _, one := range fields {
		if e.out.Len() > maxDocument {
			return
		}
		e.indent(depth)
		key := keyText(one.key)
		if len(key) > longestKey {
			e.out.WriteString("? " + key + "\n")
			e.indent(depth)
			key = ""
		}
		e.out.WriteString(key + ":")
		e.value(one.value, depth+1, false)
	}
}

func (e *encoder) list(elements []any, depth int) {
	for _, element := range elements {
		if e.out.Len() > maxDocument {
			return
		}
		e.indent(depth)
		e.out.WriteString("-")
		e.value(element, depth+1, true)
	}
}

// indent fills up a line that is begun, or begins one.
func (e *encoder) indent(depth int) {
	line := e.out.Len() - 1 - bytes.LastIndexByte(e.out.Bytes(), '\n')
	e.out.WriteString(strings.Repeat(" ", max(2*depth-line, 0)))
}

func sorted(m map[string]any) []field {
	out := make([]field, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, field{key, m[key]})
	}
	return out
}

// simple keys need no quotes.
var simple = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// words are simple, and mean something else to some readers of YAML.
var words = regexp.MustCompile(`^(?i:y|yes|on|n|no|off|true|false|null)$`)

func keyText(key string) string {
	if simple.MatchString(key) && !words.MatchString(key) {
		return key
	}
	return quoted(key)
}

// scalar writes what JSON has. Nothing else is in an object of an API server; it would
// be written as text.
func scalar(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return number(v)
	case string:
		return quoted(v)
	default:
		return quoted(fmt.Sprint(v))
	}
}

// number writes a float with a point, without which it would be an integer or a trap.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	mantissa, exponent, scientific := strings.Cut(text, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if scientific {
		return mantissa + "e" + exponent
	}
	return mantissa
}

// quoted writes text within double quotes, and what cannot be seen as an escape.
func quoted(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == ' ' || unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

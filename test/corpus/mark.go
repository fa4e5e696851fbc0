package corpus

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A draft is the text of a rule in which the parts that a mistake changes are there twice: as they should be, and as
// they are with the mistake. These characters stand around the two, and in no text of a rule.
const (
	opens  = "\x01"
	turns  = "\x02"
	closes = "\x03"
)

// mark is a part that is right in one way and wrong in the other.
func mark(right, wrong string) string { return opens + right + turns + wrong + closes }

var marked = regexp.MustCompile("(?s)" + opens + "(.*?)" + turns + "(.*?)" + closes)

// right is the text without the mistake.
func right(draft string) string { return marked.ReplaceAllString(draft, "$1") }

// wrong is the text with the mistake, and where that is.
func wrong(draft string) (text string, at region, found bool) {
	place := marked.FindStringSubmatchIndex(draft)
	if place == nil {
		return "", region{}, false
	}
	before, inside := draft[:place[0]], draft[place[4]:place[5]]
	lineStart := strings.LastIndex(before, "\n") + 1
	at.line = 1 + strings.Count(before, "\n")
	at.from = 1 + utf8.RuneCountInString(before[lineStart:])
	at.to = at.from + max(1, utf8.RuneCountInString(inside))
	return marked.ReplaceAllString(draft, "$2"), at, true
}

// region is where a mistake may be said to be: a line, and columns of which the last is excluded.
type region struct{ line, from, to int }

// yamlText is a value as YAML in flow style, which for most is JSON. Keys and strings may be marked.
func yamlText(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, key := range sortedKeys(v) {
			parts = append(parts, yamlKey(key)+": "+yamlText(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = yamlText(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case raw:
		return string(v)
	default:
		return jsonText(v)
	}
}

// raw is text that yamlText takes over as it is.
type raw string

var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{3,}$`)

// yamlKey quotes a key where YAML could take it for something else.
func yamlKey(key string) string {
	if part := marked.FindStringSubmatch(key); part != nil {
		return mark(yamlKey(part[1]), yamlKey(part[2]))
	}
	if plainKey.MatchString(key) && key != "true" && key != "false" && key != "null" {
		return key
	}
	return jsonText(key)
}

// jsonText is a scalar as JSON. What would begin an expression is escaped.
func jsonText(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "null" // Scalars can always be encoded.
	}
	return strings.ReplaceAll(strings.TrimSpace(out.String()), "${", "$${")
}

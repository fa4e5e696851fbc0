package redact

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// spellings are a value as it is, and as it is between the quotes of JSON, of JSON for HTML,
// of Go and of YAML. Most values have one.
func spellings(value string) []string {
	out := []string{value}
	if isPlain(value) {
		return out
	}
	html, _ := json.Marshal(value) //nolint:errchkjson // A string is always JSON.
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // A string is always JSON.
	for _, quoted := range []string{strings.TrimSuffix(text.String(), "\n"), string(html), strconv.Quote(value)} {
		out = append(out, quoted[1:len(quoted)-1])
	}
	return append(out, strings.ReplaceAll(value, "'", "''"))
}

// isPlain reports whether no quoting changes the value.
func isPlain(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c >= utf8.RuneSelf-1 || strings.IndexByte(`"'\<>&`, c) >= 0 {
			return false
		}
	}
	return true
}

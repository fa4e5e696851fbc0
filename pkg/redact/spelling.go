package redact

import (
	"encoding/json"
	"net/url"
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

// escapes are a value as it is in the path and in the query of an address, and in the path of
// a JSON patch.
func escapes(value string) []string {
	return []string{(&url.URL{Path: value}).EscapedPath(), url.QueryEscape(value), pointer.Replace(value)}
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

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

// isPlain reports whether no quoting changes the value.
func isPlain(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c >= utf8.RuneSelf-1 || strings.IndexByte(`"'\<>&`, c) >= 0 {
			return false
		}
	}
	return true
}

package write

import (
	"bytes"
	"fmt"
)

// longestSimpleKey is how many characters a key of YAML may have, with its quotes, without a "?" before it.
const longestSimpleKey = 1024

// YAML returns JSON so that a reader of YAML reads the same, as the API server reads what is applied. Such a reader refuses some characters
// that are in texts of JSON as they are, takes others for line breaks, and needs a mark before long keys. The JSON is as [json.Marshal]
// writes it.
func YAML(data []byte) []byte {
	out := make([]byte, 0, len(data)+len(data)/16)
	for len(data) > 0 {
		if data[0] != '"' {
			out, data = append(out, data[0]), data[1:]
			continue
		}
		end := 1
		for data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		text := escaped(data[:end+1])
		data = data[end+1:]
		if len(text) > longestSimpleKey && bytes.HasPrefix(data, []byte(":")) {
			out = append(out, "? "...)
		}
		out = append(out, text...)
	}
	return out
}

// escaped returns a text of JSON without what a reader of YAML does not read as it is. It does not join two escapes to one
// character, so the others stay as they are.
func escaped(text []byte) []byte {
	if bytes.IndexFunc(text, unreadable) < 0 {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if unreadable(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = fmt.Appendf(out, "%c", r)
		}
	}
	return out
}

func unreadable(r rune) bool {
	switch r {
	case 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff:
		return true
	}
	return r >= 0x7f && r <= 0x9f
}

package value

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Text returns how a scalar reads inside a text: strings as they are, numbers as
// in JSON, and the canonical form of a computed value, from which its parser makes
// an equal one. ok is false for nil, lists, maps and whatever has no such form.
func Text(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", false
		}
		return string(appendFloat(nil, v)), true
	case Amount:
		return v.String(), true
	case Version:
		return v.String(), true
	case time.Duration:
		return v.String(), true
	case time.Time:
		return timeText(v)
	default:
		return "", false
	}
}

// timeText writes a time in its zone and, of a second, what there is. RFC 3339 has
// years of four digits, and zones without seconds.
func timeText(t time.Time) (text string, ok bool) {
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	return t.Format(time.RFC3339Nano), withinYears(t)
}

func withinYears(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// appendFloat writes the shortest form that reads back the same, but a whole
// number as the integer that it equals, so that equal numbers have equal texts.
func appendFloat(text []byte, f float64) []byte {
	if f == math.Trunc(f) && f >= -1<<63 && f < 1<<63 {
		return strconv.AppendInt(text, int64(f), 10)
	}
	if size := math.Abs(f); size >= 1e-6 && size < 1<<63 {
		return strconv.AppendFloat(text, f, 'f', -1, 64)
	}
	text = strconv.AppendFloat(text, f, 'e', -1, 64)
	// Go writes at least two digits of the exponent, JSON by custom one.
	if n := len(text); n >= 4 && string(text[n-4:n-1]) == "e-0" {
		return append(text[:n-2], text[n-1])
	}
	return text
}

// appendQuoted writes s as a JSON string.
func appendQuoted(text []byte, s string) []byte {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError }) < 0 {
		return append(append(append(text, '"'), s...), '"')
	}
	out := bytes.NewBuffer(text)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	Must(encoder.Encode(s))
	return out.Bytes()[:out.Len()-1] // Behind it is a line break.
}

// Excerpt returns the beginning of a text that may be too long for a message.
func Excerpt(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

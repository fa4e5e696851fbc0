package trace

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Value is a value as people are shown it. The zero value shows nothing.
type Value struct {
	// JSON is the value, empty where it is absent, masked or large.
	JSON json.RawMessage `json:"value,omitempty"`
	// Absent says that there is none.
	Absent bool `json:"absent,omitempty"`
	// Summary stands for a value that is not shown.
	Summary string `json:"summary,omitempty"`
}

// Masked is the value of a Secret, or one that may tell of it.
const Masked = "(masked)"

// longest is how much of a value is shown, in bytes of JSON.
const longest = 160

// AbsentValue is no value.
func AbsentValue() Value { return Value{Absent: true} }

// MaskedValue is one that is not to be shown.
func MaskedValue() Value { return Value{Summary: Masked} }

// ValueOf shows a value of JSON, which is nil, a boolean, a number, a text, a list or a map,
// by its text as JSON. Of a large one it says what it is.
func ValueOf(value any, text string) Value {
	switch value := value.(type) {
	case nil:
		return AbsentValue()
	case string:
		if len(text) > longest {
			return Value{Summary: fmt.Sprintf("a text of %d bytes, %s...", len(value), beginning(value))}
		}
	case []any:
		if len(text) > longest {
			return Value{Summary: fmt.Sprintf("a list of %d", len(value))}
		}
	case map[string]any:
		if len(text) > longest {
			return Value{Summary: fmt.Sprintf("a map of %d", len(value))}
		}
	default:
		if len(text) > longest {
			return Value{Summary: "a large value"}
		}
	}
	return Value{JSON: json.RawMessage(text)}
}

// beginning quotes the first part of a text.
func beginning(text string) string {
	end := min(len(text), longest/2)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	quoted, err := json.Marshal(text[:end])
	if err != nil {
		return ""
	}
	return string(quoted[:len(quoted)-1])
}

// String shows the value in a line.
func (v Value) String() string {
	switch {
	case v.Absent:
		return "absent"
	case v.Summary != "":
		return v.Summary
	case len(v.JSON) == 0:
		return "(none)"
	default:
		return string(v.JSON)
	}
}

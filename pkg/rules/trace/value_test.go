package trace_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

func TestValue(t *testing.T) {
	long := strings.Repeat("ä", 200)
	tests := map[string]struct {
		reason string
		given  any
		want   string
	}{
		"Nil":      {"Nothing is absent.", nil, "absent"},
		"Text":     {"A text is as JSON.", "a\nb", `"a\nb"`},
		"Number":   {"A number too.", int64(3), "3"},
		"False":    {"False is no absence.", false, "false"},
		"List":     {"A list too.", []any{int64(1), "x"}, `[1,"x"]`},
		"Empty":    {"An empty one is there.", []any{}, "[]"},
		"Map":      {"A map too.", map[string]any{"a": int64(1)}, `{"a":1}`},
		"LongText": {"Of a long text there is the beginning.", long, "a text of 400 bytes, \"" + strings.Repeat("ä", 40) + "..."},
		"LongList": {"Of a long list how long it is.", []any{long, long}, "a list of 2"},
		"LongMap":  {"So of a map.", map[string]any{"a": long}, "a map of 1"},
		"Other":    {"Anything else has its text.", json.Number(strings.Repeat("1", 200)), "a large value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(tc.given)
			if err != nil {
				t.Fatal(err)
			}
			got := trace.ValueOf(tc.given, string(data))
			if got.String() != tc.want {
				t.Errorf("%s got %s, want %s", tc.reason, got, tc.want)
			}
			if again, err := json.Marshal(got); err != nil || !utf8.Valid(again) {
				t.Errorf("%s as JSON: %s, %v", tc.reason, again, err)
			}
		})
	}
	if got := (trace.Value{}).String(); got != "(none)" {
		t.Errorf("no value is %s", got)
	}
}

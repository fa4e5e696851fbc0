package value

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJSON(t *testing.T) {
	tests := map[string]struct {
		v    any
		want string
	}{
		"nil":                {nil, "null"},
		"integer":            {least, "-9223372036854775808"},
		"whole float":        {3.0, "3"},
		"minus zero":         {math.Copysign(0, -1), "0"},
		"beyond integers":    {1e19, "1e+19"},
		"smallest integer":   {-9223372036854775808.0, "-9223372036854775808"},
		"almost beyond":      {math.Nextafter(1<<63, 0), "9223372036854774784"},
		"less small float":   {1e-6, "0.000001"},
		"escapes":            {"\"\\\n\r\t\x00\x1f\x7f", `"\"\\\n\r\t\u0000\u001f` + "\x7f" + `"`},
		"no escapes of HTML": {"<&>\u2028", "\"<&>\u2028\""},
		"invalid UTF-8":      {"a\xffb", `"a\ufffdb"`},
		"empty":              {[]any{[]any{}, map[string]any{}, ""}, `[[],{},""]`},
		"computed values":    {[]any{amount(t, "1.5"), version(t, "v1.2"), noon, time.Hour}, `["1500m","1.2.0","2026-01-31T12:00:00Z","1h0m0s"]`},
		"sorted keys":        {map[string]any{"b": nil, "a": []any{int64(1), int64(2)}, "": false}, `{"":false,"a":[1,2],"b":null}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := JSON(tt.v, nil)
			if err != nil || got != tt.want {
				t.Errorf("JSON(%v) = %s, %v, want %s", tt.v, got, err, tt.want)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("%s is not valid", got)
			}
		})
	}
}

func TestJSONErrors(t *testing.T) {
	tests := map[string]struct {
		v    any
		want string
	}{
		"omitted":      {[]any{Omitted{}}, "omit() has no JSON form"},
		"unsupported":  {map[string]any{"a": 1}, "an unsupported value has no JSON form"},
		"not a number": {math.NaN(), "JSON has no number for NaN"},
		"infinity":     {math.Inf(-1), "JSON has no number for -Inf"},
		"too deep":     {deepList(Depth + 1), "the value nests deeper than 256 levels"},
		"too deep map": {deepMap(Depth + 1), "the value nests deeper than 256 levels"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := JSON(tt.v, nil); err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	if _, err := JSON(deepMap(Depth), nil); err != nil {
		t.Errorf("a map as deep as allowed: %v", err)
	}
}

func TestParseJSON(t *testing.T) {
	tests := map[string]struct {
		text string
		want any
		err  string
	}{
		"integer":            {" -9223372036854775808 ", least, ""},
		"float":              {"1.0", 1.0, ""},
		"nested":             {`{"a": [1, {"b": true}], "c": {}}`, map[string]any{"a": []any{int64(1), map[string]any{"b": true}}, "c": map[string]any{}}, ""},
		"the last key wins":  {`{"a": 1, "a": 2}`, map[string]any{"a": int64(2)}, ""},
		"too large":          {"[9223372036854775808]", nil, "9223372036854775808 does not fit a 64-bit integer"},
		"too large a float":  {"1e999", nil, "1e999 does not fit a float"},
		"nothing":            {" ", nil, "invalid JSON: it ends too early"},
		"an open map":        {`{"a":`, nil, "invalid JSON: it ends too early"},
		"a trailing comma":   {"[1,]", nil, "invalid JSON: invalid character ']' looking for beginning of value"},
		"a key that is none": {"{1: 2}", nil, "invalid JSON: invalid character '1'"},
		"two values":         {"{} {}", nil, "invalid JSON: more follows the first value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseJSON(tt.text, nil)
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("ParseJSON(%s) = %v, %v, want %s", tt.text, got, err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("ParseJSON(%s): %v (-want +got)\n%s", tt.text, err, diff)
			}
		})
	}
}

func TestJSONIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"many maps":  "[" + strings.Repeat("{},", 100_000) + "1]",
		"many keys":  "{" + strings.Repeat(`"a":1,`, 100_000) + `"b":1}`,
		"many items": "[" + strings.Repeat("1,", 1_000_000) + "1]",
		"long":       `"` + strings.Repeat("a", 10_000_000) + `"`,
	} {
		if _, err := ParseJSON(text, NewBudget(0)); !errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v, want one that wraps ErrBudget", name, err)
		}
	}
	for name, text := range map[string]string{
		"lists": strings.Repeat("[", 100_000),
		"maps":  strings.Repeat(`{"a":`, 100_000),
	} {
		if _, err := ParseJSON(text, nil); err == nil || errors.Is(err, ErrBudget) {
			t.Errorf("deep %s: %v, want one about the depth", name, err)
		}
	}
	if _, err := JSON([]any{strings.Repeat("\x00", 1_000_000)}, NewBudget(0)); !errors.Is(err, ErrBudget) {
		t.Errorf("many escapes: %v, want one that wraps ErrBudget", err)
	}
}

// FuzzJSON makes sure that what is parsed is written in one way, that is read
// back the same.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, 2.5, null, true, "x\u0000\ud83d\ude00"], "b": {}}`, "[[[]]]", "-0.0", "1e-7", "9223372036854775807", `"\ud800"`, "[1,]", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseJSON(text, NewBudget(0))
		if err != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("%q was parsed and is not valid", text)
		}
		written, err := JSON(v, nil)
		if err != nil {
			t.Fatalf("JSON(%v): %v", v, err)
		}
		again, err := ParseJSON(written, nil)
		if err != nil {
			t.Fatalf("ParseJSON(%s): %v", written, err)
		}
		if same, err := Equal(v, again, nil); err != nil || !same {
			t.Errorf("%q became %s, which differs: %v", text, written, err)
		}
		if twice, err := JSON(again, nil); err != nil || twice != written {
			t.Errorf("%s became %s", written, twice)
		}
	})
}

func TestIndentedJSON(t *testing.T) {
	const want = "[\n  {\n    \"a\": []\n  },\n  1\n]"
	if got, err := IndentedJSON([]any{map[string]any{"a": []any{}}, int64(1)}, 2, NewBudget(0)); err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, v := range []any{Omitted{}, Stamp{}} {
		if got, err := IndentedJSON(v, MostIndent+1, nil); err == nil {
			t.Errorf("an indent that is too large: %q", got)
		}
		if got, err := IndentedJSON(v, MostIndent, nil); err == nil {
			t.Errorf("%v: %q", v, got)
		}
	}
}

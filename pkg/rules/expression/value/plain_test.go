package value

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	cases := map[string]any{
		"":                     nil,
		"~":                    nil,
		"null":                 nil,
		"NULL":                 nil,
		"nULL":                 "nULL",
		"true":                 true,
		"TRUE":                 true,
		"tRUE":                 "tRUE",
		"false":                false,
		"FALSE":                false,
		"0":                    int64(0),
		"-0":                   int64(0),
		"+7":                   int64(7),
		"9223372036854775807":  int64(math.MaxInt64),
		"-9223372036854775808": int64(math.MinInt64),
		"0x1F":                 int64(31),
		"0.5":                  0.5,
		"-.5":                  -0.5,
		"1.":                   1.0,
		"1.10":                 1.1,
		"01.5":                 1.5,
		"1.0e+3":               1000.0,
		"1.2.3":                "1.2.3",
		"10%":                  "10%",
		"1Gi":                  "1Gi",
		"yES":                  "yES",
		"one":                  "one",
		".":                    ".",
		"-":                    "-",
		"==":                   "==",
		"e3":                   "e3",
		"1e":                   "1e",
		"0x":                   "0x",
		"0b2":                  "0b2",
		"80:8080":              "80:8080",
		"2026-01":              "2026-01",
		"20260101":             int64(20260101),
		"inf":                  "inf",
		".infinite":            ".infinite",
		"_1":                   "_1",
		"1_a":                  "1_a",
		"é":                    "é",
		"pd > 0 && no":         "pd > 0 && no",
	}
	for text, want := range cases {
		value, message, hint := Resolve(text)
		if diff := cmp.Diff(want, value); diff != "" || message != "" || hint != "" {
			t.Errorf("%q is %v (%s; %s): %s", text, value, message, hint, diff)
		}
	}
}

// TestTraps holds that what readers disagree on has no value; testdata/traps
// has the messages.
func TestTraps(t *testing.T) {
	for _, text := range []string{
		"y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
		"012", "-012", "+012", "00", "08", "0_1", "0o14", "-0o14", "0O14", "0b1", "-0b11", "0B1", "-0x1F", "0X1F", "0x_1",
		"1e3", "1E3", "-1e3", "1e+3", "1.5e3", ".5e3", "5.e3", "1_000", "1_0.5", "1.0_0", ".1_0", "1_0e3",
		"1:30", "12:30", "12:30:45", "-1:30", "1:30.5", "1_0:30",
		"2026-01-01", "2026-1-1", "2026-01-01T00:00:00Z", "2026-01-01t00:00:00.5", "2026-01-01 10:00:00 +1",
		"2026-01-01 10:00:00 -01:00", ".inf", "-.inf", "+.Inf", ".INF", ".nan", ".NaN", ".NAN", "=", "<<",
		"9223372036854775808", "-9223372036854775809", "0x8000000000000000", "1.0e+999",
	} {
		value, message, hint := Resolve(text)
		if value != nil || message == "" || hint == "" {
			t.Errorf("%q is %v (%s; %s)", text, value, message, hint)
		}
	}
}

func TestRewriting(t *testing.T) {
	tests := map[string]struct {
		reason     string
		want, have Kind
		text, hint string
	}{
		"Nothing":  {"A key without a ", String, Nil, "", "give it a value or remove it"},
		"Number":   {"A number where a text is meant.", String, Int, "8", `put it in quotes: "8"`},
		"Quoted":   {"A text that would be a number.", Int, String, "8", "write it without quotes: 8"},
		"Switch":   {"A text that would be a boolean.", Bool | Nil, String, "true", "write it without quotes: true"},
		"Word":     {"A text that would be none.", Int, String, "many", ""},
		"Fraction": {"An integer has none.", Int, Float, "1.5", "write it without a fraction"},
		"List":     {"One element in place of a list.", List, Map, "", `write "- " before each element, or [a, b]`},
		"Map":      {"A text in place of a map.", Map, String, "a", "write lines of key: value, or {key: value}"},
		"Either":   {"A text or a map: quotes need not be what is meant.", String | Map, Int, "8", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Rewriting(tc.want, tc.have, tc.text); got != tc.hint {
				t.Errorf("%s %q, want %q", tc.reason, got, tc.hint)
			}
		})
	}
}

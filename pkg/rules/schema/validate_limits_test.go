package schema

import (
	"strings"
	"testing"
)

func TestValidateLimits(t *testing.T) {
	const policy = `{is: text, enum: [Always, IfNotPresent, Never]}`
	tests := map[string]check{
		"EnumCase": {
			"The case counts, and is guessed.",
			policy,
			"always",
			[]string{` not-in-enum: want "Always", "IfNotPresent" or "Never", have "always"; did you mean "Always"?`},
		},
		"EnumNumberNo": {
			"And shown as they are.",
			`{is: int, enum: [1, 2]}`,
			"3",
			[]string{" not-in-enum: want 1 or 2, have 3"},
		},
		"EnumNull": {
			"Null is not among them because it may be stored.",
			`{a: {is: "text?", enum: [v1]}}`,
			"{a: null}",
			[]string{`/a not-in-enum: want "v1", have null`},
		},
		"EnumMany": {
			"Of many some are shown.", `{is: text, enum: [aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn]}`, "zzzzzz",
			[]string{` not-in-enum: want "aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii", "jj", "kk", "ll" or one of 2 others, have "zzzzzz"`},
		},
		"EnumOfMapsNo": {
			"Which are shown as JSON.",
			`{is: {"*": any}, enum: [{a: 1}]}`,
			"{b: [1]}",
			[]string{` not-in-enum: want {"a":1}, have {"b":[1]}`},
		},
		"BelowLeast": {"", `{is: int, min: 1}`, "0", []string{" out-of-bounds: want at least 1, have 0"}},
		"Exclusive": {
			"Unless they are exclusive.",
			`{is: float, min: 0, above: true}`,
			"0",
			[]string{" out-of-bounds: want more than 0, have 0"},
		},
		"AboveMost": {"", `{is: int, max: 100}`, "101", []string{" out-of-bounds: want at most 100, have 101"}},
		"Exact": {
			"Large integers are not rounded to compare them.",
			`{is: int, max: 9007199254740992}`,
			"9007199254740993",
			[]string{" out-of-bounds: want at most 9007199254740992, have 9007199254740993"},
		},
		"Int32": {
			"An int32 has its own bounds.",
			`{is: int, format: int32}`,
			"3000000000",
			[]string{" out-of-bounds: want at most 2147483647, have 3000000000"},
		},
		"IntOrText": {
			"Of two kinds the API server looks at no format.",
			`{is: int-or-text, format: int32}`,
			"3000000000",
			nil,
		},
		"NoMultiple": {"", `{is: int, multipleOf: 5}`, "12", []string{" out-of-bounds: want a multiple of 5, have 12"}},
		"FloatNoTimes": {
			"",
			`{is: float, multipleOf: 0.1}`,
			"0.35",
			[]string{" out-of-bounds: want a multiple of 0.1, have 0.35"},
		},
		"Empty": {
			"The most frequent bound has words of its own.",
			`{is: text, minLength: 1}`,
			`""`,
			[]string{" out-of-bounds: want at least 1 character, have 0"},
		},
		"Short": {"", `{is: text, minLength: 3}`, "ab", []string{" out-of-bounds: want at least 3 characters, have 2"}},
		"NoMatch": {
			"",
			`{is: text, pattern: "^[0-9]+$"}`,
			"abc",
			[]string{` wrong-format: "abc" does not match the pattern ^[0-9]+$`},
		},
		"Broken": {"A pattern that nobody can read is none.", `{is: text, pattern: "(?!x)"}`, "abc", nil},
		"OneMistake": {
			"Of a text one mistake is enough.",
			`{is: text, pattern: "^[0-9]+$", maxLength: 2}`,
			"abc",
			[]string{" out-of-bounds: want at most 2 characters, have 3"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t, Whole) })
	}
}

func TestValidateFormats(t *testing.T) {
	for format, tc := range map[string]struct{ right, wrong []string }{
		Quantity:         {[]string{"1", "500m", "1.5Gi", "-1", "1e3", "+5", "1e999999999"}, []string{"5 GB", "", "x", "1.5GB"}},
		DateTime:         {[]string{"2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00", "2026-01-31t12:00:00z"}, []string{"tomorrow", "2026-01-31"}},
		Time:             {[]string{"2026-01-31T12:00:00Z"}, []string{"2026-02-31T12:00:00Z", "now"}},
		MicroTime:        {[]string{"2026-01-31T12:00:00.123456Z"}, []string{"2026-01-31T12:00:00Z"}},
		"date":           {[]string{"2026-01-31"}, []string{"31.1.2026"}},
		"duration":       {[]string{"90s", "1h30m"}, []string{"soon"}},
		"byte":           {[]string{"Zm9v", "Zm9v\n", ""}, []string{"no base64!"}},
		Bytes:            {[]string{"Zm9v", "Zm9v\n"}, []string{"Zm9"}},
		"cidr":           {[]string{"10.0.0.0/8", "fd00::/8"}, []string{"10.0.0.0"}},
		"ipv4":           {[]string{"10.0.0.1"}, []string{"10.0.0"}},
		"ipv6":           {[]string{"fd00::1"}, []string{"10.0.0.1"}},
		"email":          {[]string{"a@example.com"}, []string{"a"}},
		"uri":            {[]string{"https://example.com", "/path"}, []string{"example"}},
		"uuid":           {[]string{"123e4567-e89b-42d3-a456-426614174000"}, []string{"1"}},
		"k8s-short-name": {[]string{"a-b"}, []string{"A"}},
		"hexcolor":       {[]string{"#ffffff"}, []string{"red"}},
		"x-own":          {[]string{"anything"}, nil},
		"int-or-string":  {[]string{"50%"}, nil},
	} {
		of := &Type{Kinds: scalarType(t, "text").Kinds, Format: format}
		for _, text := range tc.right {
			if got := of.Validate(text, Whole); got != nil {
				t.Errorf("%s: %q is right: %v", format, text, allTold(got))
			}
		}
		for _, text := range tc.wrong {
			if got := of.Validate(text, Whole); len(got) != 1 || !strings.HasPrefix(got[0].Message, shown(text)+" is not ") {
				t.Errorf("%s: %q is wrong: %v", format, text, allTold(got))
			}
		}
	}
	if got := typeOf(t, "quantity").Validate(int64(1), Whole); got != nil {
		t.Errorf("a number is a quantity: %v", got)
	}
}

// TestValidateHostile holds that no schema makes comparing with it take long: what
// would is not compared.
func TestValidateHostile(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	tests := map[string]struct{ pattern, text string }{
		"LargeProgram":   {"^" + strings.Repeat("(a|b){1000}", 700) + "$", "x"},
		"LongPattern":    {strings.Repeat("b", 1<<20), "x"},
		"LongText":       {"^(a?){500}b$", long},
		"ManyCharacters": {strings.Repeat(`[^\x00-\x{10FFFF}]`, 100), long},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list := make([]any, 1000)
			for i := range list {
				list[i] = tc.text
			}
			c := validation{steps: mostSteps}
			for _, text := range list {
				c.pattern(tc.pattern, text.(string))
			}
			if len(c.found) > 0 && name != "ManyCharacters" {
				t.Errorf("it was compared: %v", told(c.found[0]))
			}
		})
	}
	for _, text := range []string{"1e2147483647", "1e-2147483648", strings.Repeat("9", 1<<20), "1" + strings.Repeat("0", 69) + "Ei"} {
		of := typeOf(t, "quantity")
		if got := of.Validate(text, Whole); got != nil && len(text) > 70 {
			t.Errorf("of what takes long nothing is said: %v", allTold(got))
		}
		if again := of.Canonical(of.Canonical(text)); again != of.Canonical(text) {
			t.Errorf("%.20q becomes %v", text, again)
		}
	}
}

package value

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func amount(t *testing.T, text string) Amount {
	t.Helper()
	a, err := ParseAmount(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var noon = time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC)

const noonText = "2026-01-31T12:00:00Z"

func TestAlign(t *testing.T) {
	gibi := amount(t, "1Gi")
	tests := map[string]struct {
		reason     string
		a, b, x, y any
	}{
		"plain values":             {"nothing is read into them", "1Gi", int64(1), "1Gi", int64(1)},
		"a text and a quantity":    {"it writes one", "1Gi", gibi, gibi, gibi},
		"a quantity and a number":  {"it is one", gibi, int64(5), gibi, amount(t, "5")},
		"a quantity and a float":   {"it is one", gibi, 0.5, gibi, amount(t, "500m")},
		"a text and a version":     {"it writes one", version(t, "1.2"), "v1.2.0", version(t, "1.2"), version(t, "1.2")},
		"a number and a version":   {"1.10 would be 1.1", version(t, "1.2"), 1.2, version(t, "1.2"), 1.2},
		"a text and a duration":    {"it writes one", "1d", time.Hour, 24 * time.Hour, time.Hour},
		"seconds and a duration":   {"Kubernetes writes seconds", time.Hour, int64(60), time.Hour, time.Minute},
		"a text and a time":        {"it writes one", noon, noonText, noon, noon},
		"a number and a time":      {"since when?", noon, int64(5), noon, int64(5)},
		"nil and a time":           {"what is absent is no time", nil, noon, nil, noon},
		"two times":                {"they are comparable", noon, noon, noon, noon},
		"a time and a duration":    {"nothing makes one of the other", noon, time.Hour, noon, time.Hour},
		"a list and a quantity":    {"nothing is read into it", []any{"1"}, gibi, []any{"1"}, gibi},
		"a boolean and a quantity": {"nothing is read into it", true, gibi, true, gibi},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x, y, err := Align(tt.a, tt.b, NewBudget(0))
			if diff := cmp.Diff([]any{tt.x, tt.y}, []any{x, y}); err != nil || diff != "" {
				t.Errorf("%v: %s (-want +got)\n%s", err, tt.reason, diff)
			}
		})
	}
	for name, pair := range map[string][2]any{
		"quantity": {"much", gibi}, "version": {version(t, "1"), "latest"}, "duration": {time.Hour, "5"}, "time": {"today", noon},
	} {
		if x, y, err := Align(pair[0], pair[1], nil); err == nil {
			t.Errorf("%s: %v and %v", name, x, y)
		}
	}
}

func TestComputedArithmetic(t *testing.T) {
	tests := map[string]struct {
		operation func(a, b any) (any, error)
		a, b      any
		want      any
	}{
		"quantities":                          {Add, amount(t, "1Gi"), amount(t, "1Gi"), amount(t, "2Gi")},
		"a quantity and its text":             {Add, "1Gi", amount(t, "1Gi"), amount(t, "2Gi")},
		"a quantity less a number":            {Subtract, amount(t, "1500m"), int64(1), amount(t, "500m")},
		"a float less a quantity":             {Subtract, 0.5, amount(t, "1"), amount(t, "-500m")},
		"durations":                           {Add, time.Hour, time.Minute, 61 * time.Minute},
		"a duration and its text":             {Add, time.Hour, "1d", 25 * time.Hour},
		"seconds less a duration":             {Subtract, int64(60), time.Hour, -59 * time.Minute},
		"a time and a duration":               {Add, noon, time.Hour, noon.Add(time.Hour)},
		"a duration and a time":               {Add, time.Hour, noon, noon.Add(time.Hour)},
		"a time and a text":                   {Add, noon, "1d", noon.Add(24 * time.Hour)},
		"a time less seconds":                 {Subtract, noon, int64(30), noon.Add(-30 * time.Second)},
		"the text of a time and a duration":   {Add, noonText, time.Hour, noon.Add(time.Hour)},
		"the text of a time less a duration":  {Subtract, noonText, time.Hour, noon.Add(-time.Hour)},
		"a time less a time":                  {Subtract, noon.Add(time.Hour), noon, time.Hour},
		"a time less the text of one":         {Subtract, noon, "2026-01-31T13:00:00+01:00", time.Duration(0)},
		"the text of a time less one":         {Subtract, noonText, noon.Add(time.Hour), -time.Hour},
		"an integer times a duration":         {Multiply, int64(3), time.Hour, 3 * time.Hour},
		"a duration times an integer":         {Multiply, time.Hour, int64(-2), -2 * time.Hour},
		"a duration by an integer":            {Divide, time.Hour, int64(4), 15 * time.Minute},
		"a duration by an integer, cut off":   {Divide, time.Duration(-7), int64(2), time.Duration(-3)},
		"a duration by a duration":            {Divide, time.Hour, time.Minute, 60.0},
		"a duration by its text":              {Divide, time.Hour, "40m", 1.5},
		"the text of a duration by one":       {Divide, "1d", time.Hour, 24.0},
		"the longest duration":                {Add, time.Duration(math.MaxInt64 - 1), time.Duration(1), time.Duration(math.MaxInt64)},
		"the longest duration the other way":  {Subtract, time.Duration(-math.MaxInt64), time.Duration(0), time.Duration(-math.MaxInt64)},
		"a time in its zone":                  {Add, noon.In(time.FixedZone("", 3600)), "1h", noon.Add(time.Hour)},
		"an integer that is the sum of zeros": {Add, int64(0), time.Hour, time.Hour},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.operation(tt.a, tt.b)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestComputedArithmeticErrors(t *testing.T) {
	const long, year = "the duration is longer than 292 years", "the time is outside of the years 0 to 9999"
	tests := map[string]struct {
		operation func(a, b any) (any, error)
		a, b      any
		want      string
	}{
		"times":                         {Add, noon, noon, "a time + a time has no meaning"},
		"a time and the text of one":    {Add, noon, noonText, "a time + a time has no meaning"},
		"a duration less a time":        {Subtract, time.Hour, noon, "a duration - a time has no meaning"},
		"a time and a float":            {Add, noon, 1.5, "a time + a float has no meaning"},
		"a time times a number":         {Multiply, noon, int64(2), "a time * an integer has no meaning"},
		"a duration times a float":      {Multiply, time.Hour, 1.5, "a duration * a float has no meaning"},
		"a duration times a text":       {Multiply, time.Hour, "2", "a duration * a string has no meaning"},
		"durations times":               {Multiply, time.Hour, time.Hour, "a duration * a duration has no meaning"},
		"a quantity times a number":     {Multiply, amount(t, "1"), int64(2), "a quantity * an integer has no meaning"},
		"quantities divided":            {Divide, amount(t, "1"), amount(t, "2"), "a quantity / a quantity has no meaning"},
		"an integer by a duration":      {Divide, int64(1), time.Hour, "an integer / a duration has no meaning"},
		"a duration by a float":         {Divide, time.Hour, 0.5, "a duration / a float has no meaning"},
		"a quantity and a duration":     {Add, amount(t, "1"), time.Hour, "a quantity + a duration has no meaning"},
		"versions":                      {Add, version(t, "1"), version(t, "2"), "a version + a version has no meaning"},
		"versions, less":                {Subtract, version(t, "1"), "2", "a version - a version has no meaning"},
		"a quantity and a word":         {Add, amount(t, "1"), "x", `"x" is not a quantity; write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`},
		"a duration and a word":         {Subtract, time.Hour, "x", `"x" is not a duration; write it with units, such as "90s", "1h30m", "2d" or "1w"`},
		"a duration by a word":          {Divide, time.Hour, "x", `"x" is not a duration; write it with units, such as "90s", "1h30m", "2d" or "1w"`},
		"a time and a broken time":      {Subtract, noon, "2026-13-01", `"2026-13-01" is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"too long a sum":                {Add, time.Duration(math.MaxInt64), time.Duration(1), long},
		"too long a difference":         {Subtract, time.Duration(-math.MaxInt64), time.Duration(1), long},
		"too long a product":            {Multiply, time.Duration(math.MaxInt64), int64(2), long},
		"too long a time in between":    {Subtract, noon.AddDate(7000, 0, 0), noon, long},
		"too long before":               {Subtract, noon, noon.AddDate(7000, 0, 0), long},
		"a duration by zero":            {Divide, time.Hour, int64(0), "division by zero"},
		"a duration by no duration":     {Divide, time.Hour, time.Duration(0), "division by zero"},
		"too late":                      {Add, noon.AddDate(7900, 0, 0), "106000d", year},
		"too early":                     {Subtract, time.Date(10, 1, 1, 0, 0, 0, 0, time.UTC), "10000d", year},
		"as many seconds as one can":    {Add, noon, int64(math.MaxInt64), "9223372036854775807 seconds is longer than the 292 years of a duration"},
		"a power":                       {Power, time.Hour, int64(2), "arithmetic wants two numbers"},
		"a boolean and a duration":      {Add, true, time.Hour, "a boolean + a duration has no meaning"},
		"a moment less that is no time": {Subtract, Stamp{}, noon, "stamp() - a time has no meaning"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.operation(tt.a, tt.b)
			if _, isFault := errors.AsType[*Fault](err); !isFault || err.Error() != tt.want || got != nil {
				t.Errorf("%v, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestNegateComputed(t *testing.T) {
	for _, tt := range []struct{ v, want any }{
		{time.Hour, -time.Hour}, {amount(t, "-1Gi"), amount(t, "1Gi")}, {Amount{}, Amount{}},
	} {
		got, err := Negate(tt.v)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("-%v: %v (-want +got)\n%s", tt.v, err, diff)
		}
	}
	for _, v := range []any{noon, version(t, "1")} {
		if got, err := Negate(v); err == nil {
			t.Errorf("-%v = %v", v, got)
		}
	}
}

func TestCompareComputed(t *testing.T) {
	elsewhere := noon.In(time.FixedZone("", -5*3600))
	tests := map[string]struct {
		reason  string
		a, b    any
		order   int
		ordered bool
		equal   bool
	}{
		"quantities":              {"by their numbers", amount(t, "1Ki"), amount(t, "1k"), 1, true, false},
		"quantities, same":        {"however written", amount(t, "1024"), amount(t, "1Ki"), 0, true, true},
		"negative quantities":     {"far from 0 is less", amount(t, "-1Gi"), amount(t, "-1Mi"), -1, true, false},
		"quantities around 0":     {"the sign counts first", amount(t, "-1n"), amount(t, "1n"), -1, true, false},
		"versions, same":          {"metadata has no order", version(t, "1.0.0+a"), version(t, "1.0.0+b"), 0, true, true},
		"durations":               {"by length", time.Hour, time.Minute, 1, true, false},
		"times":                   {"by moment", noon, noon.Add(1), -1, true, false},
		"times, same":             {"the zone is how it is written", noon, elsewhere, 0, true, true},
		"a quantity and a number": {"it is not the same kind", amount(t, "1"), int64(1), 0, false, false},
		"a number and a quantity": {"it is not the same kind", int64(1), amount(t, "1"), 0, false, false},
		"a duration and a text":   {"it is not the same kind", time.Hour, "1h0m0s", 0, false, false},
		"a time and nil":          {"it is not the same kind", noon, nil, 0, false, false},
		"lists of times":          {"they are equal throughout", []any{noon}, []any{elsewhere}, 0, false, true},
		"maps of quantities":      {"they are equal throughout", map[string]any{"a": amount(t, "1Gi")}, map[string]any{"a": amount(t, "1024Mi")}, 0, false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if order, ok := Compare(tt.a, tt.b); ok != tt.ordered || ok && order != tt.order {
				t.Errorf("Compare = %d, %v, want %d, %v: %s", order, ok, tt.order, tt.ordered, tt.reason)
			}
			if order, ok := CompareKeys(tt.a, tt.b); tt.a != nil && tt.b != nil && (ok != tt.ordered || ok && order != tt.order) {
				t.Errorf("CompareKeys = %d, %v, want %d, %v: %s", order, ok, tt.order, tt.ordered, tt.reason)
			}
			same, err := Equal(tt.a, tt.b, NewBudget(0))
			if err != nil || same != tt.equal {
				t.Errorf("Equal = %v, %v, want %v: %s", same, err, tt.equal, tt.reason)
			}
			x, err := Identity(tt.a, NewBudget(0))
			if err != nil {
				t.Fatal(err)
			}
			if y, err := Identity(tt.b, NewBudget(0)); err != nil || (x == y) != tt.equal {
				t.Errorf("the identities are %s and %s, %v: %s", x, y, err, tt.reason)
			}
		})
	}
}

// TestStampIsNotRead goes through what would need to know it.
func TestStampIsNotRead(t *testing.T) {
	inside := map[string]any{"a": []any{Stamp{}}}
	read := map[string]func(v any) error{
		"equality":            func(v any) error { _, err := Equal(v, v, nil); return err },
		"equality of another": func(any) error { _, err := Equal(inside, map[string]any{"a": []any{int64(1)}}, nil); return err },
		"equality to another": func(any) error { _, err := Equal(map[string]any{"a": []any{nil}}, inside, nil); return err },
		"another first": func(any) error {
			_, err := Equal(map[string]any{"a": int64(1), "b": inside}, map[string]any{"a": int64(2), "b": inside}, nil)
			return err
		},
		"JSON":     func(v any) error { _, err := JSON(v, nil); return err },
		"YAML":     func(v any) error { _, err := YAML(v, nil); return err },
		"identity": func(v any) error { _, err := Identity(v, nil); return err },
	}
	for name, f := range read {
		for _, v := range []any{Stamp{}, inside} {
			if err := f(v); !errors.Is(err, ErrStamp) {
				t.Errorf("%s of %v: %v, want %v", name, v, err, ErrStamp)
			}
		}
	}
}

// TestStampIsNotLookedFor where the answer is known without.
func TestStampIsNotLookedFor(t *testing.T) {
	inside := map[string]any{"a": Stamp{}}
	for _, other := range []any{nil, "a", []any{}, map[string]any{}, map[string]any{"a": nil, "b": nil}} {
		for _, pair := range [][2]any{{inside, other}, {other, inside}} {
			if same, err := Equal(pair[0], pair[1], nil); same || err != nil {
				t.Errorf("%v == %v is %v, %v", pair[0], pair[1], same, err)
			}
		}
	}
}

// computed draws values of each computed kind.
func computed() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return drawn(t, amounts().Draw(t, "quantity")) }),
		rapid.Custom(func(t *rapid.T) any {
			return time.Duration(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "duration"))
		}),
		rapid.Custom(func(t *rapid.T) any {
			seconds := rapid.Int64Range(-62167132800, 253402214399).Draw(t, "seconds") // A day within the years 0 to 9999.
			zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "zone"))
			return time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).In(zone)
		}),
	)
}

// TestCanonicalText: what a text says is an equal value, and that one has the same
// text.
func TestCanonicalText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := computed().Draw(t, "value")
		text, ok := Text(v)
		if !ok {
			t.Fatalf("%v has no text", v)
		}
		again, err := parseAs(KindOf(v), text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if order, ok := Compare(v, again); !ok || order != 0 {
			t.Fatalf("%v became %s and %v", v, text, again)
		}
		if twice, _ := Text(again); twice != text {
			t.Fatalf("%s became %s", text, twice)
		}
	})
}

// TestComputedLaws: sums have an opposite, and the order is kept by what is added.
func TestComputedLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, d := computed().Draw(t, "value"), computed().Draw(t, "other")
		sum, err := Add(v, d)
		if err != nil {
			return // Of other kinds, or too large.
		}
		other, err := Add(d, v)
		if order, ok := Compare(sum, other); err != nil || !ok || order != 0 {
			t.Fatalf("%v + %v = %v, and the other way round %v, %v", v, d, sum, other, err)
		}
		if KindOf(d) == Time {
			return
		}
		back, err := Subtract(sum, d)
		if order, ok := Compare(v, back); err != nil || !ok || order != 0 {
			t.Fatalf("%v + %v = %v, less that is %v, %v", v, d, sum, back, err)
		}
	})
}

// TestTimesOfOtherZones have a text although RFC 3339 has no seconds in a zone.
func TestTimesOfOtherZones(t *testing.T) {
	odd := noon.In(time.FixedZone("LMT", 3208))
	if text, ok := Text(odd); !ok || text != noonText {
		t.Errorf("%v became %s, %v", odd, text, ok)
	}
	if text, ok := Text(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)); ok {
		t.Errorf("the year 10000 became %s", text)
	}
	if v, err := Strip(time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), nil); !errors.Is(err, errYear) {
		t.Errorf("the year -1 became %v, %v", v, err)
	}
}

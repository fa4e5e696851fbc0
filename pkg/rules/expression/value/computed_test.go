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
		"plain values":            {"nothing is read into them", "1Gi", int64(1), "1Gi", int64(1)},
		"a text and a quantity":   {"it writes one", "1Gi", gibi, gibi, gibi},
		"a quantity and a number": {"it is one", gibi, int64(5), gibi, amount(t, "5")},
		"a text and a version":    {"it writes one", version(t, "1.2"), "v1.2.0", version(t, "1.2"), version(t, "1.2")},
		"a number and a version":  {"1.10 would be 1.1", version(t, "1.2"), 1.2, version(t, "1.2"), 1.2},
		"a text and a duration":   {"it writes one", "1d", time.Hour, 24 * time.Hour, time.Hour},
		"a number and a time":     {"since when?", noon, int64(5), noon, int64(5)},
		"two times":               {"they are comparable", noon, noon, noon, noon},
		"a time and a duration":   {"nothing makes one of the other", noon, time.Hour, noon, time.Hour},
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
		operator string
		a, b     any
		want     any
	}{
		"quantities":                          {"+", amount(t, "1Gi"), amount(t, "1Gi"), amount(t, "2Gi")},
		"a quantity less a number":            {"-", amount(t, "1500m"), int64(1), amount(t, "500m")},
		"a float less a quantity":             {"-", 0.5, amount(t, "1"), amount(t, "-500m")},
		"durations":                           {"+", time.Hour, time.Minute, 61 * time.Minute},
		"a duration and its text":             {"+", time.Hour, "1d", 25 * time.Hour},
		"a time and a duration":               {"+", noon, time.Hour, noon.Add(time.Hour)},
		"a time less seconds":                 {"-", noon, int64(30), noon.Add(-30 * time.Second)},
		"the text of a time and a duration":   {"+", noonText, time.Hour, noon.Add(time.Hour)},
		"a time less a time":                  {"-", noon.Add(time.Hour), noon, time.Hour},
		"a time less the text of one":         {"-", noon, "2026-01-31T13:00:00+01:00", time.Duration(0)},
		"an integer times a duration":         {"*", int64(3), time.Hour, 3 * time.Hour},
		"a duration by an integer":            {"/", time.Hour, int64(4), 15 * time.Minute},
		"a duration by a duration":            {"/", time.Hour, time.Minute, 60.0},
		"a duration by its text":              {"/", time.Hour, "40m", 1.5},
		"the longest duration":                {"+", time.Duration(math.MaxInt64 - 1), time.Duration(1), time.Duration(math.MaxInt64)},
		"an integer that is the sum of zeros": {"+", int64(0), time.Hour, time.Hour},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Compute(tt.a, tt.operator, tt.b)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestComputedArithmeticErrors(t *testing.T) {
	const long, year = "the duration is longer than 292 years", "the time is outside of the years 0 to 9999"
	tests := map[string]struct {
		operator string
		a, b     any
		want     string
	}{
		"times":                         {"+", noon, noon, "a time + a time has no meaning"},
		"a duration less a time":        {"-", time.Hour, noon, "a duration - a time has no meaning"},
		"a time and a float":            {"+", noon, 1.5, "a time + a float has no meaning"},
		"a duration times a float":      {"*", time.Hour, 1.5, "a duration * a float has no meaning"},
		"a quantity times a number":     {"*", amount(t, "1"), int64(2), "a quantity * an integer has no meaning"},
		"quantities divided":            {"/", amount(t, "1"), amount(t, "2"), "a quantity / a quantity has no meaning"},
		"a quantity and a duration":     {"+", amount(t, "1"), time.Hour, "a quantity + a duration has no meaning"},
		"versions":                      {"+", version(t, "1"), version(t, "2"), "a version + a version has no meaning"},
		"a quantity and a word":         {"+", amount(t, "1"), "x", `"x" is not a quantity; write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`},
		"a time and a broken time":      {"-", noon, "2026-13-01", `"2026-13-01" is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"too long a sum":                {"+", time.Duration(math.MaxInt64), time.Duration(1), long},
		"too long a difference":         {"-", time.Duration(-math.MaxInt64), time.Duration(1), long},
		"too long a product":            {"*", time.Duration(math.MaxInt64), int64(2), long},
		"too long a time in between":    {"-", noon.AddDate(7000, 0, 0), noon, long},
		"a duration by zero":            {"/", time.Hour, int64(0), "division by zero"},
		"a duration by no duration":     {"/", time.Hour, time.Duration(0), "division by zero"},
		"too late":                      {"+", noon.AddDate(7900, 0, 0), "106000d", year},
		"too early":                     {"-", time.Date(10, 1, 1, 0, 0, 0, 0, time.UTC), "10000d", year},
		"a moment less that is no time": {"-", Stamp{}, noon, "stamp() - a time has no meaning"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Compute(tt.a, tt.operator, tt.b)
			if _, isFault := errors.AsType[*Fault](err); !isFault || err.Error() != tt.want || got != nil {
				t.Errorf("%v, %v, want %s", got, err, tt.want)
			}
		})
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
		"versions, same":          {"metadata has no order", version(t, "1.0.0+a"), version(t, "1.0.0+b"), 0, true, true},
		"times":                   {"by moment", noon, noon.Add(1), -1, true, false},
		"times, same":             {"the zone is how it is written", noon, elsewhere, 0, true, true},
		"a quantity and a number": {"it is not the same kind", amount(t, "1"), int64(1), 0, false, false},
		"a duration and a text":   {"it is not the same kind", time.Hour, "1h0m0s", 0, false, false},
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

// TestComputedLaws: sums have an opposite, and the order is kept by what is added.
func TestComputedLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, d := computed().Draw(t, "value"), computed().Draw(t, "other")
		sum, err := Compute(v, "+", d)
		if err != nil {
			return // Of other kinds, or too large.
		}
		other, err := Compute(d, "+", v)
		if order, ok := Compare(sum, other); err != nil || !ok || order != 0 {
			t.Fatalf("%v + %v = %v, and the other way round %v, %v", v, d, sum, other, err)
		}
		if KindOf(d) == Time {
			return
		}
		back, err := Compute(sum, "-", d)
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

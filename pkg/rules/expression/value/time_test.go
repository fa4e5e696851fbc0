package value_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestParseTime(t *testing.T) {
	utc := time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		reason string
		v      any
		want   time.Time
	}{
		"as Kubernetes writes it": {"Most times come from objects.", "2026-01-31T12:00:00Z", utc},
		"with an offset":          {"Any zone will do.", "2026-01-31T13:30:00+01:30", utc},
		"with a fraction":         {"MicroTime has one.", "2026-01-31T12:00:00.000001Z", utc.Add(time.Microsecond)},
		"a time":                  {"It is one already.", utc, utc},
	} {
		if got, err := value.ParseTime(tt.v); err != nil || !got.Equal(tt.want) {
			t.Errorf("%s: ParseTime(%v) = %v, %v, want %v: %s", name, tt.v, got, err, tt.want, tt.reason)
		}
	}
	for name, tt := range map[string]struct {
		reason string
		v      any
		want   string
	}{
		"nothing":       {"An empty text is no time.", "", `"" is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"a date":        {"Which moment of it?", "2026-01-31", `"2026-01-31" is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"no zone":       {"Which zone?", "2026-01-31T12:00:00", `"2026-01-31T12:00:00" is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"no such day":   {"Days are not carried over.", "2026-02-30T12:00:00Z", `"2026-02-30T12:00:00Z" is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"too long":      {"Reading takes time.", "2026-01-31T12:00:00." + strings.Repeat("0", 100) + "Z", `"2026-01-31T12:00:00.0000000000000000000000000000000000000000..." is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"another value": {"Seconds since 1970 are nothing that Kubernetes writes.", int64(5), "want a time, have an integer"},
	} {
		checkFault(t, name, tt.reason, tt.want, func() error { _, err := value.ParseTime(tt.v); return err })
	}
}

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		reason string
		v      any
		want   time.Duration
	}{
		"as Go writes it":       {"metav1.Duration is a text of that form.", "1h30m0.5s", 90*time.Minute + 500*time.Millisecond},
		"days":                  {"Go has none.", "2d", 2 * day},
		"weeks":                 {"Nor weeks.", "3w", 21 * day},
		"all units":             {"They may follow one another.", "1w2d3h4m5s", 9*day + 3*time.Hour + 4*time.Minute + 5*time.Second},
		"milliseconds":          {"An m is not a unit of its own there.", "1d5ms", day + 5*time.Millisecond},
		"negative":              {"The sign is that of the whole.", "-1d12h", -36 * time.Hour},
		"nothing":               {"Go takes a zero without a unit.", "0", 0},
		"no days":               {"A zero is a number of days.", "0d", 0},
		"seconds":               {"Many fields of Kubernetes are seconds.", int64(90), 90 * time.Second},
		"negative seconds":      {"They too may lie in the past.", int64(-90), -90 * time.Second},
		"the longest":           {"It is as long as Go's.", "106751d23h47m16.854775807s", math.MaxInt64},
		"the longest, negative": {"Its opposite is one, too.", "-106751d23h47m16.854775807s", -math.MaxInt64},
		"a duration":            {"It is one already.", time.Minute, time.Minute},
	} {
		if got, err := value.ParseDuration(tt.v); err != nil || got != tt.want {
			t.Errorf("%s: ParseDuration(%v) = %v, %v, want %v: %s", name, tt.v, got, err, tt.want, tt.reason)
		}
	}
	for _, text := range []string{
		"", "-", "d", "5", "1x", "1 h", "1h ", "--1h", "-+1h", "+1h", "1d-1h", "1d+1h", "1d1w", "1w1w", "1.5d", "-1w-1d", "1d1",
		"1e3s", strings.Repeat("0", 100) + "s",
	} {
		want := `"` + value.Excerpt(text) + `" is not a duration; write it with units, such as "90s", "1h30m", "2d" or "1w"`
		checkFault(t, text, "it is not a duration", want, func() error { _, err := value.ParseDuration(text); return err })
	}
	for name, tt := range map[string]struct {
		v    any
		want string
	}{
		"too many seconds": {int64(math.MaxInt64), "9223372036854775807 seconds is longer than the 292 years of a duration"},
		"too few seconds":  {int64(math.MinInt64), "-9223372036854775808 seconds is longer than the 292 years of a duration"},
		"just too long":    {"106751d23h47m16.854775808s", `"106751d23h47m16.854775808s" is longer than the 292 years of a duration`},
		"too many days":    {"-106752d", `"-106752d" is longer than the 292 years of a duration`},
		"too many weeks":   {"15251w", `"15251w" is longer than the 292 years of a duration`},
		"far too many":     {"99999999999d", `"99999999999d" is longer than the 292 years of a duration`},
		"too many hours":   {"9999999h", `"9999999h" is longer than the 292 years of a duration`},
		"another value":    {1.5, "want a duration, have a float"},
	} {
		checkFault(t, name, "it is not a duration", tt.want, func() error { _, err := value.ParseDuration(tt.v); return err })
	}
}

func checkFault(t *testing.T, name, reason, want string, parse func() error) {
	t.Helper()
	err := parse()
	if fault, ok := errors.AsType[*value.Fault](err); !ok || fault.Error() != want {
		t.Errorf("%s: error %v, want %s: %s", name, err, want, reason)
	}
}

// FuzzParseDuration compares with Go what Go understands, and with itself what
// weeks and days were put before.
func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"", "0", "1h30m", "-1w2d3h", "1d", "1.5h", "5ms", "106751d23h47m16.854775807s", "1w-1h", "9999999999w"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := value.ParseDuration(text)
		if err == nil && !strings.ContainsAny(text, "wd") {
			if want, err := time.ParseDuration(text); err != nil || got != want {
				t.Errorf("ParseDuration(%q) = %v, for Go it is %v, %v", text, got, want, err)
			}
		}
		if err != nil || got < 0 || strings.ContainsAny(text, "wd-") || len(text) > 60 {
			return
		}
		const days = 8 * 24 * time.Hour
		more, err := value.ParseDuration("1w1d" + text)
		if got <= math.MaxInt64-days && (err != nil || more != got+days) {
			t.Errorf("ParseDuration(%q) = %v, and with 1w1d before it %v, %v", text, got, more, err)
		}
	})
}

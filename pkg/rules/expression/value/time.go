package value

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// Stamp is the value of stamp(): the moment at which something is written, which
// only whoever writes it knows. No operator reads it.
type Stamp struct{}

// ParseTime reads a time, or a string in the form of RFC 3339.
func ParseTime(v any) (time.Time, error) {
	switch v := v.(type) {
	case time.Time:
		return v, nil
	case string:
		if len(v) <= longestTime {
			// Left to itself, Go would take the zone of the machine where its offset is the
			// same, and change it over the year.
			if t, err := time.ParseInLocation(time.RFC3339, v, time.UTC); err == nil {
				return t, nil
			}
		}
		return time.Time{}, Faultf("%q is not a time", Excerpt(v)).
			WithHint(`write it as RFC 3339, such as "2026-01-31T12:00:00Z"`)
	default:
		return time.Time{}, Faultf("want a time, have %s", KindOf(v))
	}
}

// longestTime is in bytes, and more than a time or a duration takes.
const longestTime = 64

// longUnits are those that Go's durations do not have.
var longUnits = regexp.MustCompile(`^(?:([0-9]{1,9})w)?(?:([0-9]{1,9})d)?`)

// writtenDuration is a duration of any length.
var writtenDuration = regexp.MustCompile(`^-?([0-9]+w)?([0-9]+d)?([0-9]+(\.[0-9]*)?(h|m|s|ms|us|µs|ns))*$`)

// ParseDuration reads a duration, a string such as "1w2d3h4m5s", or an integer
// number of seconds.
func ParseDuration(v any) (time.Duration, error) {
	switch v := v.(type) {
	case time.Duration:
		return v, nil
	case int64:
		if v > math.MaxInt64/int64(time.Second) || v < math.MinInt64/int64(time.Second) {
			return 0, Faultf("%d seconds is longer than the 292 years of a duration", v)
		}
		return time.Duration(v) * time.Second, nil
	case string:
		if len(v) <= longestTime {
			rest, negative := strings.CutPrefix(v, "-")
			if d, ok := unsignedDuration(rest); ok && negative {
				return -d, nil
			} else if ok {
				return d, nil
			}
		}
		if len(v) <= longestTime && writtenDuration.MatchString(v) && strings.ContainsAny(v, "wdhms") {
			return 0, Faultf("%q is longer than the 292 years of a duration", v)
		}
		return 0, Faultf("%q is not a duration", Excerpt(v)).
			WithHint(`write it with units, such as "90s", "1h30m", "2d" or "1w"`)
	default:
		return 0, Faultf("want a duration, have %s", KindOf(v))
	}
}

// unsignedDuration leaves to Go what it knows, and days as hours.
func unsignedDuration(text string) (time.Duration, bool) {
	long := longUnits.FindStringSubmatch(text)
	weeks, _ := strconv.Atoi(long[1])
	days, _ := strconv.Atoi(long[2])
	rest := text[len(long[0]):]
	switch {
	case strings.ContainsAny(rest, "+-"):
		return 0, false
	case rest == "0": // Which needs no unit.
		rest = "0s"
	}
	if long[0] != "" {
		rest = strconv.Itoa(24*(7*weeks+days)) + "h" + rest
	}
	d, err := time.ParseDuration(rest)
	return d, err == nil
}

// Instant is the moment of an evaluation. It collects when the answers that
// were given for that moment will change. A nil Instant is no moment: what asks
// for one fails. It is not safe for concurrent use.
type Instant struct {
	now, next time.Time
	zone      string
}

// NewInstant returns the moment now, of which the wall clock counts.
func NewInstant(now time.Time) *Instant { return &Instant{now: now.Round(0)} }

// Now returns the moment.
func (i *Instant) Now() time.Time { return i.now }

// ChangesAt records that an answer that was given changes at a moment. What lies
// in the past changes nothing any more.
func (i *Instant) ChangesAt(at time.Time) {
	if at.After(i.now) && (i.next.IsZero() || at.Before(i.next)) {
		i.next = at
	}
}

// Next returns the earliest moment at which an answer changes, or zero where none
// does.
func (i *Instant) Next() time.Time { return i.next }

// AskedIn records the zone that a question about the time has named.
func (i *Instant) AskedIn(zone string) {
	if zone != "" {
		i.zone = zone
	}
}

// TakeZone returns the zone that was named last and forgets it, empty where none was.
func (i *Instant) TakeZone() (zone string) {
	zone, i.zone = i.zone, ""
	return zone
}

// Version is a semantic version. Use Equal, since == also sees build
// metadata, which has no place in the order of versions.
type Version struct {
	text string // Canonical, with its v and its metadata; empty for 0.0.0.
}

// ParseVersion reads a version, or a string such as "v1.31.0-rc.1". A leading v
// may be missing, and so may zeros at the end, as in "1.31".
func ParseVersion(v any) (Version, error) {
	switch v := v.(type) {
	case Version:
		return v, nil
	case string:
		const longest = 128
		text := "v" + strings.TrimPrefix(v, "v")
		if len(v) > longest || !semver.IsValid(text) {
			return Version{}, Faultf("%q is not a version", Excerpt(v)).
				WithHint(`write it as major.minor.patch, such as "1.31.0" or "v1.31.0-rc.1"`)
		}
		return Version{text: semver.Canonical(text) + semver.Build(text)}, nil
	default:
		return Version{}, Faultf("want a version, have %s", KindOf(v))
	}
}

// Equal reports whether neither version comes before the other.
func (v Version) Equal(w Version) bool { return v.compare(w) == 0 }

func (v Version) compare(w Version) int { return semver.Compare(v.canonical(), w.canonical()) }

func (v Version) canonical() string {
	if v.text == "" {
		return "v0.0.0"
	}
	return v.text
}

// String returns the version with all three numbers and without a leading v.
func (v Version) String() string { return v.canonical()[1:] }

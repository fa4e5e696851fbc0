package function_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// field is a field of a cron specification: nil for *.
type field []int

func (f field) String() string {
	if f == nil {
		return "*"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint([]int(f)), "[]"), " ", ",")
}

func (f field) has(n int) bool { return f == nil || slices.Contains(f, n) }

// cron is a specification that a clock can be compared with.
type cron struct{ minute, hour, day, month, weekday field }

func (c cron) String() string {
	return fmt.Sprintf("%v %v %v %v %v", c.minute, c.hour, c.day, c.month, c.weekday)
}

// shows reports whether a window begins when a clock shows that.
func (c cron) shows(clock time.Time) bool {
	day, weekday := c.day.has(clock.Day()), c.weekday.has(int(clock.Weekday()))
	if c.day != nil && c.weekday != nil {
		day = day || weekday
	} else {
		day = day && weekday
	}
	return day && c.minute.has(clock.Minute()) && c.hour.has(clock.Hour()) && c.month.has(int(clock.Month())) && clock.Second() == 0
}

// TestWindowAgainstClock compares windows with looking at a clock every minute.
func TestWindowAgainstClock(t *testing.T) {
	numbers := func(low, high int) *rapid.Generator[field] {
		return rapid.Custom(func(t *rapid.T) field {
			return rapid.SliceOfNDistinct(rapid.IntRange(low, high), 1, 4, rapid.ID).Draw(t, "numbers")
		})
	}
	all := rapid.Just(field(nil))
	rapid.Check(t, func(t *rapid.T) {
		name := zones.Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		spec := cron{
			minute:  rapid.OneOf(all, numbers(0, 59)).Draw(t, "minute"),
			hour:    rapid.OneOf(all, numbers(0, 23), numbers(0, 3)).Draw(t, "hour"),
			day:     rapid.OneOf(all, all, numbers(1, 31)).Draw(t, "day"),
			month:   rapid.OneOf(all, all, numbers(1, 12)).Draw(t, "month"),
			weekday: rapid.OneOf(all, all, numbers(0, 6)).Draw(t, "weekday"),
		}
		length := time.Duration(rapid.Int64Range(1, 2*24*3600).Draw(t, "seconds")) * time.Second
		change, err := time.Parse(time.RFC3339, rapid.SampledFrom(changes[name]).Draw(t, "change"))
		if err != nil {
			t.Fatal(err)
		}
		now := change.Add(time.Duration(rapid.Int64Range(-24*3600, 24*3600).Draw(t, "after")) * time.Second)

		var want any
		start := now.Truncate(time.Minute)
		for ; start.After(now.Add(-length)); start = start.Add(-time.Minute) {
			if spec.shows(start.In(zone)) {
				want = map[string]any{
					"start": start.In(zone).Format(time.RFC3339), "end": start.Add(length).In(zone).Format(time.RFC3339),
				}
				break
			}
		}
		source := fmt.Sprintf("window(%q, %q, %q)", spec, length, name)
		got, next, err := evalAt(source, now)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%s at %v: error %v, value (-want +got):\n%s", source, now, err, diff)
		}
		checkNext(t, spec, zone, source, now, next)
	})
}

// checkNext makes sure that no window begins before the announced time, and that
// one does then unless one ends.
func checkNext(t *rapid.T, spec cron, zone *time.Location, source string, now, next time.Time) {
	const most = 3 * 24 * 60
	begin := now.Truncate(time.Minute)
	for i := 1; i < most; i++ {
		minute := begin.Add(time.Duration(i) * time.Minute)
		if !next.IsZero() && !minute.Before(next) {
			break
		}
		if spec.shows(minute.In(zone)) {
			t.Fatalf("%s at %v announced %v, but a window begins at %v", source, now, next, minute)
		}
	}
	if next.IsZero() {
		return
	}
	before, _, err := evalAt(source, next.Add(-1))
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := evalAt(source, next)
	if err != nil || cmp.Equal(before, after) {
		t.Fatalf("%s at %v announced %v, but then still gives %v, %v", source, now, next, after, err)
	}
}

// FuzzWindow makes sure that no texts break the functions of windows, and that
// they agree.
func FuzzWindow(f *testing.F) {
	f.Add("0 22 * * 1-5", "8h", "Europe/Berlin", int64(1767225600))
	f.Add("@weekly", "1w", "UTC", int64(0))
	f.Add("*/7,1-9/3 ? 29,30 FEB *", "1ns", "Africa/Casablanca", int64(4102444800))
	f.Add("TZ=", "-1d", "Local", int64(-1))
	f.Add("@every 1s", "292y", "../UTC", int64(1<<40))
	f.Add(", , , , ,", "0", "", int64(-62135596800))
	f.Fuzz(func(t *testing.T, spec, length, zone string, seconds int64) {
		const most = 1 << 37 // The year 6325, and back.
		now := time.Unix(seconds%most, seconds&0x3fffffff%1e9).UTC()
		args := list(spec, length, zone)
		open, next, err := evalAt("inWindow(list[0], list[1], list[2])", now, args)
		bounds, change, again := evalAt("window(list[0], list[1], list[2])", now, args)
		if err != nil {
			if again == nil {
				t.Errorf("inWindow(%q) at %v: %v, but window gives %v", args, now, err, bounds)
			}
			return
		}
		if again == nil && open != (bounds != nil) {
			t.Errorf("inWindow(%q) at %v = %v, but window gives %v", args, now, open, bounds)
		}
		if !next.IsZero() && (!next.After(now) || again == nil && next.Before(change)) {
			t.Errorf("inWindow(%q) at %v announced %v, window %v", args, now, next, change)
		}
		if isOpen, _ := open.(bool); isOpen || next.IsZero() {
			return
		}
		for at, want := range map[time.Time]any{next.Add(-1): false, next: true} {
			if got, _, err := evalAt("inWindow(list[0], list[1], list[2])", at, args); err != nil || got != want {
				t.Errorf("inWindow(%q) at %v = %v, %v, but %v was announced", args, at, got, err, next)
			}
		}
	})
}

package function_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWindow(t *testing.T) {
	between := func(start, end string) any { return map[string]any{"start": start, "end": end} }
	tests := map[string]struct {
		reason string
		args   string
		now    string
		want   any // of window; that of inWindow is whether this is not nil
		next   string
		ends   string // what inWindow announces, if that is not next
	}{
		"overlapping": {
			reason: "The one that began last counts, and another begins before it ends; one of them is always open.",
			args:   `"*/10 * * * *", "1h"`, now: "2026-01-01T12:05:00Z",
			want: between("2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z"),
			next: "2026-01-01T12:10:00Z", ends: "2026-01-01T13:10:00Z",
		},
		"longer than the time between starts, much": {
			reason: "Of half a million open windows, the last is found.",
			args:   `"* * * * *", "365d"`, now: "2026-01-01T12:00:30Z",
			want: between("2026-01-01T12:00:00Z", "2027-01-01T12:00:00Z"),
			next: "2026-01-01T12:01:00Z", ends: "2027-01-01T12:01:00Z",
		},
		"a date that never comes": {
			reason: "Nothing is announced that does not happen.",
			args:   `"0 0 30 2 *", "1h"`, now: "2026-01-01T00:00:00Z",
		},
		"a date that comes in eight years": {
			reason: "1900, 2100 and 2200 have no 29th of February.",
			args:   `"0 12 29 2 *", "1h", "Europe/Berlin"`, now: "2096-03-01T00:00:00Z",
			next: "2104-02-29T11:00:00Z",
		},
		"a date that came eight years ago": {
			reason: "Nor is a window lost that lasts as long as that.",
			args:   `"0 12 29 2 *", "3000d", "Europe/Berlin"`, now: "2104-02-29T10:59:59Z",
			want: between("2096-02-29T12:00:00+01:00", "2104-05-18T13:00:00+02:00"),
			next: "2104-02-29T11:00:00Z", ends: "2112-05-17T11:00:00Z",
		},
		"the last day of a leap year": {
			reason: "Go believes that day to be in the next year: golang/go#81583.",
			args:   `"0 22 * * *", "8h", "Europe/Berlin"`, now: "2096-12-31T12:00:00Z",
			next: "2096-12-31T21:00:00Z",
		},
		"a change by half an hour": {
			reason: "Lord Howe turns back from 2:00 to 1:30, and two o'clock comes half an hour later.",
			args:   `"0 2 * * *", "5m", "Australia/Lord_Howe"`, now: "2026-04-04T14:30:00Z",
			next: "2026-04-04T15:30:00Z",
		},
		"a time without a fixed zone": {
			reason: "Before 1893, clocks in Berlin were 53 minutes and 28 seconds ahead.",
			args:   `"30 10 * * *", "1h", "Europe/Berlin"`, now: "1880-01-01T00:00:00Z",
			next: "1880-01-01T09:36:32Z",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, next, err := evalAt(fmt.Sprintf("window(%s)", tt.args), moment(t, tt.now))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("window(%s) at %s: %s (-want +got):\n%s", tt.args, tt.now, tt.reason, diff)
			}
			if !next.Equal(moment(t, tt.next)) {
				t.Errorf("window(%s) at %s announced %v, want %s: %s", tt.args, tt.now, next, tt.next, tt.reason)
			}
			if tt.ends == "" {
				tt.ends = tt.next
			}
			got, next, err = evalAt(fmt.Sprintf("inWindow(%s)", tt.args), moment(t, tt.now))
			if got != (tt.want != nil) || !next.Equal(moment(t, tt.ends)) || err != nil {
				t.Errorf("inWindow(%s) at %s = %v, announced %v, %v, want %v and %s: %s",
					tt.args, tt.now, got, next, err, tt.want != nil, tt.ends, tt.reason)
			}
		})
	}
}

// TestWindowsOfManyObjects is a legitimate load: a rule that asks for each of a
// thousand pods, small as they are.
func TestWindowsOfManyObjects(t *testing.T) {
	for _, source := range []string{
		`count(1..1000, inWindow("0 22 * * 1-5", "8h", "Europe/Berlin"))`,
		`count(1..1000, window("0 22 * * 1-5", "8h", "Europe/Berlin") != nil)`,
		`count(1..1000, inWindow("*/5 * * * *", "5m"))`,
		`count(1..1000, olderThan("2025-12-31T00:00:00Z", "1d") && after("2025-12-31T00:00:00" + "Z"))`,
	} {
		if got, _, err := evalAt(source, newYear); got != int64(1000) || err != nil {
			t.Errorf("%s = %v, %v", source, got, err)
		}
	}
}

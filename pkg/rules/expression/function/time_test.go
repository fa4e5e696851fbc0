package function_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// evalAt evaluates at a moment, with the names list and condition if they are given.
func evalAt(source string, now time.Time, names ...any) (v any, next time.Time, err error) {
	p, err := expression.Compile(source, expression.NewScope("list", "condition"))
	if err != nil {
		return nil, time.Time{}, err
	}
	at := value.NewInstant(now)
	v, err = p.Eval(&expression.Evaluation{Names: slots(names), Budget: value.NewBudget(0), Instant: at})
	return v, at.Next(), err
}

// slots are the values of names in their order.
type slots []any

func (s slots) Value(slot int) (any, error) { return s[slot], nil }

// moment reads a time, "" as none.
func moment(t testing.TB, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestTime(t *testing.T) {
	tests := map[string]struct {
		reason string
		source string
		now    string
		want   any
		next   string
	}{
		"after, before it": {
			"The answer changes when the time comes.",
			`after("2026-01-01T12:00:00Z")`, "2026-01-01T11:59:59Z", false, "2026-01-01T12:00:00Z",
		},
		"after, at it": {
			"The moment itself counts, or looking again then would be in vain.",
			`after("2026-01-01T12:00:00Z")`, "2026-01-01T12:00:00Z", true, "",
		},
		"before, before it": {
			"It is the opposite of after.",
			`before("2026-01-01T12:00:00Z")`, "2026-01-01T11:00:00Z", true, "2026-01-01T12:00:00Z",
		},
		"olderThan, younger": {
			"The answer changes when the age is reached.",
			`olderThan("2026-01-01T12:00:00Z", "1d")`, "2026-01-02T11:59:59.999Z", false, "2026-01-02T12:00:00Z",
		},
		"olderThan, exactly": {
			"It is inclusive.",
			`olderThan("2026-01-01T12:00:00Z", "1d")`, "2026-01-02T12:00:00Z", true, "",
		},
		"olderThan, beyond what can be written": {
			"A time that no calendar has room for is still in the future.",
			`olderThan("9999-12-31T23:59:59Z", "15000w")`, "2026-01-01T00:00:00Z", false, "later",
		},
		"the earlier of two": {
			"What changes first is announced.",
			`after("2026-01-03T00:00:00Z") || after("2026-01-02T00:00:00Z")`, "2026-01-01T00:00:00Z", false, "2026-01-02T00:00:00Z",
		},
		"what is not asked": {
			"What decided nothing is not announced.",
			`before("2026-01-03T00:00:00Z") || after("2026-01-02T00:00:00Z")`, "2026-01-01T00:00:00Z", true, "2026-01-03T00:00:00Z",
		},
		"each element": {
			"In a predicate each question counts.",
			`count(["2026-01-05T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z"], after(#))`, "2026-01-02T00:00:00Z", int64(1), "2026-01-03T00:00:00Z",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, next, err := evalAt(tt.source, moment(t, tt.now))
			if err != nil || got != tt.want {
				t.Errorf("%s at %s = %v, %v, want %v: %s", tt.source, tt.now, got, err, tt.want, tt.reason)
			}
			if tt.next == "later" {
				if next.Year() < 10_000 {
					t.Errorf("announced %v: %s", next, tt.reason)
				}
			} else if !next.Equal(moment(t, tt.next)) {
				t.Errorf("%s at %s announced %v, want %s: %s", tt.source, tt.now, next, tt.next, tt.reason)
			}
		})
	}
}

// TestTimeConstants makes sure that what is wrong with a constant is found
// without an evaluation, at its place.
func TestTimeConstants(t *testing.T) {
	tests := map[string]struct {
		source  string
		at      string
		message string
	}{
		"a time":             {`true || after("2026-13-01T00:00:00Z")`, `"2026-13-01T00:00:00Z"`, `"2026-13-01T00:00:00Z" is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"a duration":         {`olderThan("2026-01-01T00:00:00Z", "1 day")`, `"1 day"`, `"1 day" is not a duration; write it with units, such as "90s", "1h30m", "2d" or "1w"`},
		"another kind":       {`any([], after(5))`, "5", "after wants a string or a time, have an integer"},
		"too few fields":     {`inWindow("0 22 * *", "8h")`, `"0 22 * *"`, `"0 22 * *" is not a cron schedule: expected exactly 5 fields, found 4: [0 22 * *]; write minute, hour, day of month, month and day of week, such as "30 22 * * 1-5", or "@daily"`},
		"Sunday as 7":        {`inWindow("0 22 * * 7", "8h")`, `"0 22 * * 7"`, `"0 22 * * 7" is not a cron schedule; Sunday is 0, or SUN`},
		"the last day":       {`inWindow("0 22 L * *", "8h")`, `"0 22 L * *"`, `"0 22 L * *" is not a cron schedule; write minute, hour, day of month, month and day of week, such as "30 22 * * 1-5", or "@daily"`},
		"a field of nothing": {`inWindow("0 , * * *", "8h")`, `"0 , * * *"`, `"0 , * * *" is not a cron schedule; write minute, hour, day of month, month and day of week, such as "30 22 * * 1-5", or "@daily"`},
		"every":              {`inWindow("@every 5m", "1m")`, `"@every 5m"`, `"@every 5m" is not a cron schedule; windows begin at times of the day: write "*/15 * * * *" for every 15 minutes`},
		"a zone inside":      {`window("CRON_TZ=Asia/Tokyo 0 22 * * *", "1m")`, `"CRON_TZ=Asia/Tokyo 0 22 * * *"`, `"CRON_TZ=Asia/Tokyo 0 22 * * *" is not a cron schedule; give the time zone as the last argument`},
		"no time":            {`inWindow("@daily", "0s")`, `"0s"`, `a window must last longer than 0s; write a duration such as "8h"`},
		"no such zone":       {`inWindow("@daily", "1h", "Europe/Berln")`, `"Europe/Berln"`, `there is no time zone "Europe/Berln"; write a name of the IANA database, such as "UTC" or "Europe/Berlin"`},
		"an empty zone":      {`inWindow("@daily", "1h", "")`, `""`, `the time zone is empty; write a name of the IANA database, such as "UTC" or "Europe/Berlin"`},
		"the machine's zone": {`inWindow("@daily", "1h", "Local")`, `"Local"`, `the time zone "Local" is another one on another machine; write a name of the IANA database, such as "UTC" or "Europe/Berlin"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := expression.Compile(tt.source, expression.NewScope())
			located, ok := errors.AsType[*expression.Error](err)
			if !ok {
				t.Fatalf("%s: error %v, want an *Error", tt.source, err)
			}
			if diff := cmp.Diff(tt.message, located.Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.source, diff)
			}
			if at := tt.source[located.Offset : located.Offset+located.Length]; at != tt.at {
				t.Errorf("%s: the error is at %s, want %s", tt.source, at, tt.at)
			}
		})
	}
}

// TestTimeErrors are those of values that only an evaluation knows.
func TestTimeErrors(t *testing.T) {
	tests := map[string]struct {
		reason string
		source string
		now    string
		want   string
	}{
		"a time":            {"The place is that of the argument.", `after("2026-01-" + "01")`, "2026-01-01T00:00:00Z", `"2026-01-01" is not a time; write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
		"a zone":            {"So it is for each argument.", `inWindow("@daily", "1h", "Mo" + "on")`, "2026-01-01T00:00:00Z", `there is no time zone "Moon"; write a name of the IANA database, such as "UTC" or "Europe/Berlin"`},
		"a schedule":        {"A schedule may come from an object.", `inWindow("@" + "never", "1h")`, "2026-01-01T00:00:00Z", `"@never" is not a cron schedule: unrecognized descriptor: @never; write minute, hour, day of month, month and day of week, such as "30 22 * * 1-5", or "@daily"`},
		"a long schedule":   {"No list of minutes is that long.", `inWindow(repeat("0,", 200) + "0 * * * *", "1h")`, "2026-01-01T00:00:00Z", `"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,..." is not a cron schedule; write minute, hour, day of month, month and day of week, such as "30 22 * * 1-5", or "@daily"`},
		"a window too late": {"RFC 3339 has four digits for the year.", `window("0 0 * * *", "2w")`, "9999-12-31T00:00:00Z", "a time of the year 10000 cannot be written as RFC 3339"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := evalAt(tt.source, moment(t, tt.now))
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tt.want, message); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", tt.source, tt.reason, diff)
			}
		})
	}
}

// TestNoInstant makes sure that a function of time says so where there is none.
func TestNoInstant(t *testing.T) {
	for source, want := range map[string]string{
		`after("2026-01-01T00:00:00Z")`:                 "after needs the time, and there is none here",
		`setCondition([], {type: "A", status: "True"})`: "setCondition needs the time, and there is none here",
	} {
		p, err := expression.Compile(source, expression.NewScope())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Eval(&expression.Evaluation{}); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", source, err, want)
		}
	}
}

// TestStampGoesWhereValuesGo makes sure that nothing on the way to a body reads
// a stamp.
func TestStampGoesWhereValuesGo(t *testing.T) {
	for _, source := range []string{
		"stamp()", "let at = stamp(); at", "true ? stamp() : 1", "nil ?? stamp()", "{a: stamp()}.a", "first([stamp()])",
	} {
		v, next, err := evalAt(source, newYear)
		if v != any(value.Stamp{}) || err != nil || !next.IsZero() {
			t.Errorf("%s = %v, announced %v, %v", source, v, next, err)
		}
	}
}

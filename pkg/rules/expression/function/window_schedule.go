package function

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

const (
	maxCron   = 256 // Bytes.
	cronSteps = 1000
	cronBytes = 16 << 10
)

// schedule is the starts of windows: each minute whose wall clock matches a cron
// specification.
type schedule struct {
	// calendar is in UTC, where clocks are never changed: in other zones the library
	// loses starts on days that begin or end with a change, and answers differently
	// depending on where it starts to search.
	calendar *cron.SpecSchedule
	// never says that no date matches, such as the 30th of February.
	never bool
}

// readCron reads a cron specification of five fields or a name such as @daily.
func readCron(b *value.Budget, v any) (any, error) {
	if err := b.Steps(cronSteps); err != nil {
		return nil, err
	}
	if err := b.Bytes(cronBytes); err != nil {
		return nil, err
	}
	text, _ := v.(string)
	wrong := value.Faultf("%q is not a cron schedule", value.Excerpt(text)).
		WithHint(`write minute, hour, day of month, month and day of week, such as "30 22 * * 1-5", or "@daily"`)
	switch {
	case len(text) > maxCron:
		return nil, wrong
	case strings.Contains(text, "TZ="):
		return nil, wrong.WithHint("give the time zone as the last argument")
	case strings.HasPrefix(text, "@every"):
		return nil, wrong.WithHint(`windows begin at times of the day: write "*/15 * * * *" for every 15 minutes`)
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return nil, cronFault(wrong, err.Error())
	}
	calendar, ok := parsed.(*cron.SpecSchedule)
	if !ok || !complete(calendar) {
		return nil, wrong
	}
	calendar.Location = time.UTC
	// A date that can ever be is in a leap year.
	leap := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	return &schedule{calendar: calendar, never: calendar.Next(leap.Add(-time.Second)).IsZero()}, nil
}

// cronFault adds what the library says, where it says it to users.
func cronFault(wrong *value.Fault, reason string) *value.Fault {
	switch {
	case strings.Contains(reason, "strconv"):
		return wrong
	case strings.Contains(reason, "(7) above maximum (6)"):
		return wrong.WithHint("Sunday is 0, or SUN")
	default:
		return value.Faultf("%s: %s", wrong.Message, reason).WithHint("%s", wrong.Hint)
	}
}

// complete reports whether every field matches something: the library takes ","
// for a field.
func complete(s *cron.SpecSchedule) bool {
	return s.Minute != 0 && s.Hour != 0 && s.Dom != 0 && s.Month != 0 && s.Dow != 0
}

// horizon is how far ahead starts are sought. The 29th of February may be eight
// years away.
const horizon = 12

// next returns the first start after t, or zero where there is none. An hour
// that clocks skip has no starts, one that they repeat has them twice.
func (s *schedule) next(b *value.Budget, t time.Time, zone *time.Location) (time.Time, error) {
	if s.never {
		return time.Time{}, b.Steps(10)
	}
	end := t.AddDate(horizon, 0, 0)
	for t = t.Add(1); t.Before(end); {
		_, offset := t.In(zone).Zone()
		shift := time.Duration(offset) * time.Second
		start, found, err := s.match(b, t.UTC().Add(shift))
		if err != nil {
			return time.Time{}, err
		}
		start = start.Add(-shift)
		change := nextChange(t, zone)
		switch {
		case !change.IsZero() && !start.Before(change):
			t = change // The clock has changed before it shows the start.
		case found:
			return start, nil
		default:
			t = start
		}
	}
	return time.Time{}, nil
}

// nextChange returns a time after t up to which the clocks of a zone are not
// changed, or zero if they never are again.
func nextChange(t time.Time, zone *time.Location) time.Time {
	_, change := t.In(zone).ZoneBounds()
	if !change.IsZero() && !change.After(t) {
		// On the last day of leap years it is a day too early: golang/go#81583.
		return change.Add(24 * time.Hour)
	}
	return change
}

// match returns the first start that is not before a reading of the clock, or
// else a reading up to which there is none.
func (s *schedule) match(b *value.Budget, clock time.Time) (start time.Time, found bool, err error) {
	start = s.calendar.Next(clock.Add(-1))
	found = !start.IsZero()
	if !found {
		const searched = 5 // Full years, after the one of the clock.
		start = time.Date(clock.Year()+searched+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return start, found, b.Steps(120 + 60*(start.Year()-clock.Year()))
}

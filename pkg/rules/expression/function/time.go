package function

import (
	"strings"
	"time"
	// A rule must mean the same wherever it runs: in a container without the
	// database of time zones too.
	_ "time/tzdata"

	"github.com/robfig/cron/v3"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// reached reports whether t is not in the future.
func (c Call) reached(t time.Time) bool {
	at := c.instant()
	at.ChangesAt(t)
	return !at.Now().Before(t)
}

func olderThan(c Call) any {
	return c.reached(arg[time.Time](c, 0).Add(arg[time.Duration](c, 1)))
}

// written returns a time as Kubernetes writes it.
func written(t time.Time) string {
	if year := t.Year(); year < 0 || year > 9999 {
		fail("a time of the year %d cannot be written as RFC 3339", year)
	}
	return t.Format(time.RFC3339)
}

// windows is the arguments of inWindow and window.
type windows struct {
	starts *schedule
	last   time.Duration
	zone   *time.Location
}

func (c Call) windows() windows {
	w := windows{arg[*schedule](c, 0), arg[time.Duration](c, 1), time.UTC}
	if len(c.Args) > 2 {
		w.zone = arg[*time.Location](c, 2)
		c.instant().AskedIn(w.zone.String())
	}
	return w
}

// windowLength reads a duration, which must last.
func windowLength(v any) (time.Duration, error) {
	d, err := value.ParseDuration(v)
	if err == nil && d <= 0 {
		return 0, value.Faultf("a window must last longer than %v", d).WithHint(`write a duration such as "8h"`)
	}
	return d, err
}

func inWindow(c Call) any {
	w, at := c.windows(), c.instant()
	latest, next := w.around(c.Budget, at.Now())
	if latest.IsZero() {
		at.ChangesAt(next)
		return false
	}
	end := latest.Add(w.last)
	if !next.IsZero() && !next.After(end) {
		end = next.Add(w.last) // The next window takes over.
	}
	at.ChangesAt(end)
	return true
}

func window(c Call) any {
	w, at := c.windows(), c.instant()
	latest, next := w.around(c.Budget, at.Now())
	at.ChangesAt(next)
	if latest.IsZero() {
		return nil
	}
	end := latest.Add(w.last)
	at.ChangesAt(end)
	value.Must(c.Budget.Map(2))
	value.Must(c.Budget.Text(2 * len(time.RFC3339)))
	return map[string]any{"start": written(latest.In(w.zone)), "end": written(end.In(w.zone))}
}

// around returns the latest start of a window that holds at now, and the first
// start after now; either is zero where there is none.
func (w windows) around(b *value.Budget, now time.Time) (latest, next time.Time) {
	// The schedule only looks ahead. After bound, no start up to now is known to be.
	known, bound := now.Add(-w.last), now
	for {
		next = w.starts.next(b, known, w.zone)
		if next.IsZero() || next.After(now) {
			return latest, next
		}
		if many := !latest.IsZero(); many {
			middle := next.Add(bound.Sub(next) / 2)
			if later := w.starts.next(b, middle, w.zone); later.IsZero() || later.After(now) {
				bound = middle
			} else {
				next = later
			}
		}
		latest, known = next, next
	}
}

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

// parseCron reads a cron specification of five fields or a name such as @daily.
func parseCron(v any) (*schedule, error) {
	const longest = 256
	text, _ := v.(string)
	wrong := value.Faultf("%q is not a cron schedule", value.Excerpt(text)).
		WithHint(`write minute, hour, day of month, month and day of week, such as "30 22 * * 1-5", or "@daily"`)
	switch {
	case len(text) > longest:
		return nil, wrong
	case strings.Contains(text, "TZ="):
		return nil, wrong.WithHint("give the time zone as the last argument")
	case strings.HasPrefix(text, "@every"):
		return nil, wrong.WithHint(`windows begin at times of the day: write "*/15 * * * *" for every 15 minutes`)
	}
	parsed, err := cron.ParseStandard(text)
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "strconv"):
		return nil, wrong
	case strings.Contains(err.Error(), "(7) above maximum (6)"):
		return nil, wrong.WithHint("Sunday is 0, or SUN")
	default:
		return nil, value.Faultf("%s: %v", wrong.Message, err).WithHint("%s", wrong.Hint)
	}
	s, ok := parsed.(*cron.SpecSchedule)
	// Every field has to match something: the library takes "," for a field.
	if !ok || s.Minute == 0 || s.Hour == 0 || s.Dom == 0 || s.Month == 0 || s.Dow == 0 {
		return nil, wrong
	}
	s.Location = time.UTC
	// A date that can ever be is in a leap year.
	leap := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	return &schedule{calendar: s, never: s.Next(leap.Add(-time.Second)).IsZero()}, nil
}

// horizon is how far ahead starts are sought. The 29th of February may be eight
// years away.
const horizon = 12

// next returns the first start after t, or zero where there is none. An hour
// that clocks skip has no starts, one that they repeat has them twice.
func (s *schedule) next(b *value.Budget, t time.Time, zone *time.Location) time.Time {
	if s.never {
		value.Must(b.Steps(10))
		return time.Time{}
	}
	end := t.AddDate(horizon, 0, 0)
	for t = t.Add(1); t.Before(end); {
		_, offset := t.In(zone).Zone()
		shift := time.Duration(offset) * time.Second
		start, found := s.match(b, t.UTC().Add(shift))
		start = start.Add(-shift)
		change := nextChange(t, zone)
		switch {
		case !change.IsZero() && !start.Before(change):
			t = change // The clock has changed before it shows the start.
		case found:
			return start
		default:
			t = start
		}
	}
	return time.Time{}
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
func (s *schedule) match(b *value.Budget, clock time.Time) (start time.Time, found bool) {
	start = s.calendar.Next(clock.Add(-1))
	found = !start.IsZero()
	if !found {
		const searched = 5 // Full years, after the one of the clock.
		start = time.Date(clock.Year()+searched+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	value.Must(b.Steps(120 + 60*(start.Year()-clock.Year())))
	return start, found
}

// parseZone reads the name of a time zone. It refuses the names that mean another
// zone on another machine.
func parseZone(v any) (*time.Location, error) {
	const longest = 64 // More than the name of any zone.
	name, _ := v.(string)
	wrong := value.Faultf("there is no time zone %q", value.Excerpt(name))
	switch {
	case name == "":
		wrong = value.Faultf("the time zone is empty")
	case strings.EqualFold(name, "Local") || name == "localtime" || name == "posixrules":
		wrong = value.Faultf("the time zone %q is another one on another machine", name)
	case len(name) <= longest:
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, wrong.WithHint(`write a name of the IANA database, such as "UTC" or "Europe/Berlin"`)
}

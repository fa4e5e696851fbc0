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

// readTime and readDuration read arguments once; see [Param.Parse].
func readTime(b *value.Budget, v any) (any, error) {
	if err := reading(b); err != nil {
		return nil, err
	}
	return boxed(value.ParseTime(v))
}

func readDuration(b *value.Budget, v any) (any, error) {
	if err := reading(b); err != nil {
		return nil, err
	}
	return boxed(value.ParseDuration(v))
}

// reading spends what it takes to read one.
func reading(b *value.Budget) error {
	if err := b.Steps(10); err != nil {
		return err
	}
	return b.Bytes(32)
}

// boxed keeps an error from having a value.
func boxed[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// timeArg is textArg for a time that the parameter has read.
func timeArg(args []any, i int) time.Time {
	t, _ := args[i].(time.Time)
	return t
}

// durationArg is timeArg for a duration.
func durationArg(args []any, i int) time.Duration {
	d, _ := args[i].(time.Duration)
	return d
}

func after(at *value.Instant, _ *value.Budget, args []any) (any, error) {
	return reached(at, timeArg(args, 0)), nil
}

func before(at *value.Instant, _ *value.Budget, args []any) (any, error) {
	return !reached(at, timeArg(args, 0)), nil
}

func olderThan(at *value.Instant, _ *value.Budget, args []any) (any, error) {
	return reached(at, timeArg(args, 0).Add(durationArg(args, 1))), nil
}

// reached reports whether t is not in the future.
func reached(at *value.Instant, t time.Time) bool {
	at.ChangesAt(t)
	return !at.Now().Before(t)
}

// stamp is a value of its own, since only whoever writes it knows the moment and
// what is there already.
func stamp(*value.Budget, []any) (any, error) { return value.Stamp{}, nil }

// written returns a time as Kubernetes writes it.
func written(t time.Time) (string, error) {
	if year := t.Year(); year < 0 || year > 9999 {
		return "", value.Faultf("a time of the year %d cannot be written as RFC 3339", year)
	}
	return t.Format(time.RFC3339), nil
}

// windows is the arguments of inWindow and window.
type windows struct {
	starts *schedule
	last   time.Duration
	zone   *time.Location
}

func windowsOf(args []any) windows {
	w := windows{last: durationArg(args, 1), zone: time.UTC}
	w.starts, _ = args[0].(*schedule)
	if len(args) > 2 {
		w.zone, _ = args[2].(*time.Location)
	}
	return w
}

// readWindowLength is readDuration for a window, which must last.
func readWindowLength(b *value.Budget, v any) (any, error) {
	length, err := readDuration(b, v)
	if d, ok := length.(time.Duration); ok && d <= 0 {
		return nil, value.Faultf("a window must last longer than %v", d).WithHint(`write a duration such as "8h"`)
	}
	return length, err
}

func inWindow(at *value.Instant, b *value.Budget, args []any) (any, error) {
	w := windowsOf(args)
	latest, next, err := w.around(b, at.Now())
	switch {
	case err != nil:
		return nil, err
	case latest.IsZero():
		at.ChangesAt(next)
		return false, nil
	}
	end := latest.Add(w.last)
	if !next.IsZero() && !next.After(end) {
		end = next.Add(w.last) // The next window takes over.
	}
	at.ChangesAt(end)
	return true, nil
}

func window(at *value.Instant, b *value.Budget, args []any) (any, error) {
	w := windowsOf(args)
	latest, next, err := w.around(b, at.Now())
	if err != nil {
		return nil, err
	}
	at.ChangesAt(next)
	if latest.IsZero() {
		return nil, nil
	}
	end := latest.Add(w.last)
	at.ChangesAt(end)
	return w.bounds(b, latest, end)
}

// bounds is a window as expressions see it.
func (w windows) bounds(b *value.Budget, start, end time.Time) (any, error) {
	if err := b.Map(2); err != nil {
		return nil, err
	}
	if err := b.Text(2 * len(time.RFC3339)); err != nil {
		return nil, err
	}
	from, err := written(start.In(w.zone))
	if err != nil {
		return nil, err
	}
	to, err := written(end.In(w.zone))
	if err != nil {
		return nil, err
	}
	return map[string]any{"start": from, "end": to}, nil
}

// around returns the latest start of a window that holds at now, and the first
// start after now; either is zero where there is none.
func (w windows) around(b *value.Budget, now time.Time) (latest, next time.Time, err error) {
	// The schedule only looks ahead. After bound, no start up to now is known to be.
	known, bound := now.Add(-w.last), now
	for {
		next, err = w.starts.next(b, known, w.zone)
		if err != nil || next.IsZero() || next.After(now) {
			return latest, next, err
		}
		if many := !latest.IsZero(); many {
			middle := next.Add(bound.Sub(next) / 2)
			later, err := w.starts.next(b, middle, w.zone)
			switch {
			case err != nil:
				return latest, next, err
			case later.IsZero() || later.After(now):
				bound = middle
			default:
				next = later
			}
		}
		latest, known = next, next
	}
}

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

// What finding a zone costs, which may be to read a file.
const (
	zoneSteps = 500
	zoneBytes = 8 << 10
	// maxZone is longer than the name of any zone.
	maxZone = 64
)

// readZone reads the name of a time zone. It refuses the names that mean another
// zone on another machine.
func readZone(b *value.Budget, v any) (any, error) {
	if err := b.Steps(zoneSteps); err != nil {
		return nil, err
	}
	if err := b.Bytes(zoneBytes); err != nil {
		return nil, err
	}
	const hint = `write a name of the IANA database, such as "UTC" or "Europe/Berlin"`
	name, _ := v.(string)
	switch {
	case name == "":
		return nil, value.Faultf("the time zone is empty").WithHint(hint)
	case strings.EqualFold(name, "Local") || name == "localtime" || name == "posixrules":
		return nil, value.Faultf("the time zone %q is another one on another machine", name).WithHint(hint)
	case len(name) <= maxZone:
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, value.Faultf("there is no time zone %q", value.Excerpt(name)).WithHint(hint)
}

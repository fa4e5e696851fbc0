package function

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

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

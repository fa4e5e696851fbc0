package function_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// changes are moments around which a zone has changed its clocks, in every way
// that zones do: by an hour, by half an hour, at midnight, by a day.
var changes = map[string][]string{
	"UTC":                 {"2026-02-28T12:00:00Z", "2028-12-31T12:00:00Z"},
	"Asia/Kolkata":        {"2026-01-01T00:00:00Z"},
	"Europe/Berlin":       {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2040-12-31T12:00:00Z"},
	"America/New_York":    {"2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"},
	"America/Sao_Paulo":   {"2018-11-04T03:00:00Z", "2019-02-17T02:00:00Z"},
	"Australia/Lord_Howe": {"2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"},
	"Africa/Cairo":        {"2026-04-23T22:00:00Z", "2026-10-29T21:00:00Z"},
	"Africa/Casablanca":   {"2026-02-15T02:00:00Z", "2026-03-22T02:00:00Z"},
	"Pacific/Apia":        {"2011-12-30T10:00:00Z"},
}

var zones = rapid.SampledFrom([]string{
	"UTC", "Asia/Kolkata", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe",
	"Africa/Cairo", "Africa/Casablanca", "Pacific/Apia",
})

// spans are how long to watch, and how closely.
var spans = rapid.SampledFrom([]struct{ step, length time.Duration }{
	{time.Second, 2 * time.Hour}, {time.Minute, 2 * 24 * time.Hour}, {time.Hour, 60 * 24 * time.Hour},
})

// TestNothingChangesUnannounced evaluates at every second, and makes sure that
// whoever looks only when told to has seen every change.
func TestNothingChangesUnannounced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := zones.Draw(t, "zone")
		span := spans.Draw(t, "span")
		change, err := time.Parse(time.RFC3339, rapid.SampledFrom(changes[zone]).Draw(t, "change"))
		if err != nil {
			t.Fatal(err)
		}
		fraction := rapid.SampledFrom([]time.Duration{0, 0, 1, time.Second / 2, time.Second - 1}).Draw(t, "fraction")
		begin := change.Add(-span.length / 2).Add(fraction)
		source := composed(t, timed{zone: zone, begin: begin, length: span.length}, 2)
		p, err := expression.Compile(source, expression.NewScope())
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		watch(t, p, begin, span.step, span.length)
	})
}

func watch(t *rapid.T, p *expression.Program, begin time.Time, step, length time.Duration) {
	seen, next := answer(t, p, begin)
	for now := begin.Add(step); now.Before(begin.Add(length)); now = now.Add(step) {
		for !next.IsZero() && !next.After(now) {
			announced := next
			if still, _ := answer(t, p, announced.Add(-1)); !reflect.DeepEqual(still, seen) {
				t.Fatalf("%s was %v and became %v before %v, which was announced", p.Source(), seen, still, announced)
			}
			seen, next = answer(t, p, announced)
		}
		if got, _ := answer(t, p, now); !reflect.DeepEqual(got, seen) {
			t.Fatalf("%s was %v and is %v at %v; %v was announced", p.Source(), seen, got, now, next)
		}
	}
}

func answer(t *rapid.T, p *expression.Program, now time.Time) (any, time.Time) {
	at := value.NewInstant(now)
	v, err := p.Eval(&expression.Evaluation{Budget: value.NewBudget(0), Instant: at})
	if err != nil {
		t.Fatalf("%s at %v: %v", p.Source(), now, err)
	}
	if next := at.Next(); !next.IsZero() && !next.After(now) {
		t.Fatalf("%s at %v announced %v", p.Source(), now, next)
	}
	return v, at.Next()
}

// timed is where the times in an expression lie.
type timed struct {
	zone   string
	begin  time.Time
	length time.Duration
}

// composed draws a condition.
func composed(t *rapid.T, in timed, depth int) string {
	if depth == 0 {
		return in.call(t)
	}
	part := func() string { return composed(t, in, depth-1) }
	switch rapid.IntRange(0, 7).Draw(t, "composition") {
	case 0:
		return fmt.Sprintf("(%s && %s)", part(), part())
	case 1:
		return fmt.Sprintf("(%s || %s)", part(), part())
	case 2:
		return fmt.Sprintf("!(%s)", part())
	case 3:
		return fmt.Sprintf("(%s ? %s : %s)", part(), part(), part())
	case 4:
		return fmt.Sprintf("(count([%s, %s]) == 1)", part(), part())
	case 5:
		return fmt.Sprintf("any([%s, %s], after(#))", in.time(t), in.time(t))
	case 6:
		return fmt.Sprintf("(let x%[1]d = %[2]s; x%[1]d == %[3]s)", depth, part(), part())
	default:
		return in.call(t)
	}
}

// call draws a call of each function of time.
func (in timed) call(t *rapid.T) string {
	switch rapid.IntRange(0, 5).Draw(t, "function") {
	case 0:
		return fmt.Sprintf("after(%s)", in.time(t))
	case 1:
		return fmt.Sprintf("before(%s)", in.time(t))
	case 2:
		return fmt.Sprintf("olderThan(%s, %q)", in.time(t), in.duration(t))
	case 3:
		return fmt.Sprintf("((window(%q, %q, %q)?.start ?? \"\") < %s)", in.cron(t), in.duration(t), in.zone, in.time(t))
	default:
		return fmt.Sprintf("inWindow(%q, %q, %q)", in.cron(t), in.duration(t), in.zone)
	}
}

func (in timed) time(t *rapid.T) string {
	after := time.Duration(rapid.Int64Range(0, int64(in.length)).Draw(t, "after"))
	return fmt.Sprintf("%q", in.begin.Add(after).Format(rapid.SampledFrom([]string{time.RFC3339, time.RFC3339Nano}).Draw(t, "format")))
}

func (in timed) duration(t *rapid.T) string {
	return rapid.SampledFrom([]string{"1s", "90s", "10m", "59m59s", "1h", "90m", "8h", "1d", "26h", "1w"}).Draw(t, "duration")
}

// cron draws schedules that are sparse and dense in each field.
func (in timed) cron(t *rapid.T) string {
	fields := []string{
		rapid.SampledFrom([]string{"*", "0", "30", "59", "*/15", "0,1,2,30", "7-9"}).Draw(t, "minute"),
		rapid.SampledFrom([]string{"*", "*", "0", "1", "2", "23", "1-3", "*/2", "12"}).Draw(t, "hour"),
		rapid.SampledFrom([]string{"*", "*", "*", "1", "29", "31", "*/2"}).Draw(t, "day"),
		rapid.SampledFrom([]string{"*", "*", "*", "3,4,10,11", "2"}).Draw(t, "month"),
		rapid.SampledFrom([]string{"*", "*", "0", "mon-fri", "5"}).Draw(t, "weekday"),
	}
	return strings.Join(fields, " ")
}

package breaker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var (
	one        = plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "one"}
	two        = plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "two"}
	all        = plan.Rule{}
	start      = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)
	errRefused = errors.New("refused")
	errEarlier = errors.New("refused earlier")
)

// Some ways to fail.
var (
	failed   = guard.Failure{Err: errRefused}
	hopeless = guard.Failure{Err: errRefused, Cause: guard.Hopeless}
	futile   = guard.Failure{Err: errRefused, Cause: guard.Unevaluated}
	passing  = guard.Failure{Err: errRefused, Cause: guard.Passing}
)

func asking(s guard.Failure, after time.Duration) guard.Failure {
	s.After = after
	return s
}

func named(name string) guard.Key { return guard.Key{Name: name} }

// world is a breaker with a clock, in which what begins to fail together is tried again
// together.
type world struct {
	*Breaker
	clock  *testingclock.FakeClock
	closed *closings
}

func newWorld() world { return worldOf(func(time.Duration) time.Duration { return 0 }) }

func worldOf(jitter func(time.Duration) time.Duration) world {
	clock, closed := testingclock.NewFakeClock(start), &closings{of: map[string][]string{}}
	return world{New(clock, slog.New(telling{closings: closed}), jitter), clock, closed}
}

// closings are the rules whose circuits closed that were in quarantine, by the name of the object.
type closings struct {
	mu sync.Mutex
	of map[string][]string // guarded by mu
}

// telling is a log that notes closings.
type telling struct {
	*closings
	name string
}

func (t telling) Enabled(context.Context, slog.Level) bool { return true }

func (t telling) WithGroup(string) slog.Handler { return t }

func (t telling) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, attr := range attrs {
		if attr.Key == "name" {
			t.name = attr.Value.String()
		}
	}
	return t
}

func (t telling) Handle(_ context.Context, r slog.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Attrs(func(attr slog.Attr) bool {
		if attr.Key == "rule" && r.Message == "out of quarantine" {
			t.of[t.name] = append(t.of[t.name], attr.Value.String())
		}
		return true
	})
	return nil
}

// attempted is an attempt that has seen an object in a version.
func attempted(key guard.Key, version string) *guard.Attempt {
	read := func() []guard.Input { return []guard.Input{{UID: "uid", Version: version}} }
	return &guard.Attempt{Key: key, Evaluation: guard.Evaluation{Read: read}}
}

// saw is what an attempt was decided by that has seen an object in a version; without one, nothing was looked at.
func (w world) saw(version string) inputs {
	if version == "" {
		return 0
	}
	return (&attempt{Attempt: attempted(guard.Key{}, version), breaker: w.Breaker}).saw(nil)
}

// Fail has a rule fail that has seen a version.
func (w world) Fail(key guard.Key, rule plan.Rule, f guard.Failure, version string) (opens bool) {
	saw := w.saw(version)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fail(key, rule, f, saw)
}

// Holds reports whether a rule is held back that sees a version, and why.
func (w world) Holds(key guard.Key, rule plan.Rule, version string) (held bool, because error) {
	check, _ := w.Begin(attempted(key, version))
	if delay := check.Admit(context.Background(), plan.Operation{Rules: []plan.Rule{rule}}); delay != nil {
		return true, delay.Err
	}
	return false, nil
}

// Echo has an attempt that was decided by a version leave another one.
func (w world) Echo(key guard.Key, before, after string) {
	a := attempted(key, before)
	a.Left = map[types.UID]string{"uid": after}
	w.finish(a, func(plan.Rule) bool { return false })
}

// Release has an attempt end in which some rules did not fail any more. It returns those of which the log tells.
func (w world) Release(key guard.Key, done func(plan.Rule) bool) []string {
	w.closed.mu.Lock()
	delete(w.closed.of, key.Name)
	w.closed.mu.Unlock()
	w.finish(attempted(key, "?"), done)
	w.closed.mu.Lock()
	defer w.closed.mu.Unlock()
	return w.closed.of[key.Name]
}

func (w world) finish(a *guard.Attempt, done func(plan.Rule) bool) guard.Outcome {
	a.CarriedOut = true
	check, _ := w.Begin(a)
	out := guard.Outcome{Looked: true}
	w.mu.Lock()
	for rule := range w.circuits[a.Key] {
		if !done(rule) {
			out.Failures = append(out.Failures, guard.Failure{Rules: []plan.Rule{rule}, Cause: guard.Decided})
		}
	}
	w.mu.Unlock()
	check.Finish(&out)
	return out
}

// Next is when a rule is to be tried again for an object, as an attempt says in which none comes to an end.
func (w world) Next(key guard.Key) time.Time {
	return w.finish(attempted(key, "?"), func(plan.Rule) bool { return false }).PutOffUntil
}

// Len counts the objects for which a rule fails.
func (w world) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.circuits)
}

// Has reports whether any rule fails for an object.
func (w world) Has(key guard.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.circuits[key]) > 0
}

// fails has a rule fail, a second after the last one.
// It returns which of the failures have put it in quarantine.
func (w world) fails(s guard.Failure, times int) (isolated []int) {
	for i := range times {
		w.clock.Step(time.Second)
		if w.Fail(named("a"), one, s, "1") {
			isolated = append(isolated, i+1)
		}
	}
	return isolated
}

// in is how long it takes until a moment, or that it never comes.
func (w world) in(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Sub(w.clock.Now()).String()
}

// holds reports whether the rule is held back that sees a version.
func (w world) holds(version string) bool {
	held, _ := w.Holds(named("a"), one, version)
	return held
}

// rests is for how long an object is left alone.
func (w world) rests(name string) time.Duration {
	if _, until := w.Begin(attempted(named(name), "")); !until.IsZero() {
		return until.Sub(w.clock.Now())
	}
	return 0
}

package breaker_test

import (
	"errors"
	"log/slog"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
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
	hopeless = guard.Failure{Err: errRefused, Hopeless: true}
	futile   = guard.Failure{Err: errRefused, Hopeless: true, Futile: true}
	passing  = guard.Failure{Err: errRefused, Passes: true}
)

func asking(s guard.Failure, after time.Duration) guard.Failure {
	s.After = after
	return s
}

// inEffect are the rules.
var inEffect = &guard.Rules{}

func named(name string) guard.Key { return guard.Key{Name: name} }

// world is a breaker with a clock, in which what begins to fail together is tried again
// together.
type world struct {
	*breaker.Breaker
	clock *testingclock.FakeClock
}

func newWorld() world {
	clock := testingclock.NewFakeClock(start)
	return world{breaker.New(clock, slog.New(slog.DiscardHandler), func(guard.Key, plan.Rule, int) float64 { return 0 }), clock}
}

// saw is what an attempt was decided by that has seen an object in a version.
func (w world) saw(version string) breaker.Inputs {
	return w.Inputs([]guard.Input{{UID: "uid", Version: version}}, inEffect)
}

// fails has a rule fail, a second after the last one.
// It returns which of the failures have put it in breaker.
func (w world) fails(s guard.Failure, times int) (isolated []int) {
	for i := range times {
		w.clock.Step(time.Second)
		if w.Fail(named("a"), one, s, w.saw("1")) {
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
	held, _ := w.Holds(named("a"), one, w.saw(version))
	return held
}

// rests is for how long an object is left alone.
func (w world) rests(name string) time.Duration {
	if until := w.Rests(named(name)); !until.IsZero() {
		return until.Sub(w.clock.Now())
	}
	return 0
}

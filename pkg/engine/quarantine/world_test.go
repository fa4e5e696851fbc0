package quarantine_test

import (
	"errors"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/quarantine"
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
	failed   = quarantine.Setback{Err: errRefused}
	hopeless = quarantine.Setback{Err: errRefused, Hopeless: true}
	futile   = quarantine.Setback{Err: errRefused, Hopeless: true, Futile: true}
	passing  = quarantine.Setback{Err: errRefused, Passes: true}
)

func asking(s quarantine.Setback, after time.Duration) quarantine.Setback {
	s.After = after
	return s
}

// world is a ward with a clock, in which what begins to fail together is tried again
// together. Rules are told apart by a text.
type world struct {
	*quarantine.Ward[string, string]
	clock *testingclock.FakeClock
}

func newWorld() world {
	clock := testingclock.NewFakeClock(start)
	return world{quarantine.New[string, string](clock, func(string, plan.Rule, int) float64 { return 0 }), clock}
}

// saw is what an attempt was decided by that has seen an object in a version.
func (w world) saw(version string) quarantine.Grounds[string] {
	return w.Grounds([]quarantine.Object{{UID: "uid", Version: version}}, "rules")
}

// fails has a rule fail, a second after the last one.
// It returns which of the failures have put it in quarantine.
func (w world) fails(s quarantine.Setback, times int) (isolated []int) {
	for i := range times {
		w.clock.Step(time.Second)
		if w.Fail("a", one, s, w.saw("1")) {
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
	held, _ := w.Holds("a", one, w.saw(version))
	return held
}

package main

import (
	"fmt"
	"math"
)

// target is a figure that dyncontroller has to reach.
type target struct {
	figure  string
	key     string // of a row
	against string // whose figure it is divided by; empty for the figure itself
	bound   float64
	atLeast bool // The bound is the least that is good, and not the most.
	within  bool // In place of the bound: the median is no greater than the greatest of the other contender.
}

// targets are those of a job with so many objects.
func targets(job string, objects int) []target {
	if job == "child" {
		return []target{
			{figure: "time against typed", key: "backlog.seconds", against: "typed", bound: 1},
			{figure: "CPU against typed", key: "backlog.cpu", against: "typed", bound: 1},
			{figure: "time against typed, applied", key: "backlog.seconds", against: "applied", bound: 1},
			{figure: "CPU against typed, applied", key: "backlog.cpu", against: "applied", bound: 1},
			{figure: "settled RSS against typed", key: "backlog.rss", against: "typed", bound: 1},
			{figure: "writes when settled", key: "restart.writes", bound: 0},
		}
	}
	all := []target{
		{figure: "backlog: objects/s against typed", key: "backlog.rate", against: "typed", bound: 1, atLeast: true},
		{figure: "backlog: objects/s against the bare loop", key: "backlog.rate", against: "bare", bound: 0.95, atLeast: true},
		{figure: "backlog: CPU against typed", key: "backlog.cpu", against: "typed", bound: 0.8},
		{figure: "irrelevant updates: CPU against typed", key: "irrelevant.cpu", against: "typed", bound: 0.4},
	}
	if objects < 20_000 {
		all = append(all, target{figure: "settled anonymous memory against typed", key: "backlog.anonymous", against: "typed", bound: 0.4})
	} else {
		all = append(all,
			target{figure: "settled anonymous memory against typed", key: "backlog.anonymous", against: "typed", bound: 0.25},
			target{figure: "settled RSS against typed", key: "backlog.rss", against: "typed", bound: 0.3})
	}
	if objects >= 100_000 {
		all = append(all, target{figure: "peak / settled live heap at a restart", key: "restart.heapratio", bound: 1.5})
	}
	return append(all,
		target{figure: "p99 from a new object to its change, against typed", key: "latency.p99", against: "typed", within: true},
		target{figure: "writes when settled", key: "restart.writes", bound: 0})
}

// verdict is what was measured of a target.
type verdict struct {
	figure, target string
	measured       spread
	word           string
}

func (r result) verdicts() []verdict {
	var all []verdict
	for _, t := range targets(r.Job, r.Objects) {
		values := r.values(r.judged(), t.key)
		if t.against != "" {
			values = r.ratios(r.judged(), t.against, t.key)
		}
		v := verdict{figure: t.figure, measured: spreadOf(values), word: "FAIL"}
		good := v.measured.Median <= t.bound
		switch {
		case t.within:
			v.target = "within the spread, or less"
			good = spreadOf(r.values(r.judged(), t.key)).Median <= spreadOf(r.values(t.against, t.key)).Most
		case t.atLeast:
			v.target = fmt.Sprintf("at least %.2f", t.bound)
			good = v.measured.Median >= t.bound
		default:
			v.target = fmt.Sprintf("at most %.2f", t.bound)
		}
		switch {
		case math.IsNaN(v.measured.Median):
			v.word = "not measured"
		case good:
			v.word = "pass"
		}
		all = append(all, v)
	}
	return all
}

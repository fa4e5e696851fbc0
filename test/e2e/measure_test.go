package e2e

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

// runs is how often each of two cases is measured, by turns.
const runs = 5

// quantiles are of the times of one run.
type quantiles struct{ p50, p99 time.Duration }

func quantilesOf(times []time.Duration) quantiles {
	slices.Sort(times)
	at := func(share float64) time.Duration { return times[int(share*float64(len(times)-1))] }
	return quantiles{at(0.5), at(0.99)}
}

// compareRuns holds that the median of what is measured in a case is within the spread of the runs of another. Both are
// measured by turns, so that what else the machine does concerns both.
func compareRuns(t *testing.T, run func(other bool) quantiles) {
	t.Helper()
	var all [2][]quantiles
	for i := range 2 * runs {
		all[i%2] = append(all[i%2], run(i%2 == 1))
	}
	for _, of := range []struct {
		name string
		get  func(quantiles) time.Duration
	}{
		{"p50", func(q quantiles) time.Duration { return q.p50 }},
		{"p99", func(q quantiles) time.Duration { return q.p99 }},
	} {
		var sorted [2][]time.Duration
		for i := range all {
			for _, q := range all[i] {
				sorted[i] = append(sorted[i], of.get(q))
			}
			slices.SortFunc(sorted[i], cmp.Compare[time.Duration])
		}
		base, other := sorted[0], sorted[1][runs/2]
		t.Logf("%s: %v without (median %v), %v with (median %v)", of.name, base, base[runs/2], sorted[1], other)
		if other > base[runs-1] {
			t.Errorf("%s: the median with is %v, which is not within the %v to %v without", of.name, other, base[0], base[runs-1])
		}
	}
}

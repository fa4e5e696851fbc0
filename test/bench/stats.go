package main

import (
	"math"
	"slices"
)

// spread is the median of some values, and the bounds between which all lie.
type spread struct {
	Median, Least, Most float64
}

// spreadOf is NaN of no values.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	median := sorted[half]
	if len(sorted)%2 == 0 {
		median = (sorted[half-1] + sorted[half]) / 2
	}
	return spread{median, sorted[0], sorted[len(sorted)-1]}
}

// quantile is the least of the sorted values that the given share of them does not exceed.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}

package main

import (
	"math"
	"testing"
)

func TestSpread(t *testing.T) {
	tests := map[string]struct {
		reason string
		values []float64
		want   spread
	}{
		"odd":  {"The one in the middle.", []float64{9, 1, 5}, spread{5, 1, 9}},
		"even": {"Between the two in the middle.", []float64{4, 1, 2, 9}, spread{3, 1, 9}},
		"one":  {"It is all three.", []float64{7}, spread{7, 7, 7}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := spreadOf(test.values); got != test.want {
				t.Errorf("%s: got %+v, want %+v", test.reason, got, test.want)
			}
		})
	}
	if got := spreadOf(nil); !math.IsNaN(got.Median) {
		t.Errorf("the median of nothing is %v", got.Median)
	}
}

func TestQuantile(t *testing.T) {
	var thousand []float64
	for i := range 1000 {
		thousand = append(thousand, float64(i+1))
	}
	tests := map[string]struct {
		reason string
		sorted []float64
		share  float64
		want   float64
	}{
		"p50":      {"Half of them are not greater.", thousand, 0.5, 500},
		"p99.9":    {"One of a thousand is greater.", thousand, 0.999, 999},
		"few":      {"Of ten, the greatest: none would say less than it does.", thousand[:10], 0.99, 10},
		"smallest": {"There is always one.", thousand, 0, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := quantile(test.sorted, test.share); got != test.want {
				t.Errorf("%s: got %v, want %v", test.reason, got, test.want)
			}
		})
	}
}

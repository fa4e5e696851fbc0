package plan

import (
	"strconv"
	"testing"
)

// BenchmarkFilter compares one object with 500 selections of one resource, as each evaluation and each write do: with those that
// are parsed, and as if each was met for the first time.
func BenchmarkFilter(b *testing.B) {
	object := decode[map[string]any](b, somePod)
	selections := make([]Selection, 500)
	filters := make([]Filter, len(selections))
	for i := range selections {
		selections[i] = Selection{LabelSelector: "tier in (front,back),team=t-" + strconv.Itoa(i)}
		filters[i] = selections[i].Parse().Admits
	}
	compare := func(b *testing.B, admits func(i int) bool) {
		b.ReportAllocs()
		for b.Loop() {
			for i := range selections {
				if admits(i) {
					b.Fatal(selections[i])
				}
			}
		}
	}
	b.Run("parsed", func(b *testing.B) { compare(b, func(i int) bool { return filters[i](object) }) })
	b.Run("new", func(b *testing.B) { compare(b, func(i int) bool { return selections[i].Admits(object) }) })
}

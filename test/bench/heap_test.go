package main

import (
	"strings"
	"testing"
)

func TestParseHeap(t *testing.T) {
	const log = `time=2026-11-24T02:29:09Z level=INFO msg="gc 1 @ 1->2->900 MB, of no interest"
gc 1 @0.012s 2%: 0.018+1.0+0.003 ms clock, 0.037+0.10/0.86/0.36+0.006 ms cpu, 3->4->2 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 2 @0.512s 3%: 0.018+1.0+0.003 ms clock, 0.037+0.10/0.86/0.36+0.006 ms cpu, 40->41->22 MB, 44 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 3 @9.512s 3%: 0.018+1.0+0.003 ms clock, 0.037+0.10/0.86/0.36+0.006 ms cpu, 44->44->7 MB, 44 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)
`
	tests := map[string]struct {
		reason, log string
		want        liveHeap
	}{
		"peak and last": {"The third size is what lives; other lines do not matter.", log, liveHeap{22, 7}},
		"none":          {"A process that is small enough never collects.", "started\n", liveHeap{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseHeap(strings.NewReader(test.log))
			if err != nil || got != test.want {
				t.Errorf("%s: got %+v and %v, want %+v", test.reason, got, err, test.want)
			}
		})
	}
}

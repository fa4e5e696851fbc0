package queue_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

// TestEverybodyGetsATurn holds that one which each of the others adds does not come again
// after each of them, wherever it begins.
func TestEverybodyGetsATurn(t *testing.T) {
	const others = 25
	for _, order := range []queue.Order{queue.FIFO, queue.Reversed} {
		for start := range others + 1 {
			q := queue.New[int](order)
			for item := range others + 1 {
				q.Add(item)
			}
			turns := 0
			for item, nothing := q.Get(); !nothing; item, nothing = q.Get() {
				if item == start {
					turns++
				} else {
					q.Add(start)
				}
				q.Done(item)
			}
			if turns > 2 {
				t.Errorf("order %d: the %dth of %d had %d turns, want 2 at most", order, start, others, turns)
			}
		}
	}
}

func TestChose(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, script string
		want           bool
	}{
		"Empty":   {"There is nothing to choose from.", "?", false},
		"One":     {"Nor is there of one, as often as it comes.", "a ? a -a ? -a a@3 ?", false},
		"Two":     {"Either of two may come first.", "a b ?", true},
		"Waiting": {"Two that are never taken out make no difference yet.", "a b", false},
		"Delays":  {"The shorter delay comes first in any order.", "a@1 b@2 ? -a ?", false},
		"Ties":    {"Of two that are the same the order decides.", "a@1 b@1", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range []queue.Order{queue.FIFO, queue.Reversed} {
				q := queue.New[string](order)
				play(q, tc.script)
				if q.Chose() != tc.want {
					t.Errorf("%s have %t", tc.reason, q.Chose())
				}
			}
		})
	}
}

// TestUnlessItChoseTheOrdersAreTheSame holds that where there was no choice, the other
// order gives the same, and knows that, too.
func TestUnlessItChoseTheOrdersAreTheSame(t *testing.T) {
	words := rapid.SampledFrom(strings.Fields("a b c a@1 b@1 c@2 ? ? ? -a -b -c"))
	rapid.Check(t, func(t *rapid.T) {
		script := strings.Join(rapid.SliceOfN(words, 0, 30).Draw(t, "script"), " ")
		first, other := queue.New[string](queue.FIFO), queue.New[string](queue.Reversed)
		inOrder, reversed := play(first, script), play(other, script)
		if first.Chose() != other.Chose() {
			t.Fatalf("%s: in order %t, reversed %t", script, first.Chose(), other.Chose())
		}
		if !first.Chose() && inOrder != reversed {
			t.Fatalf("%s: nothing was chosen, but in order %s, reversed %s", script, inOrder, reversed)
		}
	})
}

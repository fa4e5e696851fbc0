package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

// play does what the script says, a word at a time, and returns what came out: "a" adds
// it, "a@3" adds it after 3 seconds, "-a" is done with it, "!" shuts down, and "?" gets
// the next, which is "." for nothing.
func play(q *queue.Queue[string], script string) string {
	var out []string
	for word := range strings.FieldsSeq(script) {
		item, after, delayed := strings.Cut(word, "@")
		done, isDone := strings.CutPrefix(word, "-")
		switch {
		case word == "?":
			item, nothing := q.Get()
			if nothing {
				item = "."
			}
			out = append(out, item)
		case word == "!":
			q.ShutDown()
		case isDone:
			q.Done(done)
		case delayed:
			seconds, err := time.ParseDuration(after + "s")
			if err != nil {
				panic(err)
			}
			q.AddAfter(item, seconds)
		default:
			q.Add(item)
		}
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		reason         string
		script         string
		fifo, reversed string
	}{
		"Empty":       {"Nothing is waited for.", "?", ".", "."},
		"Order":       {"What is ready comes in order.", "a b c ? ? ? ?", "a b c .", "c b a ."},
		"Once":        {"An item is in the queue once.", "a b a ? ? ?", "a b .", "b a ."},
		"EmptyIsOpen": {"More may be added when it was empty.", "? a ? -a ?", ". a .", ". a ."},
		"WhileTaken":  {"What is processed is not given out again before it is done.", "a ? a ? -a ?", "a . a", "a . a"},
		"Again":       {"What was added while it was processed comes behind what is ready.", "a ? a b -a ? ?", "a b a", "a a b"},
		"Meanwhile":   {"What is added meanwhile comes behind what was there before it.", "a b c ? d e ? ? ? ? ?", "a b c d e .", "c b a e d ."},
		"DoneTwice":   {"What is not processed cannot be done.", "a -a ? -a -a ?", "a .", "a ."},

		"Delayed":      {"What is delayed comes when nothing else is ready.", "a@1 b ? -b ? ?", "b a .", "b a ."},
		"ByDelay":      {"The shortest delay is first, however long.", "a@300 b@1 c@20 ? ? ? ?", "b c a .", "b c a ."},
		"SameDelay":    {"Among the same delays the order counts.", "a@1 b@1 c@1 ? ? ?", "a b c", "c b a"},
		"WhatFollows":  {"What one that was delayed leads to is ready before the next.", "a@1 b@2 ? x -a ? -x ?", "a x b", "a x b"},
		"Shorter":      {"The shorter delay counts.", "a@3 b@2 a@1 ? ? ?", "a b .", "a b ."},
		"Longer":       {"The longer does not.", "a@1 b@2 a@3 ? ? ?", "a b .", "a b ."},
		"Hurried":      {"What is added without a delay is delayed no more.", "a@1 a ? -a ?", "a .", "a ."},
		"ReadyDelayed": {"What is ready is not delayed.", "a b a@9 ? ? ?", "a b .", "b a ."},
		"NoDelay":      {"No delay is none.", "a@1 b@0 c@-1 ? ? ? ?", "b c a .", "c b a ."},
		"TakenDelayed": {"What is processed may be delayed, and comes when it is done.", "a ? a@1 ? -a ? -a ?", "a . a .", "a . a ."},
		"DelayedTaken": {"Others do not wait for it.", "a ? a@1 b@2 ? ? -a ?", "a b . a", "a b . a"},
		"DoneDelayed":  {"A retry comes after the others.", "a b ? a@1 -a b ? -b ? -a ?", "a b a .", "b a b a"},

		"Down":        {"What is ready still comes out, and nothing is added.", "a b ! c d@1 ? ? ?", "a b .", "b a ."},
		"DownDelayed": {"What is delayed does not.", "a@1 ! ?", ".", "."},
		"DownTaken":   {"What was added again before comes out.", "a ? a ! -a ? -a ?", "a a .", "a a ."},
	} {
		t.Run(name, func(t *testing.T) {
			for order, want := range map[queue.Order]string{queue.FIFO: tc.fifo, queue.Reversed: tc.reversed} {
				if name == "DoneDelayed" && order == queue.Reversed {
					continue // The script is for one order.
				}
				if got := play(queue.New[string](order), tc.script); got != want {
					t.Errorf("%s\norder %d: got %q, want %q", tc.reason, order, got, want)
				}
			}
		})
	}
}

func TestShutDown(t *testing.T) {
	q := queue.New[int](queue.FIFO)
	q.Add(1)
	q.AddAfter(2, time.Second)
	if q.Len() != 1 || q.ShuttingDown() {
		t.Errorf("%d are ready, shutting down: %v; want the one that is not delayed", q.Len(), q.ShuttingDown())
	}
	if _, nothing := q.Get(); nothing {
		t.Error("nothing came out")
	}
	q.ShutDownWithDrain() // Although the item is not done.
	if q.Len() != 0 || !q.ShuttingDown() {
		t.Errorf("%d are ready, shutting down: %v; want none, and that it is", q.Len(), q.ShuttingDown())
	}
}

// TestLikeClientGo compares what is not delayed with client-go's own queue.
func TestLikeClientGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := queue.New[int](queue.FIFO), workqueue.NewTyped[int]()
		defer theirs.ShutDown()
		var taken []int
		items := rapid.IntRange(0, 5)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				item := items.Draw(t, "item")
				ours.Add(item)
				theirs.Add(item)
			},
			"get": func(t *rapid.T) {
				if theirs.Len() == 0 && !theirs.ShuttingDown() {
					if item, nothing := ours.Get(); !nothing {
						t.Fatalf("%d came out of what is empty", item)
					}
					return
				}
				item, nothing := ours.Get()
				want, down := theirs.Get()
				if item != want || nothing != down {
					t.Fatalf("got %d, %v; want %d, %v", item, nothing, want, down)
				}
				if !nothing {
					taken = append(taken, item)
				}
			},
			"done": func(t *rapid.T) {
				if len(taken) == 0 {
					t.Skip("nothing is processed")
				}
				at := rapid.IntRange(0, len(taken)-1).Draw(t, "at")
				ours.Done(taken[at])
				theirs.Done(taken[at])
				taken = slices.Delete(taken, at, at+1)
			},
			"shut down": func(t *rapid.T) {
				if rapid.IntRange(0, 20).Draw(t, "die") == 0 {
					ours.ShutDown()
					theirs.ShutDown()
				}
			},
			"": func(t *rapid.T) {
				if ours.Len() != theirs.Len() || ours.ShuttingDown() != theirs.ShuttingDown() {
					t.Fatalf("%d are ready, want %d; shutting down: %v, want %v",
						ours.Len(), theirs.Len(), ours.ShuttingDown(), theirs.ShuttingDown())
				}
			},
		})
	})
}

// TestNothingIsLost holds that each item comes out once for its adding, what is ready
// before what is delayed, that by its delay, and that one order is the other reversed.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delays := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 30).Draw(t, "delays")
		all := map[queue.Order][]int{}
		for _, order := range []queue.Order{queue.FIFO, queue.Reversed} {
			q := queue.New[int](order)
			for item, delay := range delays {
				q.AddAfter(item, time.Duration(delay))
			}
			for {
				item, nothing := q.Get()
				if nothing {
					break
				}
				q.Done(item)
				all[order] = append(all[order], item)
			}
		}
		var want [2][]int
		for delay := range 5 {
			var same []int
			for item := range delays {
				if delays[item] == delay {
					same = append(same, item)
				}
			}
			want[queue.FIFO] = append(want[queue.FIFO], same...)
			slices.Reverse(same)
			want[queue.Reversed] = append(want[queue.Reversed], same...)
		}
		for order, items := range all {
			if diff := cmp.Diff(want[order], items); diff != "" {
				t.Fatalf("order %d, delays %v (-want +got):\n%s", order, delays, diff)
			}
		}
	})
}

func Example() {
	q := queue.New[string](queue.FIFO)
	q.AddAfter("later", time.Hour)
	q.Add("now")
	for item, nothing := q.Get(); !nothing; item, nothing = q.Get() {
		fmt.Println(item)
		q.Done(item)
	}
	// Output:
	// now
	// later
}

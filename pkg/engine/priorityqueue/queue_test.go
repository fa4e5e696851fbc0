package priorityqueue_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"

	"github.com/dyncontroller/dyncontroller/pkg/engine/priorityqueue"
)

// Storage of a work queue is what it is.
var _ workqueue.Queue[string] = priorityqueue.New[string]()

// TestOrder adds items as the words say, and takes all of them: "!a" is fresh, "a" can
// wait, "-" takes one and is done with it, "(" takes one and ")" is done with it.
func TestOrder(t *testing.T) {
	tests := map[string]struct {
		reason, words, want string
	}{
		"FirstComeFirstServed":      {"Each lane is in order.", "a b c", "a b c"},
		"FreshInOrder":              {"Each lane is in order.", "!a !b !c", "a b c"},
		"FreshFirst":                {"A change does not wait for a resync.", "a b !c !d e", "c d a b e"},
		"Overtakes":                 {"What is changed while it waits is not late.", "a b c !b", "b a c"},
		"OvertakesOnce":             {"It is in one lane only.", "a b !b !b b", "b a"},
		"DoesNotFallBack":           {"A resync makes nothing late.", "!a !b a", "a b"},
		"TakenAndWaits":             {"The next time it counts anew.", "!a - a b", "a a b"},
		"HurriesWhileInHand":        {"What changes while a worker has it is next.", "a ( b !a )", "a a b"},
		"WaitsWhileInHand":          {"What is retried meanwhile is not.", "!a ( b a )", "a b a"},
		"HurriedAndWaitsWhileThere": {"The sooner counts.", "a ( b !a a )", "a a b"},
		"EighthTurn": {
			"The rest has every eighth turn.",
			"z y x !a !b !c !d !e !f !g !h !i !j !k !l !m !n !o", "a b c d e f g z h i j k l m n y o x",
		},
		"TurnIsKept": {
			"A turn that nobody wanted is had at once by who comes.",
			"!a !b !c !d !e !f !g !h !i - - - - - - - - z", "a b c d e f g h z i",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := gocmp.Diff(tc.want, strings.Join(play(tc.words), " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// play returns all that is taken, in order.
func play(words string) []string {
	var taken, inHand []string
	storage := priorityqueue.New[string]()
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: storage})
	take := func() string {
		item, _ := queue.Get()
		taken = append(taken, item)
		return item
	}
	for word := range strings.FieldsSeq(words) {
		switch word {
		case "-":
			queue.Done(take())
		case "(":
			inHand = append(inHand, take())
		case ")":
			queue.Done(inHand[0])
			inHand = inHand[1:]
		default:
			item, fresh := strings.CutPrefix(word, "!")
			if fresh {
				storage.Hurry(item)
			}
			queue.Add(item)
		}
	}
	for queue.Len() > 0 {
		queue.Done(take())
	}
	return taken
}

// TestLosesNothing holds that whatever is added comes out once more after that, that
// nothing comes out twice, and that what can wait is not passed over for ever.
func TestLosesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	storage := priorityqueue.New[int]()
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[int]{Queue: storage})
	due, passedOver := map[int]bool{}, 0
	for range 100_000 {
		if random.IntN(3) > 0 {
			item := random.IntN(50)
			if random.IntN(2) == 0 {
				storage.Hurry(item)
			}
			queue.Add(item)
			due[item] = true
		}
		if got := queue.Len(); got != len(due) {
			t.Fatalf("%d items wait, want %d", got, len(due))
		}
		if len(due) == 0 {
			continue
		}
		item, _ := queue.Get()
		if !due[item] {
			t.Fatalf("%d came out although nobody added it", item)
		}
		delete(due, item)
		queue.Done(item)
	}
	// From now on only changes come, all the time, and one item can wait.
	queue.Add(1000)
	for item := 0; item != 1000; {
		storage.Hurry(random.IntN(50))
		queue.Add(random.IntN(50))
		fresh := 2000 + passedOver
		storage.Hurry(fresh)
		queue.Add(fresh)
		item, _ = queue.Get()
		queue.Done(item)
		if passedOver++; passedOver > priorityqueue.Turns*100 {
			t.Fatal("what can wait is never taken")
		}
	}
}

// TestForgetsWhoHurried holds that an item which was taken between being hurried and
// being added counts as taken.
func TestForgetsWhoHurried(t *testing.T) {
	storage := priorityqueue.New[string]()
	storage.Push("b")
	storage.Hurry("b")
	if got := storage.Pop(); got != "b" {
		t.Fatalf("took %q", got)
	}
	storage.Push("a")
	storage.Push("b")
	if got := storage.Pop(); got != "a" {
		t.Errorf("took %q first, which saw already what it was to hurry for", got)
	}
	if got := storage.Len(); got != 1 {
		t.Errorf("%d items are left, want one", got)
	}
}

// FuzzOrder holds that no sequence of calls makes the queue lose an item, or panic.
func FuzzOrder(f *testing.F) {
	f.Add([]byte("aAbB-c-"))
	f.Add([]byte("ABCabc---ABC"))
	f.Fuzz(func(t *testing.T, calls []byte) {
		storage, waits := priorityqueue.New[byte](), map[byte]bool{}
		for _, call := range calls {
			item := call | 0x20
			switch {
			case call == '-' && len(waits) > 0:
				if got := storage.Pop(); !waits[got] {
					t.Fatalf("took %c, which does not wait", got)
				} else {
					delete(waits, got)
				}
			case call == '-':
			default:
				if call != item {
					storage.Hurry(item)
				}
				if waits[item] {
					storage.Touch(item)
				} else {
					storage.Push(item)
				}
				waits[item] = true
			}
			if storage.Len() != len(waits) {
				t.Fatalf("%d items wait, want %d", storage.Len(), len(waits))
			}
		}
	})
}

// TestUnfinished holds what is listed: what waits, and what was taken and is not finished, with the order of that.
func TestUnfinished(t *testing.T) {
	storage := priorityqueue.New[string]()
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: storage})
	add := func(item string) func() { return func() { storage.Announce(item); queue.Add(item) } }
	for _, step := range []struct {
		reason string
		do     func()
		want   map[string]uint64
	}{
		{"Nothing was added.", func() {}, map[string]uint64{}},
		{"It waits.", add("a"), map[string]uint64{"a": 1}},
		{"It was added before.", add("a"), map[string]uint64{"a": 1}},
		{"A worker has it.", func() { queue.Get() }, map[string]uint64{"a": 1}},
		{"It is to be taken again after that, and others come.", func() { add("a")(); add("b")() }, map[string]uint64{"a": 1, "b": 3}},
		{"It waits since it was in hand.", func() { storage.Finish("a") }, map[string]uint64{"a": 2, "b": 3}},
		{"It is there again.", func() { queue.Done("a") }, map[string]uint64{"a": 2, "b": 3}},
		{"The other is taken first, which has waited.", func() { queue.Get(); storage.Finish("b"); queue.Done("b") }, map[string]uint64{"a": 2}},
		{"What nobody announced counts when it is there.", func() { queue.Add("c") }, map[string]uint64{"a": 2, "c": 4}},
		{
			"All are done.", func() {
				for range 2 {
					item, _ := queue.Get()
					storage.Finish(item)
					queue.Done(item)
				}
			}, map[string]uint64{},
		},
	} {
		step.do()
		if diff := gocmp.Diff(step.want, storage.Unfinished()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
		if storage.Idle() != (len(step.want) == 0) {
			t.Errorf("%s idle: %t", step.reason, storage.Idle())
		}
	}
	if got := storage.Number(); got != 4 {
		t.Errorf("the last number is %d, want 4", got)
	}
}

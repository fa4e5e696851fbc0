package engine

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"
	"unique"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/priorityqueue"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestCandidatesInclude(t *testing.T) {
	one, other, foreign := plan.Rule{Set: "set", Name: "one"}, plan.Rule{Set: "set", Name: "other"}, plan.Rule{Set: "another", Name: "one"}
	elsewhere := Key{Name: "a"}
	elsewhere.GVR.Resource = "gadgets"
	for name, tc := range map[string]struct {
		reason string
		kind   plan.LeftoverKind
		key    Key
		late   guard.Owed
		want   bool
	}{
		"Any":           {"It may be one of them.", plan.LeftChildren, objectNamed("a"), guard.Owed{}, true},
		"AnyFields":     {"The same holds for fields.", plan.LeftFields, objectNamed("a"), guard.Owed{}, true},
		"Elsewhere":     {"None of them watches that.", plan.LeftChildren, elsewhere, guard.Owed{}, false},
		"One":           {"It has not got the children yet.", plan.LeftChildren, objectNamed("a"), guard.Owed{other: guard.Hopeless, one: guard.Hopeless}, true},
		"Other":         {"The other can take over nothing.", plan.LeftFinalizer, objectNamed("a"), guard.Owed{other: guard.Passing}, false},
		"Foreign":       {"A set that is deleted does not wait for trouble of others.", plan.LeftChildren, objectNamed("a"), guard.Owed{foreign: guard.Retryable}, false},
		"ForeignTurn":   {"It would take over the children if it had its turn.", plan.LeftChildren, objectNamed("a"), guard.Owed{foreign: guard.Passing}, true},
		"Fields":        {"It may be refused them because they are not given up.", plan.LeftFields, objectNamed("a"), guard.Owed{one: guard.Hopeless, other: guard.Retryable}, false},
		"FieldsLater":   {"It is not refused for good.", plan.LeftFields, objectNamed("a"), guard.Owed{one: guard.Retryable}, true},
		"FieldsForeign": {"It would take them over if it had its turn.", plan.LeftFields, objectNamed("a"), guard.Owed{foreign: guard.Passing}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := candidates{
				of: plan.Leftover{Rule: plan.Rule{Set: "set"}, Kind: tc.kind}, rules: []plan.Rule{one, foreign},
				caches: []informer.Key{{GVR: objectNamed("").GVR}},
			}
			if got := c.include(tc.key, tc.late); got != tc.want {
				t.Errorf("%s\ngot %v", tc.reason, got)
			}
		})
	}
}

// TestOwed holds when rules have done with an object.
func TestOwed(t *testing.T) {
	rule, other := plan.Rule{Set: "set", Name: "rule"}, plan.Rule{Set: "set", Name: "other"}
	rules := []plan.Rule{rule}
	left := []plan.Operation{{Rules: []plan.Rule{rule}}, {Rules: []plan.Rule{other}}}
	for name, tc := range map[string]struct {
		reason  string
		outcome guard.Outcome
		waiting []plan.Rule
		undone  []plan.Operation
		want    guard.Owed
	}{
		"Settled":  {reason: "Nothing is left to do.", outcome: guard.Outcome{}},
		"Written":  {reason: "The caches have not shown it.", outcome: guard.Outcome{State: guard.Waiting}, want: guard.Owed{}},
		"Retried":  {reason: "The others have had their turn.", outcome: failed(guard.Retryable, rules, errLate), want: guard.Owed{rule: guard.Retryable}},
		"Conflict": {reason: "It is decided anew.", outcome: failed(guard.Passing, rules, errLate), want: guard.Owed{rule: guard.Passing}},
		"Stopped": {
			reason: "The other has not had its turn.", outcome: failed(guard.Retryable, rules, errLate), undone: left,
			want: guard.Owed{rule: guard.Retryable, other: guard.Passing},
		},
		"Delayed":  {reason: "Nobody was asked.", outcome: guard.Outcome{State: guard.Retry}, want: guard.Owed{}},
		"Refused":  {reason: "A retry would not help.", outcome: failed(guard.Hopeless, rules, errLate), want: guard.Owed{rule: guard.Hopeless}},
		"Unknown":  {reason: "It is not known whose it is.", outcome: failed(guard.Hopeless, nil, errLate), want: guard.Owed{}},
		"Surprise": {reason: "What was written may lead to more.", outcome: wrote(failed(guard.Hopeless, rules, errLate)), want: guard.Owed{}},
		"Waiting":  {reason: "It will want something.", outcome: guard.Outcome{}, waiting: rules, want: guard.Owed{rule: guard.Retryable}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.outcome.Owed(tc.waiting, tc.undone)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func wrote(outcome guard.Outcome) guard.Outcome {
	outcome.Wrote = true
	return outcome
}

func objectNamed(name string) Key {
	key := Key{Name: name}
	key.GVR.Resource = "widgets"
	return key
}

// TestUnfinished holds what is waited for before something is taken away.
func TestUnfinished(t *testing.T) {
	rule := []plan.Rule{{Set: "set", Name: "rule"}}
	a, other := objectNamed("a"), objectNamed("b")
	var inEffect atomic.Pointer[active]
	inEffect.Store(&active{generations: generations{generation: 1}})
	queue := priorityqueue.New[handle]()
	u := &unfinished{lanes: queue, looks: map[Key]int{}, owing: map[Key]guard.Owed{}, since: map[Key]time.Time{}}
	last := false
	look := func(key Key, with func(Key)) {
		u.begin(key, &inEffect)
		with(key)
		last = u.end(key)
	}
	owes := func(rules ...plan.Rule) func(Key) {
		owed := guard.Owed{}
		for _, rule := range rules {
			owed[rule] = guard.Retryable
		}
		return func(key Key) { u.owe(key, owed) }
	}
	nothing := func(Key) {}
	add := func(key Key) { queue.Announce(unique.Make(key)); queue.Push(unique.Make(key)) }
	for _, step := range []struct {
		reason string
		do     func()
		last   bool // it was the last that was waited for
		want   error
	}{
		{"Nothing was looked at.", func() {}, false, nil},
		{"It is in the way.", func() { look(a, owes(rule...)) }, false, errLate},
		{"Nobody knows what it owes now.", func() { look(a, owes()) }, false, errLate},
		{"It is done.", func() { look(a, u.done) }, true, nil},
		{"Two are in the way.", func() { look(a, owes()); look(other, owes()) }, false, errLate},
		{"The first is done.", func() { look(a, u.done) }, false, errLate},
		{"The last is done.", func() { look(other, u.done) }, true, nil},
		{"One waits for a worker.", func() { add(a) }, false, errQueued},
		{"What is queued needs a look, whatever comes of it.", func() { look(queue.Pop().Value(), nothing) }, true, nil},
		{"A worker has begun with older rules.", func() { add(a); u.begin(queue.Pop().Value(), &inEffect) }, false, errQueued},
		{"It is done with that.", func() { last = u.end(a) }, true, nil},
		{"One owes something for long, another waits for a worker.", func() { look(other, owes(rule...)); add(a) }, false, errLate},
		{"What waits for the worker alone has gone on.", func() { look(queue.Pop().Value(), nothing) }, false, errLate},
		{"It is queued again while a worker has it: that it was is known before he is done.", func() {
			look(other, u.done)
			add(a)
			u.begin(queue.Pop().Value(), &inEffect)
			queue.Announce(unique.Make(a))
			u.end(a)
			last = false
		}, false, errQueued},
	} {
		last = false
		if step.do(); last != step.last {
			t.Errorf("%s last: %t", step.reason, last)
		}
		all := &candidates{
			of: plan.Leftover{Rule: rule[0].OfSet(), Kind: plan.LeftChildren}, rules: rule,
			caches: []informer.Key{{GVR: a.GVR}}, before: queue.Number() + 1,
		}
		if err := u.hold([]*candidates{all}, 2); !errors.Is(err, step.want) || all.held != (err != nil) {
			t.Errorf("%s got %v, held %t; want %v", step.reason, err, all.held, step.want)
		}
	}
}

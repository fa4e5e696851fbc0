package engine

import (
	"slices"
	"sync/atomic"
	"testing"

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
		late   []plan.Rule
		want   bool
	}{
		"Any":       {"It may be one of them.", plan.LeftChildren, objectNamed("a"), nil, true},
		"AnyFields": {"The same holds for fields.", plan.LeftFields, objectNamed("a"), nil, true},
		"Elsewhere": {"None of them watches that.", plan.LeftChildren, elsewhere, nil, false},
		"One":       {"It has not got the children yet.", plan.LeftChildren, objectNamed("a"), []plan.Rule{other, one}, true},
		"Other":     {"The other can take over nothing.", plan.LeftFinalizer, objectNamed("a"), []plan.Rule{other}, false},
		"Foreign":   {"A set that is deleted does not wait for trouble of others.", plan.LeftChildren, objectNamed("a"), []plan.Rule{foreign}, false},
		"Fields":    {"It may be refused them because they are not given up.", plan.LeftFields, objectNamed("a"), []plan.Rule{one}, false},
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
	rule := []plan.Rule{{Set: "set", Name: "rule"}}
	for name, tc := range map[string]struct {
		reason  string
		outcome guard.Outcome
		waiting []plan.Rule
		rules   int
		owe     bool
	}{
		"Settled":  {reason: "Nothing is left to do.", outcome: guard.Outcome{}},
		"Written":  {reason: "The caches have not shown it.", outcome: guard.Outcome{State: guard.Waiting}, owe: true},
		"Retried":  {reason: "Nobody knows what else was left.", outcome: failed(guard.Retryable, rule, errLate), owe: true},
		"Refused":  {reason: "The others have had their turn.", outcome: failed(guard.Hopeless, rule, errLate), rules: 1, owe: true},
		"Unknown":  {reason: "It is not known whose it is.", outcome: failed(guard.Hopeless, nil, errLate), owe: true},
		"Surprise": {reason: "The rest may have been left.", outcome: wrote(failed(guard.Hopeless, rule, errLate)), owe: true},
		"Waiting":  {reason: "It will want something.", outcome: guard.Outcome{}, waiting: rule, rules: 1, owe: true},
	} {
		t.Run(name, func(t *testing.T) {
			if rules, owe := tc.outcome.Owed(tc.waiting); len(rules) != tc.rules || owe != tc.owe {
				t.Errorf("%s\n%v, owed: %v", tc.reason, rules, owe)
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

// TestUnfinished holds when the housekeeper is told that it may find out more.
func TestUnfinished(t *testing.T) {
	rule := []plan.Rule{{Set: "set", Name: "rule"}}
	a, other := objectNamed("a"), objectNamed("b")
	var inEffect atomic.Pointer[active]
	inEffect.Store(&active{generations: generations{generation: 1}})
	queue := priorityqueue.New[Key]()
	u := newUnfinished(queue)
	var asked []string
	await := func() bool {
		all := &candidates{
			of: plan.Leftover{Rule: rule[0].OfSet(), Kind: plan.LeftChildren}, rules: rule,
			caches: []informer.Key{{GVR: a.GVR}}, before: queue.Number() + 1,
		}
		err := u.await([]*candidates{all}, 2)
		for key, owes := range u.awaited {
			how := " is queued"
			if owes {
				how = " owes"
			} else if u.looks[key] != nil {
				how = " is looked at"
			}
			asked = append(asked, key.Name+how)
		}
		slices.Sort(asked)
		if all.held != (len(asked) > 0) || all.held != (err != nil) {
			t.Errorf("held: %t although %v: %v", all.held, asked, err)
		}
		return false
	}
	look := func(key Key, with func(Key)) bool {
		u.begin(key, &inEffect)
		with(key)
		return u.end(key)
	}
	owes := func(rules ...plan.Rule) func(Key) { return func(key Key) { u.owe(key, rules) } }
	nothing := func(Key) {}
	add := func(key Key) { queue.Announce(key); queue.Push(key) }
	taken := func(with func(Key)) bool { return look(queue.Pop(), with) }
	for _, step := range []struct {
		reason string
		do     func() bool
		last   bool
		asked  []string
	}{
		{"Nobody waits.", func() bool { return look(a, owes(rule...)) }, false, nil},
		{"It is in the way.", await, false, []string{"a owes"}},
		{"It is as it was.", func() bool { return look(a, owes(rule...)) }, false, nil},
		{"Nobody waits for the other.", func() bool { return look(other, u.done) }, false, nil},
		{"Nobody knows what it owes now.", func() bool { return look(a, owes()) }, true, nil},
		{"Whoever wants to know must ask again.", func() bool { return look(a, u.done) }, false, nil},
		{"Two are in the way.", func() bool { look(a, owes()); look(other, owes()); await(); return look(a, u.done) }, false, []string{"a owes", "b owes"}},
		{"The last is done.", func() bool { return look(other, u.done) }, true, nil},
		{"One waits for a worker.", func() bool { add(a); return await() }, false, []string{"a is queued"}},
		{"What is queued needs a look, whatever comes of it.", func() bool { return taken(nothing) }, true, nil},
		{
			"A worker has begun with older rules.", func() bool { add(a); u.begin(queue.Pop(), &inEffect); return await() }, false,
			[]string{"a is looked at"},
		},
		{"It is done with that.", func() bool { return u.end(a) }, true, nil},
		{
			"One owes something for long, another waits for a worker.", func() bool { look(other, owes(rule...)); add(a); return await() }, false,
			[]string{"a is queued", "b owes"},
		},
		{"What waits for the worker alone may go on.", func() bool { return taken(nothing) }, true, nil},
		{
			"It is queued again while a worker has it: that it was is known before he is done.", func() bool {
				look(other, u.done)
				add(a)
				u.begin(queue.Pop(), &inEffect)
				queue.Announce(a)
				u.end(a)
				return await()
			}, false,
			[]string{"a is queued"},
		},
	} {
		asked = nil
		if last := step.do(); last != step.last {
			t.Errorf("%s last: %v", step.reason, last)
		}
		if diff := cmp.Diff(step.asked, asked); diff != "" {
			t.Errorf("%s asked (-want +got):\n%s", step.reason, diff)
		}
	}
}

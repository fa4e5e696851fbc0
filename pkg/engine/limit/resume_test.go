package limit_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// exhausted is a world whose first rule is paused, and stored as such.
func exhausted(t *testing.T, rules ...guard.Limited) (w *world, stored map[plan.Rule]limit.Stored) {
	t.Helper()
	w = newWorld(rules...)
	return w, w.exhaust(t, rules[0].ID)
}

// exhaust has a rule write for as many objects as it may, and returns what is stored.
func (w *world) exhaust(t *testing.T, rule plan.Rule) (stored map[plan.Rule]limit.Stored) {
	t.Helper()
	w.write(t, rule, "a")
	if got := w.reserve("b", rule); got != paused {
		t.Fatalf("got %d, want it paused", got)
	}
	stored = w.store(nil, nobody)
	w.learn(stored, everything)
	if w.Unsaved() || len(stored) != 1 {
		t.Fatalf("unsaved %v, stored %v", w.Unsaved(), stored)
	}
	return stored
}

func everything(plan.Rule) bool { return true }
func nobody(plan.Rule) bool     { return false }

func asking(rule guard.Limited) guard.Limited {
	rule.Asked = true
	return rule
}

func changed(rule guard.Limited) guard.Limited {
	rule.Digest = "second"
	return rule
}

// TestResumes holds what ends a pause.
func TestResumes(t *testing.T) {
	tests := map[string]struct {
		reason string
		rule   guard.Limited
		steps  []func(w *world) []plan.Rule
		want   []plan.Rule // by the last step
		paused bool
	}{
		"Reload": {
			reason: "The same rule stays paused.",
			rule:   limited(one, 1),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.follow(true, limited(one, 1)) }},
			paused: true,
		},
		"Changed": {
			reason: "Somebody has looked at a rule that has changed.",
			rule:   limited(one, 1),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.follow(true, changed(limited(one, 1))) }},
			want:   []plan.Rule{one},
		},
		"ChangedBack": {
			reason: "It is another rule from then on.",
			rule:   limited(one, 1),
			steps: []func(w *world) []plan.Rule{
				func(w *world) []plan.Rule { return w.follow(true, changed(limited(one, 1))) },
				func(w *world) []plan.Rule { return w.follow(true, limited(one, 1)) },
			},
		},
		"Asked": {
			reason: "Somebody says that it may.",
			rule:   limited(one, 1),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.ask(everything) }},
			want:   []plan.Rule{one},
		},
		"AskedInFile": {
			reason: "Or a file does.",
			rule:   limited(one, 1),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.follow(true, asking(limited(one, 1))) }},
			want:   []plan.Rule{one},
		},
		"AskedForAnother": {
			reason: "It is not meant.",
			rule:   limited(one, 1),
			steps: []func(w *world) []plan.Rule{func(w *world) []plan.Rule {
				return w.ask(func(rule plan.Rule) bool { return rule == two })
			}},
			paused: true,
		},
		"AskedBefore": {
			reason: "What was there when it paused is from before anybody could look.",
			rule:   asking(limited(one, 1)),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.ask(everything) }},
			paused: true,
		},
		"TakenOff": {
			reason: "To take it off is not to ask.",
			rule:   asking(limited(one, 1)),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.ask(nobody) }},
			paused: true,
		},
		"TakenOffAndPutOn": {
			reason: "To put it on again is.",
			rule:   asking(limited(one, 1)),
			steps: []func(w *world) []plan.Rule{
				func(w *world) []plan.Rule { return w.ask(nobody) },
				func(w *world) []plan.Rule { return w.ask(everything) },
			},
			want: []plan.Rule{one},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := exhausted(t, tc.rule)
			var got []plan.Rule
			for _, step := range tc.steps {
				got = step(w)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s resumed (-want +got):\n%s", tc.reason, diff)
			}
			_, paused := w.pauseOf(one)
			if paused != tc.paused {
				t.Fatalf("%s paused: %v", tc.reason, paused)
			}
			if !paused { // With an empty window.
				w.write(t, one, "b")
			}
		})
	}
}

// TestOutlives holds what becomes of a pause in the next process.
func TestOutlives(t *testing.T) {
	tests := map[string]struct {
		reason  string
		rule    guard.Limited // of the first process
		next    guard.Limited
		paused  bool
		resumed []plan.Rule
		unsaved bool // there is something to store
	}{
		"Same":    {"The rule is paused still.", limited(one, 1), limited(one, 1), true, nil, false},
		"Changed": {"Another rule has not paused.", limited(one, 1), changed(limited(one, 1)), false, nil, true},
		"Asked": {
			"Somebody has looked while nobody ran.",
			limited(one, 1), asking(limited(one, 1)), false,
			[]plan.Rule{one},
			true,
		},
		"AskedBefore": {
			"An annotation from before does not count after a restart either.",
			asking(limited(one, 1)), asking(limited(one, 1)), true, nil, false,
		},
		"TakenOff": {
			"That it was taken off is to be stored, or it could not be put on again.",
			asking(limited(one, 1)), limited(one, 1), true, nil, true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, stored := exhausted(t, tc.rule)
			w := newWorld()
			w.follow(false, tc.next)
			if got := w.reserve("b", one); got != unknown {
				t.Errorf("%s before it is known: %d", tc.reason, got)
			}
			if got := w.hold(one); got != unknown {
				t.Errorf("%s before it is known it may hold objects: %d", tc.reason, got)
			}
			if kept := w.store(stored, nobody); len(kept) != 1 {
				t.Errorf("%s it is forgotten before it is known: %v", tc.reason, kept)
			}
			resumed := w.learn(stored, everything)
			if diff := cmp.Diff(tc.resumed, resumed); diff != "" {
				t.Errorf("%s resumed (-want +got):\n%s", tc.reason, diff)
			}
			if _, paused := w.pauseOf(one); paused != tc.paused {
				t.Errorf("%s paused: %v", tc.reason, paused)
			}
			if w.Unsaved() != tc.unsaved {
				t.Errorf("%s to be stored: %v", tc.reason, w.Unsaved())
			}
			if len(w.take()) > 0 {
				t.Errorf("%s it is told again", tc.reason)
			}
			if !tc.paused {
				w.write(t, one, "b")
			}
		})
	}
}

// TestLearnsOfSetsThatCouldBeRead holds that the others wait.
func TestLearnsOfSetsThatCouldBeRead(t *testing.T) {
	w := newWorld()
	w.follow(false, limited(one, 1), limited(alien, 1))
	w.learn(nil, func(set plan.Rule) bool { return set.Set == "set" })
	w.write(t, one, "a")
	if got := w.reserve("a", alien); got != unknown {
		t.Errorf("got %d, want the rule of the other set to wait", got)
	}
	w.learn(nil, everything)
	w.write(t, alien, "a")
	w.follow(false, limited(one, 1), limited(two, 1))
	if got := w.reserve("a", two); got != unknown {
		t.Errorf("got %d, want a rule that is new to wait", got)
	}
	w.write(t, one, "a")
}

// TestStores holds what is stored in place of what is.
func TestStores(t *testing.T) {
	w, stored := exhausted(t, limited(one, 1), limited(two, 1))
	strangers := map[plan.Rule]limit.Stored{alien: {Pause: &v1alpha1.Pause{Rule: "alien", Digest: "x"}}, two: {Pause: &v1alpha1.Pause{Rule: "two", Digest: "y"}}}
	if diff := cmp.Diff(map[plan.Rule]limit.Stored{alien: strangers[alien], one: stored[one]}, w.store(strangers, nobody)); diff != "" {
		t.Errorf("want that of the stranger kept, and that of what is known not to be paused dropped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stored, w.store(strangers, everything)); diff != "" {
		t.Errorf("want nothing kept of rules that are gone (-want +got):\n%s", diff)
	}
}

// TestStoresAgain holds that what has changed since it was to be stored, or is of a set that could not be, is stored again.
func TestStoresAgain(t *testing.T) {
	w, _ := exhausted(t, limited(one, 1))
	w.store(nil, nobody)
	w.ask(everything)
	if w.learn(nil, everything); !w.Unsaved() {
		t.Error("what was stored is from before")
	}
	w.store(nil, nobody)
	if w.learn(nil, nobody); !w.Unsaved() {
		t.Error("its set was not stored")
	}
	if w.learn(nil, everything); w.Unsaved() {
		t.Error("it is stored")
	}
}

// TestAskedByAnObject holds that a set object resumes a rule by an annotation that was put on after its pause was stored, and by no other.
func TestAskedByAnObject(t *testing.T) {
	book := func(names ...plan.Rule) limit.Asks {
		return func(rule plan.Rule) (asks, known bool) { return slices.Contains(names, rule), true }
	}
	asks, silent := book(one), book(two)
	tests := map[string]struct {
		reason string
		// What the object asks, as it is read, and is stored, in turn; nil for what could not be read. The rule pauses before the first.
		turns []limit.Asks
		// pauses is in which turn it does so instead, between what is read and what is stored.
		pauses int
		asked  bool // it is told to take the annotation off before
		paused bool
	}{
		"After":          {"Users have looked.", []limit.Asks{silent, silent, asks, silent}, 0, false, false},
		"Later":          {"So they have if it is there when the pause has been stored.", []limit.Asks{silent, asks}, 0, false, false},
		"Before":         {"Nobody can have looked, though no watch has shown it yet.", []limit.Asks{asks, asks, asks, asks}, 0, true, true},
		"WhileItPauses":  {"It has paused since that was read.", []limit.Asks{silent, asks, asks, asks}, 1, true, true},
		"Meanwhile":      {"It is there when the pause is to be stored.", []limit.Asks{silent, silent, asks, asks}, 1, true, true},
		"AnswerLost":     {"The pause is stored, which users have seen.", []limit.Asks{silent, nil, asks}, 0, false, false},
		"AnswerLostToo":  {"So is that it was asked before.", []limit.Asks{asks, nil, asks, asks}, 0, true, true},
		"TakenOff":       {"That is not to ask.", []limit.Asks{asks, asks, silent, silent}, 0, false, true},
		"TakenOffBefore": {"It is off once the pause is stored.", []limit.Asks{asks, silent}, 0, false, true},
		"Anew":           {"It was put on again.", []limit.Asks{asks, asks, silent, silent, asks, asks}, 0, false, false},
		"Unread":         {"It is not known to be off.", []limit.Asks{asks, asks, nil, nil, asks, asks}, 0, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(limited(one, 1))
			w.write(t, one, "a")
			var stored map[plan.Rule]limit.Stored
			for i, asks := range tc.turns {
				if i == tc.pauses {
					w.reserve("b", one)
				}
				switch {
				case i%2 == 0 && asks != nil:
					stored = w.Store(stored, asks, nobody)
				case i%2 == 0:
					w.Store(nil, noObjects, nobody) // It is not stored.
				case asks != nil:
					w.Learn(stored, asks, everything, w.Started())
				default:
					w.Learn(stored, noObjects, nobody, w.Started())
				}
			}
			if pause, paused := w.pauseOf(one); paused != tc.paused || pause.Asked != tc.asked {
				t.Errorf("%s paused %t, asked before %t", tc.reason, paused, pause.Asked)
			}
		})
	}
}

// TestPausesOfOneSecond holds that they are told apart: by what is stored of the first one, users have not looked at the second.
func TestPausesOfOneSecond(t *testing.T) {
	w, stored := exhausted(t, limited(one, 1))
	asks := func(plan.Rule) (asks, known bool) { return true, true }
	w.Store(stored, asks, nobody) // It resumes, which is not stored.
	w.write(t, one, "b")
	w.reserve("c", one)
	stored = w.Store(stored, asks, nobody)
	w.Learn(stored, asks, everything, w.Started())
	if pause, paused := w.pauseOf(one); !paused || !pause.Asked {
		t.Errorf("paused %t, asked before %t", paused, pause.Asked)
	}
}

// TestAnswered holds for how long what a set object asks has to be taken off: from when that is answered until it is off.
func TestAnswered(t *testing.T) {
	asks := func(plan.Rule) (asks, known bool) { return true, true }
	silent := func(plan.Rule) (asks, known bool) { return false, true }
	tests := map[string]struct {
		reason string
		answer func(w *world, stored map[plan.Rule]limit.Stored) // it is paused, and not asked
	}{
		"Resumed": {"It has resumed by that.", func(*world, map[plan.Rule]limit.Stored) {}},
		"Again": {"It has paused since.", func(w *world, stored map[plan.Rule]limit.Stored) {
			w.Store(stored, asks, nobody)
			w.reserve("b", one)
			w.settle("b", true, one)
			w.reserve("c", one)
		}},
		"Changed": {"It has changed since it paused though it was asked.", func(w *world, stored map[plan.Rule]limit.Stored) {
			w.Store(stored, asks, nobody)
			w.reserve("b", one)
			w.settle("b", true, one)
			w.reserve("c", one)
			w.follow(true, changed(limited(one, 1)))
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, stored := exhausted(t, limited(one, 1))
			if stored[one].Answered || w.Store(stored, silent, nobody)[one].Answered {
				t.Errorf("%s nothing was asked", tc.reason)
			}
			tc.answer(w, stored)
			for range 2 { // It could not be taken off.
				if stored = w.Store(stored, asks, nobody); !stored[one].Answered {
					t.Errorf("%s it is not to be taken off: %+v", tc.reason, stored[one])
				}
				w.Learn(stored, asks, everything, w.Started())
			}
			if w.Learn(stored, silent, everything, w.Started()); w.Store(stored, silent, nobody)[one].Answered {
				t.Errorf("%s it is to be taken off though it is", tc.reason)
			}
			if w.Store(stored, asks, nobody)[one].Answered && name != "Again" {
				t.Errorf("%s what is asked early is to be taken off", tc.reason)
			}
		})
	}
}

// TestAskedByAFileNow holds that a set that has no object any more asks by its file alone.
func TestAskedByAFileNow(t *testing.T) {
	w, stored := exhausted(t, limited(one, 1))
	asks := func(plan.Rule) (asks, known bool) { return true, true }
	w.reserve("b", one)
	w.Store(stored, asks, nobody)
	w.learn(stored, everything)
	w.write(t, one, "b")
	w.reserve("c", one) // It is paused again.
	w.learn(w.store(stored, nobody), everything)
	if resumed := w.ask(everything); len(resumed) != 1 {
		t.Errorf("it does not resume by its file: %+v", w.All())
	}
}

// TestPausesAgain holds that an annotation by which a rule has resumed does not resume it again.
func TestPausesAgain(t *testing.T) {
	w, _ := exhausted(t, limited(one, 1))
	w.ask(everything)
	w.write(t, one, "b")
	if got := w.reserve("c", one); got != paused {
		t.Fatalf("got %d, want it paused again", got)
	}
	if w.learn(w.store(nil, nobody), everything); w.Unsaved() {
		t.Error("it is stored")
	}
	if got := w.All(); len(got) != 1 || !got[0].Asked {
		t.Errorf("paused: %+v, want it known that it was asked before", got)
	}
}

// TestForgotten holds that nothing waits to be stored of a rule that is not followed.
func TestForgotten(t *testing.T) {
	w := newWorld(limited(one, 1))
	w.write(t, one, "a")
	w.reserve("b", one)
	w.follow(true)
	if w.Unsaved() || len(w.All()) > 0 {
		t.Errorf("unsaved %v, paused %v", w.Unsaved(), w.All())
	}
}

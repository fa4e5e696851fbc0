package limit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// exhausted is a world whose first rule is paused, and stored as such.
func exhausted(t *testing.T, rules ...limit.Rule) (w *world, stored []limit.Pause) {
	t.Helper()
	w = newWorld(rules...)
	w.write(t, rules[0].ID, "a")
	if got := w.reserve(rules[0].ID, "b"); got != limit.Paused {
		t.Fatalf("got %d, want it paused", got)
	}
	version := w.Version()
	stored = w.Store(nil, nobody)
	w.Learn(stored, everything, version)
	if w.Unsaved() || len(stored) != 1 {
		t.Fatalf("unsaved %v, stored %v", w.Unsaved(), stored)
	}
	return w, stored
}

func everything(plan.Rule) bool { return true }
func nobody(plan.Rule) bool     { return false }

func asking(rule limit.Rule) limit.Rule {
	rule.Asked = true
	return rule
}

func changed(rule limit.Rule) limit.Rule {
	rule.Digest = "second"
	return rule
}

// TestResumes holds what ends a pause.
func TestResumes(t *testing.T) {
	tests := map[string]struct {
		reason string
		rule   limit.Rule
		steps  []func(w *world) []plan.Rule
		want   []plan.Rule // by the last step
		paused bool
	}{
		"Reload": {
			reason: "The same rule stays paused.",
			rule:   limited(one, 1),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.Follow([]limit.Rule{limited(one, 1)}, true) }},
			paused: true,
		},
		"Changed": {
			reason: "Somebody has looked at a rule that has changed.",
			rule:   limited(one, 1),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.Follow([]limit.Rule{changed(limited(one, 1))}, true) }},
			want:   []plan.Rule{one},
		},
		"ChangedBack": {
			reason: "It is another rule from then on.",
			rule:   limited(one, 1),
			steps: []func(w *world) []plan.Rule{
				func(w *world) []plan.Rule { return w.Follow([]limit.Rule{changed(limited(one, 1))}, true) },
				func(w *world) []plan.Rule { return w.Follow([]limit.Rule{limited(one, 1)}, true) },
			},
		},
		"Asked": {
			reason: "Somebody says that it may.",
			rule:   limited(one, 1),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.Ask(everything) }},
			want:   []plan.Rule{one},
		},
		"AskedInFile": {
			reason: "Or a file does.",
			rule:   limited(one, 1),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.Follow([]limit.Rule{asking(limited(one, 1))}, true) }},
			want:   []plan.Rule{one},
		},
		"AskedForAnother": {
			reason: "It is not meant.",
			rule:   limited(one, 1),
			steps: []func(w *world) []plan.Rule{func(w *world) []plan.Rule {
				return w.Ask(func(rule plan.Rule) bool { return rule == two })
			}},
			paused: true,
		},
		"AskedBefore": {
			reason: "What was there when it paused is from before anybody could look.",
			rule:   asking(limited(one, 1)),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.Ask(everything) }},
			paused: true,
		},
		"TakenOff": {
			reason: "To take it off is not to ask.",
			rule:   asking(limited(one, 1)),
			steps:  []func(w *world) []plan.Rule{func(w *world) []plan.Rule { return w.Ask(nobody) }},
			paused: true,
		},
		"TakenOffAndPutOn": {
			reason: "To put it on again is.",
			rule:   asking(limited(one, 1)),
			steps: []func(w *world) []plan.Rule{
				func(w *world) []plan.Rule { return w.Ask(nobody) },
				func(w *world) []plan.Rule { return w.Ask(everything) },
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
			_, paused := w.Paused(one)
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
		rule    limit.Rule // of the first process
		next    limit.Rule
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
			w.Follow([]limit.Rule{tc.next}, false)
			if got := w.reserve(one, "b"); got != limit.Unknown {
				t.Errorf("%s before it is known: %d", tc.reason, got)
			}
			if got := w.May(one); got != limit.Unknown {
				t.Errorf("%s before it is known it may hold objects: %d", tc.reason, got)
			}
			if kept := w.Store(stored, nobody); len(kept) != 1 {
				t.Errorf("%s it is forgotten before it is known: %v", tc.reason, kept)
			}
			_, resumed := w.Learn(stored, everything, w.Version())
			if diff := cmp.Diff(tc.resumed, resumed); diff != "" {
				t.Errorf("%s resumed (-want +got):\n%s", tc.reason, diff)
			}
			if _, paused := w.Paused(one); paused != tc.paused {
				t.Errorf("%s paused: %v", tc.reason, paused)
			}
			if w.Unsaved() != tc.unsaved {
				t.Errorf("%s to be stored: %v", tc.reason, w.Unsaved())
			}
			if len(w.Fresh()) > 0 {
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
	w.Follow([]limit.Rule{limited(one, 1), limited(alien, 1)}, false)
	w.Learn(nil, func(set plan.Rule) bool { return set.Set == "set" }, 0)
	w.write(t, one, "a")
	if got := w.reserve(alien, "a"); got != limit.Unknown {
		t.Errorf("got %d, want the rule of the other set to wait", got)
	}
	w.Learn(nil, everything, 0)
	w.write(t, alien, "a")
	w.Follow([]limit.Rule{limited(one, 1), limited(two, 1)}, false)
	if got := w.reserve(two, "a"); got != limit.Unknown {
		t.Errorf("got %d, want a rule that is new to wait", got)
	}
	w.write(t, one, "a")
}

// TestStores holds what is stored in place of what is.
func TestStores(t *testing.T) {
	w, stored := exhausted(t, limited(one, 1), limited(two, 1))
	strangers := []limit.Pause{{Rule: alien, Digest: "x"}, {Rule: two, Digest: "y"}}
	if diff := cmp.Diff([]limit.Pause{strangers[0], stored[0]}, w.Store(strangers, nobody)); diff != "" {
		t.Errorf("want that of the stranger kept, and that of what is known not to be paused dropped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stored, w.Store(strangers, everything)); diff != "" {
		t.Errorf("want nothing kept of rules that are gone (-want +got):\n%s", diff)
	}
}

// TestOver holds that the end of a pause is told once it is stored, of each set for itself.
func TestOver(t *testing.T) {
	w, _ := exhausted(t, limited(one, 1))
	before := w.Version()
	w.Ask(everything)
	if over, _ := w.Learn(nil, everything, before); over != nil || !w.Unsaved() {
		t.Errorf("told of %v, unsaved %v: what was stored is from before", over, w.Unsaved())
	}
	if over, _ := w.Learn(nil, nobody, w.Version()); over != nil || !w.Unsaved() {
		t.Errorf("told of %v, unsaved %v: its set was not stored", over, w.Unsaved())
	}
	over, _ := w.Learn(nil, everything, w.Version())
	if diff := cmp.Diff([]plan.Rule{one}, over); diff != "" || w.Unsaved() {
		t.Errorf("unsaved %v, told of (-want +got):\n%s", w.Unsaved(), diff)
	}
}

// TestPausesAgain holds that the end of a pause is told though another has begun before
// it could be stored.
func TestPausesAgain(t *testing.T) {
	w, _ := exhausted(t, limited(one, 1))
	w.Ask(everything)
	w.write(t, one, "b")
	if got := w.reserve(one, "c"); got != limit.Paused {
		t.Fatalf("got %d, want it paused again", got)
	}
	for _, want := range [][]plan.Rule{{one}, nil} {
		over, _ := w.Learn(w.Store(nil, nobody), everything, w.Version())
		if diff := cmp.Diff(want, over); diff != "" || w.Unsaved() {
			t.Errorf("unsaved %v, told of (-want +got):\n%s", w.Unsaved(), diff)
		}
	}
	if got := w.All(); len(got) != 1 || !got[0].Asked {
		t.Errorf("paused: %+v, want it known that it was asked before", got)
	}
}

// TestForgotten holds that nothing waits to be stored of a rule that is not followed.
func TestForgotten(t *testing.T) {
	w := newWorld(limited(one, 1))
	w.write(t, one, "a")
	w.reserve(one, "b")
	w.Follow(nil, true)
	if w.Unsaved() || len(w.All()) > 0 {
		t.Errorf("unsaved %v, paused %v", w.Unsaved(), w.All())
	}
}

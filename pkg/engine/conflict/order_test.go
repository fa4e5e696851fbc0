package conflict

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// TestOrder holds that answers which come in another order than the writes were carried out
// in do not make strangers of our own rules: two workers may write to an object so fast, one
// after the other, that the second is told first.
func TestOrder(t *testing.T) {
	tests := map[string]struct {
		reason  string
		swapped func(round int) bool
	}{
		"InOrder": {reason: "Each answer comes in its turn.", swapped: func(int) bool { return false }},
		"Swapped": {reason: "Each second one comes before the first.", swapped: func(int) bool { return true }},
		"Mixed":   {reason: "Now and then one does.", swapped: func(i int) bool { return i%3 == 0 }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			conflicts := newGuard(testingclock.NewFakeClock(start))
			version := 1
			write := func(name string, watched Object, before, after int) written {
				w := written{
					watched: watched, target: target, uid: "u", found: strconv.Itoa(version), left: strconv.Itoa(version + 1),
					fields: []field{{rule: rule(name), path: replicas, shown: replicas, before: before, after: after, answered: after}},
					basis:  &basis{read: []guard.Input{{Object: target, UID: "u", Version: strconv.Itoa(version)}, {Object: watched, UID: "w", Version: "1"}}},
				}
				version++
				return w
			}
			var got []Conflict
			for i := range rounds {
				conflicts.begin(target)
				first := write("a", named("w"), 2, 1)
				if !tc.swapped(i) {
					conflicts.answer(target, &first)
				}
				conflicts.begin(target)
				second := write("b", source, 1, 2)
				for _, watched := range conflicts.answer(target, &second) {
					got = append(got, conflicts.untold(watched)...)
				}
				if tc.swapped(i) {
					conflicts.answer(target, &first)
				}
				got = append(got, conflicts.untold(named("w"))...)
				got = append(got, conflicts.untold(source)...)
			}
			if len(got) != 2 || got[0].Rival.Kind != Rule || got[1].Rival.Kind != Rule {
				t.Errorf("%s named %v", tc.reason, told(got))
			}
		})
	}
}

// TestUnderWay holds that a write which changed nothing, or of which nothing is known, keeps
// no other from being judged.
func TestUnderWay(t *testing.T) {
	g := newGame(t)
	for i := range rounds {
		g.conflicts.begin(target)
		g.edit(target, replicas, 0)
		g.write(move{rule: "a"}, 1)
		for _, watched := range g.conflicts.answer(target, nil) {
			g.named = append(g.named, g.conflicts.untold(watched)...)
		}
		if named := len(g.named) > 0; named != (i >= Repeats) {
			t.Errorf("named %v after %d writes", named, i+1)
		}
	}
	want := []string{"spec.replicas of widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"}
	if diff := cmp.Diff(want, told(g.named)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package conflict

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// fight has a script undo the rule a until that is named.
func fight(t *testing.T) *game {
	t.Helper()
	g := newGame(t)
	for i := 0; len(g.named) == 0; i++ {
		if i == rounds {
			t.Fatal("nothing is named")
		}
		g.edit(target, replicas, 0)
		g.write(move{rule: "a"}, 1)
	}
	return g
}

// TestHeld holds how long a rule has to wait, and which one.
func TestHeld(t *testing.T) {
	tests := map[string]struct {
		reason string
		rule   string
		target Object
		after  time.Duration
		want   time.Duration // from the start; 0 for none
	}{
		"AtOnce":      {reason: "It has written just now.", rule: "a", target: target, want: Interval},
		"BeforeLong":  {reason: "It is not yet time.", rule: "a", target: target, after: Interval - 1, want: Interval},
		"InTime":      {reason: "It is time.", rule: "a", target: target, after: Interval},
		"OtherRule":   {reason: "Others are not concerned.", rule: "b", target: target},
		"OtherObject": {reason: "Nor are other objects.", rule: "a", target: source},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := fight(t)
			g.pass(tc.after)
			got, held := g.held(rule(tc.rule), tc.target)
			if held != (tc.want > 0) || held && !got.Next.Equal(start.Add(tc.want)) {
				t.Errorf("%s got %v, until %s", tc.reason, held, got.Next)
			}
		})
	}
}

// TestSlowness holds that a rule which goes on to be undone writes seldom, and is told once.
func TestSlowness(t *testing.T) {
	g := fight(t)
	begun := g.writes
	for range 3600 {
		g.pass(time.Second)
		if _, held := g.held(rule("a"), target); !held {
			g.edit(target, replicas, 0)
			g.write(move{rule: "a"}, 1)
		}
	}
	if n := g.writes - begun; n != 120 {
		t.Errorf("%d writes in an hour, want 120", n)
	}
	if len(g.named) != 1 {
		t.Errorf("told %d times", len(g.named))
	}
	got := g.conflicts.Conflicts()
	if len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestEnd holds when a contest is over.
func TestEnd(t *testing.T) {
	noise := plan.Path{"status"}
	tests := map[string]struct {
		reason string
		then   func(g *game)
		want   bool // it goes on
	}{
		"Soon":    {reason: "The rival may come back.", then: func(g *game) { g.pass(Window) }, want: true},
		"In time": {reason: "It has not.", then: func(g *game) { g.pass(Window + 1) }},
		"Repeated": {
			reason: "It has.", want: true,
			then: func(g *game) {
				g.pass(Window)
				g.edit(target, replicas, 0)
				g.write(move{rule: "a"}, 1)
				g.pass(Window)
			},
		},
		"OtherField": {
			reason: "What the rule writes elsewhere is no repeat.",
			then: func(g *game) {
				g.pass(Window)
				g.edit(target, plan.Path{"spec", "other"}, 0)
				g.write(move{rule: "a", path: plan.Path{"spec", "other"}}, 1)
				g.pass(1)
			},
		},
		"AnotherValue": {
			reason: "Nor is another value, for something that has changed.",
			then: func(g *game) {
				g.pass(Window)
				g.edit(target, replicas, 0)
				g.write(move{rule: "a"}, 2)
				g.pass(1)
			},
		},
		"Impatient": {
			reason: "But it is where the rule had to wait for it: it wants to go on as before, whatever else there is.", want: true,
			then: func(g *game) {
				g.held(rule("a"), target)
				g.pass(Window)
				g.edit(target, noise, 0)
				g.write(move{rule: "a"}, 2)
				g.pass(1)
			},
		},
		"PatientAgain": {
			reason: "Once it has not had to wait, that is over.",
			then: func(g *game) {
				g.held(rule("a"), target)
				g.edit(target, replicas, 0)
				g.write(move{rule: "a"}, 1)
				g.pass(Window)
				g.edit(target, noise, 0)
				g.write(move{rule: "a"}, 2)
				g.pass(1)
			},
		},
		"Followed": {
			reason: "Nor where it follows something that changes each time after it may write again.",
			then: func(g *game) {
				for i := range 20 {
					g.pass(Interval * 3 / 2)
					g.edit(target, noise, i)
					g.write(move{rule: "a"}, i)
				}
				g.pass(1)
			},
		},
		"ForOthers": {
			reason: "Nor is what it writes for ever other objects, each once.",
			then: func(g *game) {
				for i := range 20 {
					g.held(rule("a"), target)
					g.pass(Interval + 1)
					g.make(source)
					g.write(move{rule: "a", watched: source}, i)
				}
				g.pass(1)
			},
		},
		"ImpatientElsewhere": {
			reason: "If it is there that it waited.",
			then: func(g *game) {
				g.held(rule("a"), target)
				g.pass(Window)
				g.edit(target, noise, 0)
				g.write(move{rule: "a", path: plan.Path{"spec", "other"}}, 2)
				g.pass(1)
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := fight(t)
			tc.then(g)
			if got := len(g.conflicts.Conflicts()) > 0; got != tc.want {
				t.Errorf("%s goes on: %v", tc.reason, got)
			}
			if got := g.conflicts.conflict(rule("a"), target) != nil; got != tc.want {
				t.Errorf("%s is known: %v", tc.reason, got)
			}
			if len(g.named) != 1 {
				t.Errorf("told %d times", len(g.named))
			}
		})
	}
}

// TestNamedAgain holds that what begins anew after its end is news.
func TestNamedAgain(t *testing.T) {
	g := fight(t)
	g.pass(Window + 1)
	for range Repeats + 1 {
		g.edit(target, replicas, 0)
		g.write(move{rule: "a"}, 1)
	}
	if len(g.named) != 2 || len(g.conflicts.Conflicts()) != 1 {
		t.Errorf("named %d times, contests %v", len(g.named), g.conflicts.Conflicts())
	}
}

// TestFields holds that a contest names each field of the object once.
func TestFields(t *testing.T) {
	g := fight(t)
	for i := range 40 {
		path := plan.Path{"data", fmt.Sprintf("k%d", i%4)}
		g.edit(target, path, 0)
		g.write(move{rule: "a", path: path}, 1)
	}
	got := g.conflicts.Conflicts()
	if len(got) != 1 || len(g.named) != 1 {
		t.Fatalf("named %v, contests %v", told(g.named), told(got))
	}
	want := "spec.replicas, data.k0, data.k1, 2 more of widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"
	if diff := cmp.Diff(want, got[0].String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFieldsOfOneWrite holds that all fields of a write are named, and that they are one conflict.
func TestFieldsOfOneWrite(t *testing.T) {
	g := newGame(t)
	other := plan.Path{"spec", "other"}
	for range 10 {
		g.edit(target, replicas, 0)
		w := g.begun(move{rule: "a"}.defaults())
		w.uid, w.found = g.objects[target].uid, g.objects[target].version
		for _, path := range []plan.Path{replicas, other} {
			w.fields = append(w.fields, field{rule: rule("a"), path: path, shown: path, before: 0, after: 1, answered: 1})
		}
		g.objects[target].version = g.next()
		w.left = g.objects[target].version
		g.record(w)
	}
	got := g.conflicts.Conflicts()
	if len(got) != 1 || len(got[0].Paths) != 2 || len(g.named) != 1 || len(g.named[0].Paths) != 2 {
		t.Errorf("named %v, got %+v", told(g.named), got)
	}
}

// TestForget holds what becomes of contests when rules or objects go.
func TestForget(t *testing.T) {
	tests := map[string]struct {
		reason string
		do     func(g *game)
		want   int // contests
		again  int // repeats until one is named anew
	}{
		"Rule": {
			reason: "A rule that is gone, or has changed, begins anew.",
			do:     func(g *game) { g.conflicts.Follow([]*rules.Rule{{ID: rule("a")}}) },
			again:  Repeats + 1,
		},
		"OtherRule": {
			reason: "Others do not matter.",
			do:     func(g *game) { g.conflicts.Follow([]*rules.Rule{{ID: rule("b")}, {ID: rule("c")}}) },
			want:   1,
		},
		"Object":      {reason: "Nothing is contested in an object that is gone.", do: func(g *game) { g.conflicts.Forget(keyOf(target)) }, again: 1},
		"OtherObject": {reason: "Others do not matter.", do: func(g *game) { g.conflicts.Forget(keyOf(source)) }, want: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := fight(t)
			tc.do(g)
			if n := len(g.conflicts.Conflicts()); n != tc.want {
				t.Errorf("%s %d contests", tc.reason, n)
			}
			n := 0
			for before := len(g.named); tc.again > 0 && len(g.named) == before && n < rounds; n++ {
				g.edit(target, replicas, 0)
				g.write(move{rule: "a"}, 1)
			}
			if n != tc.again {
				t.Errorf("%s named after %d more writes, want %d", tc.reason, n, tc.again)
			}
		})
	}
}

// TestForgetRival holds that a rule which is gone is not blamed for what it wrote.
func TestForgetRival(t *testing.T) {
	g := newGame(t)
	for range 3 {
		g.write(move{rule: "a"}, 1)
		g.write(move{rule: "b"}, 2)
	}
	g.conflicts.Follow([]*rules.Rule{{ID: rule("b")}})
	for range rounds {
		g.write(move{rule: "a"}, 1)
		g.edit(target, replicas, 2)
	}
	want := []string{"spec.replicas of widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"}
	if diff := cmp.Diff(want, told(g.named)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestGoneAsAWhole holds that an object which comes and goes is contested all the same.
func TestGoneAsAWhole(t *testing.T) {
	g := newGame(t)
	for range rounds {
		g.deletes(move{rule: "a"})
		g.conflicts.Forget(keyOf(target))
		g.make(target)
	}
	if len(g.named) != 1 || len(g.conflicts.Conflicts()) != 1 {
		t.Errorf("named %v, contests %v", told(g.named), told(g.conflicts.Conflicts()))
	}
}

// TestError holds that an error says what there is to know, and can be told from others.
func TestError(t *testing.T) {
	g := fight(t)
	c, _ := g.held(rule("a"), target)
	err := fmt.Errorf("writing: %w", &Error{c})
	found, is := errors.AsType[*Error](err)
	if !is || found.Conflict.Rule != rule("a") {
		t.Errorf("%v is not recognised", err)
	}
	want := "writing: spec.replicas of widgets.example.com ns/target: somebody unknown undoes what rule set/a writes; slowed down to one write in 30s"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSuspects holds when it is worth while to find out who has changed an object.
func TestSuspects(t *testing.T) {
	g := newGame(t)
	for i := range rounds {
		suspects := func(name string, of Object) bool {
			_, suspect := g.conflicts.look([]plan.Rule{rule(name)}, of)
			return suspect
		}
		if got, want := suspects("a", target), i >= Repeats; got != want {
			t.Errorf("before write %d: %v", i+1, got)
		}
		if suspects("b", target) || suspects("a", source) {
			t.Error("others are suspected")
		}
		g.edit(target, replicas, 0)
		g.write(move{rule: "a"}, 1)
	}
}

// TestRivalsChange holds that the last one is told, and that one who has left a name is not forgotten for one who has not, as
// where the object could not be read.
func TestRivalsChange(t *testing.T) {
	g := fight(t)
	for _, step := range []struct {
		live map[string]any
		want Rival
	}{
		{managed(entry("x", "2026-01-01T00:00:00Z")), Rival{Kind: Manager, Manager: "x"}},
		{managed(entry("y", "2026-01-01T00:00:00Z")), Rival{Kind: Manager, Manager: "y"}},
		{nil, Rival{Kind: Manager, Manager: "y"}},
	} {
		g.edit(target, replicas, 0)
		g.write(move{rule: "a", live: step.live}, 1)
		if got := g.conflicts.Conflicts()[0].Rival; got != step.want {
			t.Errorf("want %+v, got %+v", step.want, got)
		}
	}
}

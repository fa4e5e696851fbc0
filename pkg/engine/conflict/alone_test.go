package conflict

import (
	"fmt"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestLeavesAlone holds what is no contest, however often it happens.
func TestLeavesAlone(t *testing.T) {
	a, b := move{rule: "a"}, move{rule: "b"}
	tests := map[string]struct {
		reason string
		round  func(g *game, i int)
		times  int // default: rounds
	}{
		"Mirror": {
			reason: "It follows a source that somebody changes.",
			round: func(g *game, i int) {
				g.edit(source, replicas, i)
				g.write(move{rule: "a", reads: []Object{source}}, i)
			},
		},
		"MirrorOfTwoValues": {
			reason: "The source goes back and forth.",
			round: func(g *game, i int) {
				g.edit(source, replicas, i%2)
				g.write(move{rule: "a", watched: source, reads: []Object{target}}, i%2)
			},
		},
		"TwoThatTakeTurns": {
			reason: "One acts while something holds, and the other while it does not; both write what they wrote before.",
			round: func(g *game, i int) {
				g.edit(target, plan.Path{"status", "phase"}, i%2)
				g.write([]move{a, b}[i%2], i%2)
			},
		},
		"TwoThatTakeTurnsByASource": {
			reason: "The same where they look at something else.",
			round: func(g *game, i int) {
				g.edit(source, replicas, i%2)
				g.write(move{rule: []string{"a", "b"}[i%2], watched: source, reads: []Object{target}}, i%2)
			},
		},
		"Clock": {
			reason: "It wants one thing by day, and another by night.",
			round: func(g *game, i int) {
				g.write(move{rule: "a", due: true}, i%2)
			},
		},
		"ClockOfTwo": {
			reason: "So it may be with two rules.",
			round: func(g *game, i int) {
				g.write(move{rule: []string{"a", "b"}[i%2], due: true}, i%2)
			},
		},
		"Due": {
			reason: "It wants nothing until a moment comes that its last write has set.",
			round:  func(g *game, i int) { g.write(move{rule: "a", due: true}, i) },
		},
		"Normaliser": {
			reason: "It corrects what a user enters, who then enters something else.",
			round: func(g *game, i int) {
				g.edit(target, replicas, fmt.Sprint("Foo", i))
				g.write(a, fmt.Sprint("foo", i))
			},
		},
		"Ramp": {
			reason: "It takes five steps until it has what it wants.",
			round:  func(g *game, i int) { g.write(a, i) },
			times:  5,
		},
		"Ramps": {
			reason: "It does so each time that somebody asks for it.",
			round: func(g *game, i int) {
				if i%5 == 0 {
					g.edit(source, replicas, i)
				}
				g.write(move{rule: "a", reads: []Object{source}}, i)
			},
			times: 50,
		},
		"Followed": {
			reason: "It answers what another controller says, and the other one goes on for that.",
			round: func(g *game, i int) {
				g.edit(target, plan.Path{"status"}, i)
				g.write(a, i)
			},
		},
		"OtherObjects": {
			reason: "The object is another one each time, and the field was never written.",
			round: func(g *game, _ int) {
				g.make(target)
				g.write(a, 1)
			},
		},
		"MadeForOthers": {
			reason: "What it was made for was made anew, and so has to be what it is.",
			round: func(g *game, _ int) {
				g.make(source)
				delete(g.objects, target)
				g.makes(move{rule: "a", watched: source})
			},
		},
		"Hurried": {
			reason: "What takes long to go is deleted with a shorter grace.",
			round: func(g *game, _ int) {
				kept := *g.objects[target]
				g.deletes(a)
				kept.version = g.next()
				g.objects[target] = &kept
			},
		},
		"OtherFields": {
			reason: "It writes something else each time.",
			round: func(g *game, i int) {
				g.write(move{rule: "a", path: plan.Path{"data", fmt.Sprint(i)}}, 1)
			},
		},
		"ValueAndText": {
			reason: "A number is not its digits.",
			round: func(g *game, i int) {
				g.edit(target, replicas, i)
				g.write(a, []any{1, "1"}[i%2])
			},
		},
		"Seldom": {
			reason: "Somebody does it so seldom that it does no harm.",
			round: func(g *game, _ int) {
				g.edit(target, replicas, 0)
				g.write(a, 1)
				g.pass(Window)
			},
		},
		"TwiceAtOnce": {
			reason: "It writes a field twice in one request, for one change.",
			round: func(g *game, i int) {
				m := move{rule: "a", due: true}.defaults()
				w := g.begun(m)
				of := g.objects[target]
				w.uid, w.found = of.uid, of.version
				one := plan.Change{Rule: rule("a"), Path: replicas, Before: i, After: 1}
				two := plan.Change{Rule: rule("a"), Path: replicas, Before: 1, After: 10 + i}
				o := plan.Operation{Type: plan.JSON, Target: plan.Object{UID: of.uid}, Changes: []plan.Change{one, two}}
				w.fields = fieldsOf(guard.Operation{Operation: o, Told: o}, write.Result{})
				of.values[replicas.String()], of.version = 10+i, g.next()
				w.left = of.version
				g.record(w)
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGame(t)
			times := tc.times
			if times == 0 {
				times = rounds
			}
			for i := range times {
				tc.round(g, i)
				g.pass(time.Second)
			}
			if len(g.named) > 0 || len(g.conflicts.Conflicts()) > 0 {
				t.Errorf("%s\nnamed %v", tc.reason, told(g.named))
			}
			if g.writes == 0 {
				t.Error("nothing was written")
			}
		})
	}
}

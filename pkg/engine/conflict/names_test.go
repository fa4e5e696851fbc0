package conflict

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// rounds are so many that whatever is to be named has been.
const rounds = 20

// TestNames holds what is named, as what, and within how many rounds of writes.
func TestNames(t *testing.T) {
	a, b := move{rule: "a"}, move{rule: "b"}
	script := managed(entry("kubectl-edit", "2026-01-01T00:00:00Z"), entry("script", "2026-01-01T00:00:01Z"))
	tests := map[string]struct {
		reason string
		round  func(g *game, i int)
		begin  func(g *game)
		want   []string
	}{
		"Script": {
			reason: "Somebody changes it back each time, and has left a name.",
			round: func(g *game, _ int) {
				g.edit(target, replicas, 0)
				g.write(move{rule: "a", live: script}, 1)
			},
			want: []string{`spec.replicas of widgets.example.com ns/target: field manager "script" undoes what rule set/a writes`},
		},
		"ScriptThatHeals": {
			reason: "It need not be the same value that it changes it to.",
			round: func(g *game, i int) {
				g.edit(target, replicas, 10+i)
				g.write(a, 1)
			},
			want: []string{"spec.replicas of widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"},
		},
		"OtherIdentity": {
			reason: "Rules of others are sent under our name.",
			round: func(g *game, _ int) {
				g.edit(target, replicas, 0)
				g.write(move{rule: "a", live: managed(entry(plan.FieldManager, "2026-01-01T00:00:00Z"))}, 1)
			},
			want: []string{"spec.replicas of widgets.example.com ns/target: a rule of another identity, field manager \"dyncontroller\", undoes what rule set/a writes"},
		},
		"Admission": {
			reason: "What comes back is not what was sent, and the same is sent again.",
			begin:  func(g *game) { g.admission = func(any) any { return 0 } },
			round:  func(g *game, _ int) { g.write(a, 1) },
			want:   []string{"spec.replicas of widgets.example.com ns/target: admission undoes what rule set/a writes"},
		},
		"TwoRules": {
			reason: "Each undoes what the other has written, and both are told.",
			round: func(g *game, _ int) {
				g.write(a, 1)
				g.write(b, 2)
			},
			want: []string{
				"spec.replicas of widgets.example.com ns/target: rule set/b undoes what rule set/a writes",
				"spec.replicas of widgets.example.com ns/target: rule set/a undoes what rule set/b writes",
			},
		},
		"InTurn": {
			reason: "They need not write the same each time.",
			round: func(g *game, i int) {
				g.write(a, 2*i)
				g.write(b, 2*i+1)
			},
			want: []string{
				"spec.replicas of widgets.example.com ns/target: rule set/b undoes what rule set/a writes",
				"spec.replicas of widgets.example.com ns/target: rule set/a undoes what rule set/b writes",
			},
		},
		"AcrossObjects": {
			reason: "They need not watch the same.",
			round: func(g *game, _ int) {
				g.write(a, 1)
				g.write(move{rule: "b", watched: source, reads: []Object{target}}, 2)
			},
			want: []string{
				"spec.replicas of widgets.example.com ns/target: " +
					"rule set/b for widgets.example.com ns/source undoes what rule set/a writes for widgets.example.com ns/target",
				"spec.replicas of widgets.example.com ns/target: " +
					"rule set/a for widgets.example.com ns/target undoes what rule set/b writes for widgets.example.com ns/source",
			},
		},
		"OneRuleForTwo": {
			reason: "A rule may undo for one object what it does for another.",
			round: func(g *game, _ int) {
				g.write(move{rule: "a", watched: source, reads: []Object{target}}, 1)
				g.write(move{rule: "a", watched: named("other"), reads: []Object{target}}, 2)
			},
			want: []string{"spec.replicas of widgets.example.com ns/target: " +
				"rule set/a for widgets.example.com ns/source undoes what rule set/a writes for widgets.example.com ns/other"},
		},
		"Above": {
			reason: "One takes away what the other puts into it.",
			round: func(g *game, _ int) {
				g.write(a, 1)
				g.write(move{rule: "b", path: plan.Path{"spec"}}, nil)
			},
			want: []string{
				"spec.replicas of widgets.example.com ns/target: rule set/b undoes what rule set/a writes",
				"spec of widgets.example.com ns/target: rule set/a undoes what rule set/b writes",
			},
		},
		"Itself": {
			reason: "It wants something else each time that it sees what it wrote.",
			round:  func(g *game, i int) { g.write(a, i) },
			want:   []string{"spec.replicas of widgets.example.com ns/target: rule set/a undoes itself"},
		},
		"ByWayOfAnother": {
			reason: "What it writes leads another rule to write what leads it to write again.",
			round: func(g *game, i int) {
				g.write(move{rule: "a", reads: []Object{source}}, i)
				g.write(move{rule: "b", watched: source, target: source, reads: []Object{target}}, i)
			},
			want: []string{
				"spec.replicas of widgets.example.com ns/target: " +
					"rule set/b for widgets.example.com ns/source undoes what rule set/a writes for widgets.example.com ns/target",
				"spec.replicas of widgets.example.com ns/source: " +
					"rule set/a for widgets.example.com ns/target undoes what rule set/b writes for widgets.example.com ns/source",
			},
		},
		"ComesBack": {
			reason: "What a rule deletes is made again under its name.",
			round: func(g *game, _ int) {
				g.deletes(move{rule: "a", watched: source, live: managed(entry("maker", "2026-01-01T00:00:00Z"), entry("kubelet", "2026-01-01T00:00:01Z"))})
				g.make(target)
			},
			want: []string{`widgets.example.com ns/target: field manager "maker" undoes what rule set/a writes`},
		},
		"ComesBackAndIsWritten": {
			reason: "So it is where another rule has written to it in the meantime.",
			round: func(g *game, _ int) {
				g.deletes(move{rule: "a", watched: source})
				g.make(target)
				g.write(move{rule: "b", path: plan.Path{"status"}}, 1)
			},
			want: []string{"widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"},
		},
		"Trimmed": {
			reason: "A cache may show less of what the rule wrote than came back.",
			round: func(g *game, i int) {
				g.objects[target].values[replicas.String()] = "less"
				g.write(a, i)
			},
			want: []string{"spec.replicas of widgets.example.com ns/target: rule set/a undoes itself"},
		},
		"OneWriteOfAnother": {
			reason: "Who wrote once to what it reads has no part in it.",
			begin:  func(g *game) { g.write(move{rule: "b", target: source}, 1) },
			round:  func(g *game, i int) { g.write(move{rule: "a", reads: []Object{source}}, i) },
			want:   []string{"spec.replicas of widgets.example.com ns/target: rule set/a undoes itself"},
		},
		"DeletedItself": {
			reason: "So is what it watches: that is another one each time.",
			round: func(g *game, _ int) {
				g.deletes(a)
				g.make(target)
			},
			want: []string{"widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"},
		},
		"GoesAgain": {
			reason: "What a rule makes is deleted, for example by the garbage collector.",
			begin:  func(g *game) { delete(g.objects, target) },
			round: func(g *game, _ int) {
				g.makes(move{rule: "a", watched: source})
				delete(g.objects, target)
			},
			want: []string{"widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"},
		},
		"MadeAndDeleted": {
			reason: "One rule makes what another deletes.",
			begin:  func(g *game) { delete(g.objects, target) },
			round: func(g *game, _ int) {
				g.makes(move{rule: "a", watched: source})
				g.deletes(move{rule: "b", watched: source})
			},
			want: []string{
				"widgets.example.com ns/target: rule set/b undoes what rule set/a writes",
				"widgets.example.com ns/target: rule set/a undoes what rule set/b writes",
			},
		},
		"Owned": {
			reason: "Somebody takes over what a rule owns, and changes no value.",
			round: func(g *game, _ int) {
				m := a.defaults()
				w := g.begun(m)
				w.uid, w.found, w.fields = g.objects[target].uid, g.objects[target].version, []field{{rule: rule("a"), before: foreign, after: owned, answered: owned}}
				g.objects[target].version = g.next()
				w.left = g.objects[target].version
				g.record(w)
				g.edit(target, plan.Path{"spec", "other"}, 0)
			},
			want: []string{"widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"},
		},
		"ScriptBesideRules": {
			reason: "Somebody undoes what two rules do one after the other: neither undoes the other.",
			round: func(g *game, _ int) {
				g.edit(target, replicas, 0)
				g.write(a, 1)
				g.write(b, 2)
			},
			want: []string{"spec.replicas of widgets.example.com ns/target: somebody unknown undoes what rule set/a writes"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGame(t)
			if tc.begin != nil {
				tc.begin(g)
			}
			until := 0
			for i := range rounds {
				tc.round(g, i)
				if len(g.named) == len(tc.want) && until == 0 {
					until = i + 1
				}
				g.pass(time.Second)
			}
			slices.Sort(tc.want)
			got := told(g.named)
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if until > 10 {
				t.Errorf("%s named after %d rounds, want at most 10", tc.reason, until)
			}
		})
	}
}

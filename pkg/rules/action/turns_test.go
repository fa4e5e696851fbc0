package action_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// TestTurns holds that to carry out all turns is to carry out the step.
func TestTurns(t *testing.T) {
	tests := map[string]struct {
		reason, action string
		turns, asked   int
	}{
		"Once":     {"Without forEach there is one.", "delete: {}", 1, 0},
		"When":     {"Its condition is asked for.", "when: object.spec.replicas > 2\ndelete: {}", 1, 1},
		"Each":     {"With it there is one for each element, and each is asked.", "forEach: {part: '${names}'}\nwhen: part == 'b' && index == 1\nevent: {reason: Seen, message: '${index} ${part}'}", 2, 2},
		"None":     {"Of an empty list there is none.", "forEach: {part: '${[]}'}\ndelete: {}", 0, 0},
		"Fails":    {"The first that fails is the last.", "forEach: {part: '${[1, nil, 3]}'}\nevent: {reason: Seen, message: '${part}'}", 3, 0},
		"NoList":   {"What has no elements fails.", "forEach: {part: '${1 + nil}'}\ndelete: {}", 0, 0},
		"Unjudged": {"A condition may fail.", "when: object.spec.replicas\ndelete: {}", 1, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			step, errs := f.compile(t, tc.action)
			if len(errs) > 0 {
				t.Fatal(errs.Render())
			}
			whole, parts := f.begin(t, watched, twoPods), newFixture(t).begin(t, watched, twoPods)
			want := step.Evaluate(whole)
			turns, got := step.Turns(parts)
			asked := 0
			for _, turn := range turns {
				if got == nil {
					got = turn.Evaluate(parts, func(when *body.Expression) (bool, error) {
						asked++
						return when.EvalBool(parts.Expressions)
					})
				}
			}
			if (want == nil) != (got == nil) || want != nil && want.Error() != got.Error() {
				t.Errorf("%s\nthe turns end with %v, the step with %v", tc.reason, got, want)
			}
			if diff := cmp.Diff(whole.Events, parts.Events); diff != "" {
				t.Errorf("%s\nevents (-step +turns):\n%s", tc.reason, diff)
			}
			if len(whole.Wishes) != len(parts.Wishes) {
				t.Errorf("%s\nthe step has %d wishes, its turns %d", tc.reason, len(whole.Wishes), len(parts.Wishes))
			}
			if len(turns) != tc.turns || asked != tc.asked {
				t.Errorf("%s\nthere are %d turns, of which %d were asked, want %d and %d", tc.reason, len(turns), asked, tc.turns, tc.asked)
			}
			if _, is := parts.Expressions.Names.(*fixture); !is {
				t.Errorf("the names of forEach are still there: %T", parts.Expressions.Names)
			}
		})
	}
}

var _ expression.Names = (*fixture)(nil)

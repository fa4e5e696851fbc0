package limit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

func TestPauseText(t *testing.T) {
	cluster := plan.Rule{Kind: "ClusterRuleSet", Set: "tidb-guardrails", Name: "pd-quorum"}
	tests := map[string]struct {
		reason string
		pause  limit.Pause
		want   string
	}{
		"Annotate": {
			reason: "It says what happened and exactly what to do.",
			pause:  limit.Pause{Rule: cluster, Pause: v1alpha1.Pause{Objects: 10, Of: 100, Limit: "10%", Per: "10m"}},
			want: "it has written for 10 of 100 objects in 10m, its limit is 10%; look at what it did, then " +
				"put the annotation dyncontroller.dev/resume=pd-quorum on ClusterRuleSet tidb-guardrails, in its file if it has one, or change the rule",
		},
		"Anew": {
			reason: "An annotation from before is no consent.",
			pause: limit.Pause{
				Rule:  plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guard", Name: "one"},
				Pause: v1alpha1.Pause{Objects: 3, Of: 3, Limit: "3", Per: "1h30m", Asked: true},
			},
			want: "it has written for 3 objects in 1h30m, its limit is 3; look at what it did, then " +
				"take the annotation dyncontroller.dev/resume=one off RuleSet shop/guard and put it on again, in its file if it has one, or change the rule",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.pause.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			err := &limit.PausedError{Pause: tc.pause}
			if want := "the rule is paused: " + tc.want; err.Error() != want {
				t.Errorf("the error is %q, want %q", err, want)
			}
		})
	}
}

// TestWrittenLimit holds that a pause says the limit as the rule has it.
func TestWrittenLimit(t *testing.T) {
	for _, tc := range []struct {
		limits spec.Limits
		limit  string
		per    string
	}{
		{spec.Limits{Share: spec.Share{Percent: 12.5}, Per: 10 * time.Minute}, "12.5%", "10m"},
		{spec.Limits{Share: spec.Share{Objects: 1}, Per: time.Hour}, "1", "1h"},
		{spec.Limits{Share: spec.Share{Objects: 1}, Per: 36*time.Hour + 30*time.Minute}, "1", "36h30m"},
		{spec.Limits{Share: spec.Share{Objects: 1}, Per: 90 * time.Second}, "1", "1m30s"},
		{spec.Limits{Share: spec.Share{Objects: 1}, Per: 10 * time.Second}, "1", "10s"},
		{spec.Limits{Share: spec.Share{Objects: 1}, Per: 500 * time.Millisecond}, "1", "500ms"},
	} {
		w := newWorld(watching(guard.Limited{ID: one, Digest: "a", Limits: tc.limits}))
		w.objects[one] = 1
		w.write(t, one, "a")
		w.reserve("b", one)
		got, paused := w.pauseOf(one)
		if !paused || got.Limit != tc.limit || got.Per != tc.per {
			t.Errorf("paused %v with %q in %q, want %q in %q", paused, got.Limit, got.Per, tc.limit, tc.per)
		}
	}
}

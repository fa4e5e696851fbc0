package cli

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

func TestCheckCache(t *testing.T) {
	t.Parallel()
	key := informer.Key{Namespace: "shop"}
	key.GVR.Resource, key.GVR.Version = "pods", "v1"
	cases := map[string]struct {
		reason string
		status informer.Status
		as     types.NamespacedName
		want   telemetry.Check
	}{
		"listing": {reason: "Nothing is known yet.", want: telemetry.Check{State: telemetry.NotReady, Detail: "listing"}},
		"synced":  {reason: "All is well.", status: informer.Status{Synced: true}, want: telemetry.Check{State: telemetry.Ready, Detail: "synced"}},
		"failing": {reason: "What is known holds up only its own rules.", status: informer.Status{Err: errTest("forbidden")}, want: telemetry.Check{State: telemetry.Degraded, Detail: "forbidden"}},
		"cut off": {reason: "The cache is complete, and out of date.", status: informer.Status{Synced: true, Err: errTest("gone")}, want: telemetry.Check{State: telemetry.Degraded, Detail: "synced, and cut off since: gone"}},
		"asking":  {reason: "A standby is not ready before it may fill its caches.", status: informer.Status{Err: operator.ErrUnreviewed}, want: telemetry.Check{State: telemetry.NotReady, Detail: operator.ErrUnreviewed.Error()}},
		"cannot":  {reason: "That it cannot be asked may last, and holds up only its own rules.", status: informer.Status{Err: fmt.Errorf("%w: %w", operator.ErrUnreviewed, errTest("no answer"))}, want: telemetry.Check{State: telemetry.Degraded, Detail: operator.ErrUnreviewed.Error() + ": no answer"}},
		"tenant":  {reason: "Two identities have a cache each of the same.", status: informer.Status{Synced: true}, as: types.NamespacedName{Namespace: "shop", Name: "bot"}, want: telemetry.Check{State: telemetry.Ready, Detail: "synced"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.status.Key, tc.want.Name = key, "informer pods.v1 -n shop"
			if tc.as.Name != "" {
				tc.want.Name += " as shop/bot"
			}
			if diff := cmp.Diff(tc.want, checkCache(operator.Cache{Account: tc.as, Status: tc.status})); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckRules(t *testing.T) {
	t.Parallel()
	s := &service{}
	for _, step := range []struct {
		trouble error
		detail  string
	}{{nil, "not in effect yet"}, {errTest("unreachable"), "unreachable"}} {
		s.setTrouble(step.trouble)
		want := telemetry.Check{Name: "rules", State: telemetry.NotReady, Detail: step.detail}
		if diff := cmp.Diff(want, s.checkRules()); diff != "" {
			t.Errorf("before there are rules\n-want +got:\n%s", diff)
		}
	}
}

// TestCheckRulesInEffect holds that trouble with newer rules, or with the schemas of the
// cluster, is told, and holds nothing up.
func TestCheckRulesInEffect(t *testing.T) {
	t.Parallel()
	s := &service{active: &rules.Set{}}
	for _, step := range []struct {
		set  func(error)
		want string
	}{
		{s.setTrouble, "0 rules in effect, but there are newer ones that are wrong: no such field"},
		{s.setUnfit, "0 rules in effect, but they do not fit the schemas of the cluster: no such field"},
		{s.setTrouble, "0 rules in effect, but there are newer ones that are wrong: no such field"},
	} {
		step.set(errTest("no such field"))
		want := telemetry.Check{Name: "rules", State: telemetry.Degraded, Detail: step.want}
		if diff := cmp.Diff(want, s.checkRules()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

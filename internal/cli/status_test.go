package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

func TestCheckInformer(t *testing.T) {
	t.Parallel()
	key := informer.Key{Namespace: "shop"}
	key.GVR.Resource, key.GVR.Version = "pods", "v1"
	cases := map[string]struct {
		reason string
		status informer.Status
		want   telemetry.Check
	}{
		"listing": {reason: "Nothing is known yet.", want: telemetry.Check{State: telemetry.NotReady, Detail: "listing"}},
		"synced":  {reason: "All is well.", status: informer.Status{Synced: true}, want: telemetry.Check{State: telemetry.Ready, Detail: "synced"}},
		"failing": {reason: "What is known holds up only its own rules.", status: informer.Status{Err: errTest("forbidden")}, want: telemetry.Check{State: telemetry.Degraded, Detail: "forbidden"}},
		"cut off": {reason: "The cache is complete, and out of date.", status: informer.Status{Synced: true, Err: errTest("gone")}, want: telemetry.Check{State: telemetry.Degraded, Detail: "synced, and cut off since: gone"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.status.Key, tc.want.Name = key, "informer pods.v1 -n shop"
			if diff := cmp.Diff(tc.want, checkInformer(tc.status)); diff != "" {
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

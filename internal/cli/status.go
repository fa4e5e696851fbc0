package cli

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// checks is what readiness depends on: rules are in effect, and of every
// informer it is known how it is doing.
func (s *service) checks() []telemetry.Check {
	out := []telemetry.Check{s.checkRules()}
	for _, status := range s.informers.Status() {
		out = append(out, checkInformer(status))
	}
	return out
}

func (s *service) checkRules() telemetry.Check {
	s.mu.Lock()
	defer s.mu.Unlock()
	check := telemetry.Check{Name: "rules"}
	switch {
	case s.active == nil && s.trouble == nil:
		check.Detail = "not in effect yet"
	case s.active == nil:
		check.Detail = s.trouble.Error()
	case s.trouble != nil:
		all := mistakes(s.trouble)
		what := "there are newer ones that are wrong"
		if s.unfit {
			what = "they do not fit the schemas of the cluster"
		}
		check.State = telemetry.Degraded
		check.Detail = fmt.Sprintf("%s in effect, but %s: %v", count(len(s.active.Rules()), "rule"), what, all[0])
		if len(all) > 1 {
			check.Detail += fmt.Sprintf(" (and %d more)", len(all)-1)
		}
	default:
		check.State = telemetry.Ready
		check.Detail = count(len(s.active.Rules()), "rule") + " in effect"
	}
	return check
}

// checkInformer counts a failure that is known as ready: it holds back only the
// rules that need the informer.
func checkInformer(status informer.Status) telemetry.Check {
	check := telemetry.Check{Name: "informer " + status.Key.String()}
	switch {
	case status.Synced && status.Err == nil:
		check.State, check.Detail = telemetry.Ready, "synced"
	case status.Synced:
		check.State, check.Detail = telemetry.Degraded, "synced, and cut off since: "+status.Err.Error()
	case status.Err != nil:
		check.State, check.Detail = telemetry.Degraded, status.Err.Error()
	default:
		check.Detail = "listing"
	}
	return check
}

package cli

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
)

// checks is what readiness depends on: rules are in effect, and of every cache it is
// known how it is doing. A process that waits for the lease is as ready as one that has
// it.
func (s *service) checks() []telemetry.Check {
	var out []telemetry.Check
	if s.files != nil {
		out = append(out, s.checkRules())
	}
	if s.objects != nil {
		out = append(out, s.checkObjects())
	}
	if s.election != nil {
		out = append(out, s.checkElection())
	}
	for _, cache := range s.operator.Caches() {
		out = append(out, checkCache(cache))
	}
	return out
}

// checkObjects tells of set objects as a whole: each has a status of its own.
func (s *service) checkObjects() telemetry.Check {
	check := telemetry.Check{Name: "rule sets in the cluster"}
	trouble := s.objects.Trouble()
	switch {
	case trouble != nil:
		check.State, check.Detail = telemetry.Degraded, trouble.Error()
	case !s.operator.Listed():
		check.Detail = "listing"
	default:
		check.State, check.Detail = telemetry.Ready, count(len(s.objects.List()), "set")
	}
	return check
}

func (s *service) checkElection() telemetry.Check {
	check := telemetry.Check{Name: "election", State: telemetry.Ready, Detail: "leading"}
	if !s.election.IsLeader() {
		check.Detail = "waiting for the lease"
		if holder := s.election.Holder(); holder != "" {
			check.Detail += ", which " + holder + " has"
		}
	}
	return check
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

// checkCache counts a failure that is known as ready: it holds back only the rules that
// need the cache.
func checkCache(cache operator.Cache) telemetry.Check {
	check := telemetry.Check{Name: "informer " + cache.Key.String()}
	if cache.Account != (types.NamespacedName{}) {
		check.Name += " as " + cache.Account.String()
	}
	switch {
	case cache.Synced && cache.Err == nil:
		check.State, check.Detail = telemetry.Ready, "synced"
	case cache.Err == operator.ErrUnreviewed: //nolint:errorlint // Wrapped, it has a cause that may last.
		check.Detail = cache.Err.Error()
	case cache.Synced:
		check.State, check.Detail = telemetry.Degraded, "synced, and cut off since: "+cache.Err.Error()
	case cache.Err != nil:
		check.State, check.Detail = telemetry.Degraded, cache.Err.Error()
	default:
		check.Detail = "listing"
	}
	return check
}

package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
)

// checks is what readiness depends on: rules are in effect, and of every cache of the
// start it is known how it is doing. A process that waits for the lease is as ready as one
// that has it.
func (s *service) checks() []telemetry.Check {
	process, caches := s.states()
	return slices.Concat(process, caches)
}

// publicChecks is what may be told of [service.checks] to whoever can reach the port.
func (s *service) publicChecks() []telemetry.Check {
	return brief(s.states())
}

// states are the checks that concern the process, and those of caches.
func (s *service) states() (process, caches []telemetry.Check) {
	if s.files != nil {
		process = append(process, s.checkRules())
	}
	if s.objects != nil {
		process = append(process, s.checkObjects())
	}
	if s.election != nil {
		process = append(process, s.checkElection())
	}
	// Rules that are in effect have their caches, so they come first.
	for _, cache := range s.operator.Caches() {
		caches = append(caches, checkCache(cache, s.waiting.on(cache)))
	}
	return process, s.startup.settle(s.options.Clock.Now(), process, caches)
}

// startPatience is how long readiness waits for caches once the rules are known. One whose
// first list gets no answer keeps its own rules waiting, and nobody else.
const startPatience = 30 * time.Second

// startup knows for which caches readiness still waits: those that there are when the
// rules are first known. Readiness is about the start. Caches come and go with every set
// that changes, so one that waited for all of them could be kept from being ready by any
// tenant, with all its replicas at once. It is safe for concurrent use; the zero value has
// seen nothing.
type startup struct {
	mu      sync.Mutex
	known   time.Time       // when the rules were known first, zero before
	awaited map[string]bool // by the names of their checks
}

// settle takes the checks of one moment, and returns those of the caches with what is not
// waited for degraded. Once nothing is waited for, this stays so.
func (s *startup) settle(now time.Time, process, caches []telemetry.Check) []telemetry.Check {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.known.IsZero()
	if first {
		if slices.ContainsFunc(process, notReady) {
			return caches
		}
		s.known = now
	}
	late := now.Sub(s.known) >= startPatience
	still := map[string]bool{}
	out := slices.Clone(caches)
	for i, cache := range out {
		switch {
		case !notReady(cache):
		case first || !late && s.awaited[cache.Name]:
			still[cache.Name] = true
		default:
			out[i].State = telemetry.Degraded
		}
	}
	s.awaited = still
	return out
}

func notReady(c telemetry.Check) bool { return c.State == telemetry.NotReady }

// brief names the checks of the process, and counts caches: names of tenants, what they
// select and why something fails are nobody else's business.
func brief(process, caches []telemetry.Check) []telemetry.Check {
	var out []telemetry.Check
	for _, check := range process {
		out = append(out, telemetry.Check{Name: check.Name, State: check.State})
	}
	if len(caches) == 0 {
		return out
	}
	all := telemetry.Check{Name: count(len(caches), "cache"), State: telemetry.Ready}
	counts := map[telemetry.State]int{}
	for _, cache := range caches {
		counts[cache.State]++
		all.State = min(all.State, cache.State) // The worst comes first.
	}
	var parts []string
	for _, part := range []struct {
		state telemetry.State
		word  string
	}{{telemetry.Ready, "synced"}, {telemetry.Degraded, "degraded"}, {telemetry.NotReady, "listing"}} {
		if n := counts[part.state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, part.word))
		}
	}
	all.Detail = strings.Join(parts, ", ")
	return append(out, all)
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
// need the cache, which are named. Whether one that is listing or not reviewed yet holds
// back the process is for [startup] to say.
func checkCache(cache operator.Cache, rules []string) telemetry.Check {
	check := telemetry.Check{Name: "informer " + cache.Key.String()}
	if cache.Account != (types.NamespacedName{}) {
		check.Name += " as " + cache.Account.String()
	}
	switch {
	case cache.Synced && cache.Err == nil:
		check.State, check.Detail = telemetry.Ready, "synced"
		return check
	case cache.Synced:
		check.State, check.Detail = telemetry.Degraded, "synced, and cut off since: "+cache.Err.Error()
		return check
	case cache.Err == operator.ErrUnreviewed: //nolint:errorlint // Wrapped, it has a cause that may last.
		check.Detail = cache.Err.Error()
	case cache.Err != nil:
		check.State, check.Detail = telemetry.Degraded, cache.Err.Error()
	default:
		check.Detail = "listing"
	}
	if len(rules) > 0 {
		check.Detail += "; rules wait for it: " + strings.Join(rules, ", ")
	}
	return check
}

package worlds

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// rolled is what has become of a Deployment under the last rules.
type rolled struct {
	lacking time.Time // since when it has not had the version, zero while it has
	sick    time.Time // since when it has not been healthy, zero while it is
	gone    int       // the number of the request that deleted it, 0 while it is there
	written time.Time // when the write was sent that gave it the version, zero before
	wave    int       // in which that was
	unsure  bool      // the process may not know of that write
	excused bool      // users may have asked to go on without it
}

// rolling is how far a rollout has come at some moment of a history.
type rolling struct {
	*wanting
	all   map[types.UID]*rolled
	named map[string]*rolled
	led   map[engine]*request // with which it has changed something first
	wave  int                 // from 0; the one after the last is for all
}

// engine is who runs the rules: a process, as an account.
type engine struct{ as, account string }

func (r *request) by() engine { return engine{r.as, r.account} }

// judgeRollouts holds that the rule writes for no more Deployments than its wave is for, that a wave lasts for as long as the rule says, and that
// none begins while a Deployment is unhealthy that was so already when it was written for.
func judgeRollouts(o *oracle) {
	o.pausedUntilAsked()
	now := rolling{wanting: newWanting(), all: map[types.UID]*rolled{}, named: map[string]*rolled{}, led: map[engine]*request{}}
	for _, r := range o.all {
		now.follow(r)
		if !r.stored() {
			continue
		}
		now.led[r.by()] = cmp.Or(now.led[r.by()], r)
		if name, is := r.to(deployments); is {
			if wrong := now.write(r, cmp.Or(name, r.written.Metadata.Name)); wrong != "" {
				o.accuse("%s: %s", wrong, r)
			}
		}
	}
}

// follow goes on to other rules, if the request is about that.
func (w *rolling) follow(r *request) {
	changed, asked := w.note(r)
	for _, one := range w.all {
		if one.excused = one.excused || asked; changed {
			*one = rolled{lacking: r.at, sick: one.sick, gone: one.gone}
		}
	}
	if changed {
		w.wave = 0
	}
}

// write goes on to the next write for a Deployment, and says what is wrong with it.
func (w *rolling) write(r *request, name string) (wrong string) {
	metadata := r.written.Metadata
	if r.method == http.MethodDelete {
		w.named[name].gone = r.number
		return ""
	}
	one := w.all[metadata.UID]
	if one == nil {
		one = &rolled{lacking: r.at}
		w.all[metadata.UID], w.named[name] = one, one
	}
	if w.gave(r) && one.written.IsZero() && !w.unclear {
		wrong = w.give(r, one)
	}
	one.lacking = since(one.lacking, metadata.Labels["version"] != w.version, r.at)
	one.sick = since(one.sick, metadata.Labels["sick"] == "true", r.at)
	return wrong
}

// since is since when something is so that is so now or not.
func since(before time.Time, is bool, now time.Time) time.Time {
	switch {
	case !is:
		return time.Time{}
	case before.IsZero():
		return now
	default:
		return before
	}
}

// give notes that the rule writes for a Deployment for the first time.
func (w *rolling) give(r *request, one *rolled) (wrong string) {
	n, known, last := w.count(r)
	if lasted := r.at.Sub(last); n > 0 && lasted >= soak-time.Second { // Whole seconds are stored.
		for w.wave < len(waves) && (waves[w.wave] <= n || !w.waited(r, last)) {
			w.wave++
		}
	}
	one.written, one.wave, one.unsure = r.sent, w.wave, r.fault != ""
	if w.wave < len(waves) && known >= waves[w.wave] {
		return fmt.Sprintf("it has written for %d Deployments, wave %d is for %d, and the last write was %s before", known, w.wave+1, waves[w.wave], r.at.Sub(last))
	}
	for _, other := range w.all {
		late := !other.written.IsZero() && other.wave < w.wave && other.gone == 0 && !other.excused
		if late && !other.sick.IsZero() && other.sick.Before(other.written) {
			return fmt.Sprintf("wave %d has begun, and a Deployment of wave %d has not been healthy since %s", w.wave+1, other.wave+1, other.sick.Format(time.TimeOnly))
		}
	}
	return ""
}

// count is for how many Deployments the rule has written, of how many of them the process has to know that sends a request, and when the last
// of the writes was sent.
func (w *rolling) count(r *request) (n, known int, last time.Time) {
	for _, one := range w.all {
		if one.written.IsZero() {
			continue
		}
		if n++; one.gone == 0 || !one.unsure && one.gone > w.led[r.by()].number {
			known++
		}
		if one.written.After(last) {
			last = one.written
		}
	}
	return n, known, last
}

// mayBeUnknown is for how long a process may not know of an object that users have made while it ran.
const mayBeUnknown = 5 * time.Minute

// waited reports whether a Deployment has waited since a moment. If none did, the rollout may have ended.
func (w *rolling) waited(r *request, since time.Time) bool {
	for _, one := range w.all {
		known := one.lacking.Before(w.led[r.by()].at) || r.at.Sub(one.lacking) > mayBeUnknown
		if one.gone == 0 && known && !one.lacking.IsZero() && one.lacking.Before(since) {
			return true
		}
	}
	return false
}

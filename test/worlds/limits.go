package worlds

import (
	"cmp"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
)

// judgeLimits holds for how many Deployments the rule writes in a while: for no more than its limit, and one more for each process that has ended
// meanwhile, which may not have stored the last one. A belated request, of which the API server showed nothing when the process looked, does not
// count.
func judgeLimits(o *oracle) {
	o.pausedUntilAsked()
	wants, writes := newWanting(), map[types.UID]*request{} // the last one for each Deployment, since the limit counts
	for _, r := range o.all {
		if changed, asked := wants.note(r); changed || asked {
			clear(writes)
		}
		if !wants.gave(r) || r.fault == Belated {
			continue
		}
		writes[r.written.Metadata.UID] = r
		counts, processes := 0, map[string]bool{}
		for _, w := range writes {
			if r.sent.Sub(w.at) < limitedPer {
				counts++
				processes[w.as] = true
			}
		}
		if most := mostLimited + len(processes) - 1; counts > most {
			o.accuse("the rule has written for %d Deployments in %s, its limit is %d: %s", counts, limitedPer, most, r)
		}
	}
}

// pausedUntilAsked holds that a rule whose pause is stored writes for no Deployment until users ask it to resume, or replace it.
func (o *oracle) pausedUntilAsked() {
	wants := newWanting()
	var paused *request // what has stored that
	for _, r := range o.all {
		if changed, asked := wants.note(r); changed || asked {
			paused = nil
		}
		switch gave := wants.gave(r); {
		case gave && paused != nil && r.sent.After(paused.at):
			o.accuse("the rule is paused:\n%s\n%s", paused, r)
		case gave || r.as == user || !r.stored() || r.sent.Sub(wants.told) < wants.hearing(): // Or it may be a pause of before.
		default: // The answer may have a pause that another request has stored.
			var sent written
			_ = json.Unmarshal([]byte(r.body), &sent) // What is no object stores no pause.
			if _, rules := sent.inventory(); len(rules) > 0 {
				paused = cmp.Or(paused, r)
			}
		}
	}
}

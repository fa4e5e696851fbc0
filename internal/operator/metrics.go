package operator

import (
	"cmp"

	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/contest"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// Measure is how all tenants are doing, for metrics.
func (o *Operator) Measure() telemetry.Snapshot {
	tenants, _ := o.present()
	var out telemetry.Snapshot
	for _, t := range tenants {
		out.Caches = append(out.Caches, t.informers.Status()...)
		out.Loads = append(out.Loads, t.informers.Loads()...)
		out.Rules = append(out.Rules, t.measure()...)
	}
	return out
}

// measure is how the rules of a tenant are doing.
func (t *tenant) measure() []telemetry.Rule {
	t.mu.Lock()
	set := t.set
	t.mu.Unlock()
	if set == nil {
		return nil
	}
	paused := map[plan.Rule]bool{}
	for _, pause := range t.engine.Paused() {
		paused[pause.Rule] = true
	}
	quarantined, contested := t.engine.QuarantinedObjects(), rivals(t.engine.Contests())
	var out []telemetry.Rule
	for _, rule := range set.Rules() {
		counts := t.tally.Counts(rule.ID)
		one := telemetry.Rule{
			ID: rule.ID, Standing: standing(rule), Matched: counts.Matched, Failing: counts.Errors,
			Quarantined: int64(quarantined[rule.ID]), Contested: contested[rule.ID],
		}
		if paused[rule.ID] {
			one.Standing = telemetry.Paused
		}
		out = append(out, one)
	}
	return out
}

func standing(rule *rules.Rule) telemetry.Standing {
	switch {
	case rule.Suspended():
		return telemetry.Suspended
	case rule.Audited():
		return telemetry.Audited
	default:
		return telemetry.Active
	}
}

// rivals counts the objects that rules fight over, by who undoes what they do.
func rivals(contests []contest.Contest) map[plan.Rule]map[string]int64 {
	out := map[plan.Rule]map[string]int64{}
	for _, c := range contests {
		if out[c.Rule] == nil {
			out[c.Rule] = map[string]int64{}
		}
		out[c.Rule][c.Rival.String()]++
	}
	return out
}

// Recorded is what is remembered of an object, of the rules of all tenants.
func (o *Operator) Recorded(key engine.Key) trace.Memory {
	tenants, _ := o.present()
	out := trace.Memory{Object: trace.ObjectOf(plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name})}
	for _, t := range tenants {
		known := t.engine.Recorded(key)
		out.Records = append(out.Records, known.Records...)
		out.Waits = cmp.Or(out.Waits, known.Waits)
	}
	return out
}

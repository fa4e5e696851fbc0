package operator

import (
	"cmp"

	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// Measure is how all tenants are doing, for metrics.
func (o *Operator) Measure() telemetry.Snapshot {
	var out telemetry.Snapshot
	for _, one := range o.assigned() {
		out.Caches = append(out.Caches, one.tenant.informers.Status()...)
		out.Loads = append(out.Loads, one.tenant.informers.Loads()...)
		out.Rules = append(out.Rules, one.tenant.measure(one.set)...)
		out.Queued += one.tenant.engine.Queued()
	}
	return out
}

// assigned is a tenant with the rules that it has; nil for none yet.
type assigned struct {
	tenant *tenant
	set    *rules.Set
}

// assigned lists the tenants in order, all as of one moment: a rule that passes from one to
// another is not with both of them, nor with none.
func (o *Operator) assigned() []assigned {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []assigned
	for _, t := range o.sorted() {
		t.mu.Lock()
		out = append(out, assigned{t, t.set})
		t.mu.Unlock()
	}
	return out
}

// measure is how the rules of a tenant are doing.
func (t *tenant) measure(set *rules.Set) []telemetry.Rule {
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
func rivals(contests []conflict.Conflict) map[plan.Rule]map[string]int64 {
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
		out.Waits, out.Trouble = cmp.Or(out.Waits, known.Waits), cmp.Or(out.Trouble, known.Trouble)
	}
	return out
}

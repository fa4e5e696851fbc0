package operator

import (
	"cmp"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// Measure is how all tenants are doing, for metrics. They are listed as of one moment: a rule that passes
// from one to another is not with both of them, nor with none.
func (o *Operator) Measure() telemetry.Snapshot {
	o.mu.Lock()
	tenants := o.sorted()
	sets := make([]*rules.Set, len(tenants)) // nil for none yet
	for i, t := range tenants {
		t.mu.Lock()
		sets[i] = t.set
		t.mu.Unlock()
	}
	o.mu.Unlock()
	var out telemetry.Snapshot
	for i, t := range tenants {
		out.Caches = append(out.Caches, t.informers.Status()...)
		out.Queued += t.engine.Queued()
		if sets[i] == nil {
			continue
		}
		paused := map[plan.Rule]bool{}
		for _, pause := range t.engine.Paused() {
			paused[pause.Rule] = true
		}
		quarantined, contested := breaker.Counts(t.engine.Quarantined()), rivals(t.engine.Contests())
		for _, rule := range sets[i].Rules() {
			counts, standing := t.tally.Counts(rule.ID), telemetry.Active
			switch {
			case paused[rule.ID]:
				standing = telemetry.Paused
			case rule.Suspended():
				standing = telemetry.Suspended
			case rule.Audited():
				standing = telemetry.Audited
			}
			out.Rules = append(out.Rules, telemetry.Rule{
				ID: rule.ID, Standing: standing, Matched: counts.Matched, Failing: counts.Errors,
				Quarantined: int64(quarantined[rule.ID]), Contested: contested[rule.ID],
			})
		}
	}
	return out
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

// Version says which version of a set object is in effect, and has its text.
func (o *Operator) Version(key source.Key) trace.Set {
	o.mu.Lock()
	defer o.mu.Unlock()
	out, set := trace.Set{Name: key.String()}, o.objects[key]
	if set == nil {
		return out
	}
	out.Newest = set.Generation
	if set.refused() {
		out.Refused = setstatus.Refusal(set.mistakes, set.over)
	}
	if set.effective() != nil {
		out.InEffect, out.Object = set.running.Generation, set.running.Document.Data
	}
	return out
}

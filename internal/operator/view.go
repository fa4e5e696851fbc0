package operator

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// mostTroubled is how many objects a view of a set tells of.
const mostTroubled = 100

// Views tells how sets of files and of the cluster are doing, in their order. Of one set alone, it tells the objects too with which its
// rules have trouble.
func (o *Operator) Views(only *source.Key) []setstatus.View {
	type one struct {
		setstatus.View
		rules   *rules.Set // in effect, nil for none
		tenants []*tenant
	}
	var all []one
	o.observe()
	o.mu.Lock()
	others := func(key source.Key) bool { return only != nil && key != *only }
	viewed := map[source.Key]v1alpha1.Status{}
	for account, set := range o.rules.ByIdentity() {
		for _, key := range keysOf(set) {
			if others(key) {
				viewed[key] = o.viewed[key]
				continue
			}
			of := set.Only(func(rule *rules.Rule) bool { return keyOf(rule.ID) == key })
			v := one{View: setstatus.View{Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, File: true}, rules: of}
			in := setstatus.Input{Account: account, Now: o.options.Clock.Now(), Previous: o.viewed[key], Warnings: len(of.Warnings())}
			if t := o.tenants[account]; t != nil {
				v.tenants = []*tenant{t}
				t.fill(&in, of)
				in.Kept = t.book.keeps(key)
			}
			v.Status = setstatus.Compose(in)
			viewed[key] = v.Status
			all = append(all, v)
		}
	}
	o.viewed = viewed
	for _, set := range o.inOrder() {
		if set.taken || others(set.Key) {
			continue
		}
		v := one{View: setstatus.View{Kind: set.Kind, Namespace: set.Namespace, Name: set.Name, Generation: set.Generation}, rules: set.effective(), tenants: o.tenantsOf(set)}
		v.Status = o.compose(set, v.tenants, o.handovers[set.Key] != nil, set.Status)
		all = append(all, v)
	}
	o.mu.Unlock()
	out := []setstatus.View{}
	for _, v := range all {
		v.Status.Inventory, v.Status.Counted, v.Status.Paused, v.Status.Rollouts = nil, nil, nil, nil // As the engine knows it now.
		for _, t := range v.tenants {
			t.see(&v.View, v.rules.IDs(), only != nil)
		}
		out = append(out, v.View)
	}
	slices.SortFunc(out, setstatus.View.Compare)
	return out
}

// keysOf are the sets of rules, each once.
func keysOf(set *rules.Set) []source.Key {
	found := map[source.Key]bool{}
	for _, id := range set.IDs() {
		found[keyOf(id)] = true
	}
	return slices.Collect(maps.Keys(found))
}

// see adds to a view what the engine of the tenant knows of its rules.
func (t *tenant) see(v *setstatus.View, ids []plan.Rule, objects bool) {
	ours := func(rule plan.Rule) bool { return slices.Contains(ids, rule) }
	for _, pause := range t.engine.Paused() {
		if ours(pause.Rule) {
			v.Status.Paused = append(v.Status.Paused, pause.Pause)
		}
	}
	rollouts := t.engine.Rollouts()
	for _, id := range ids {
		if rollout, there := rollouts[id]; there {
			v.Status.Rollouts = append(v.Status.Rollouts, rollout)
		}
	}
	if !objects {
		return
	}
	v.Objects, v.Troubled = t.engine.Troubled(ours, mostTroubled)
	for i := range v.Objects {
		v.Objects[i].Records = slices.DeleteFunc(v.Objects[i].Records, func(record trace.Record) bool { return !ours(record.Rule) })
	}
}

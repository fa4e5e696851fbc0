package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// strayLook is how often an object that is being deleted is looked at where no cache
// tells when it is gone.
const strayLook = 30 * time.Second

// lost is for an object that no cache has and that is not there any more, or has
// nothing of ours. Its children are looked at under its uid.
func (e *Engine) lost(now *active, key Key, record *record) guard.Outcome {
	e.succeed(now, key, record)
	return guard.Outcome{}
}

// succeed forgets an object that is gone, of which there is still a record if it was
// known. When its children are looked at, what was written for it has been seen.
func (e *Engine) succeed(now *active, key Key, record *record) {
	if record != nil && now.set.Prunes(key.GVR) {
		gone := key
		gone.UID = record.uid
		e.enqueue(gone)
	}
	e.forget(key, false)
}

// leaveStray forgets an object that has left all selections, unless it is being
// deleted: its children go when it is gone.
func (e *Engine) leaveStray(key Key, seen sight, result guard.Outcome) guard.Outcome {
	if plan.BeingDeleted(seen.Object) {
		result.LookAgain(e.options.Clock.Now().Add(strayLook))
		return result
	}
	e.forget(key, len(result.Failures) > 0)
	result.LookAgainAt = time.Time{}
	return result
}

// reconcileGone is a turn of the loop for an object that is gone, of which rules may
// have left children. It is named by its uid, since another may have its name.
func (e *Engine) reconcileGone(ctx context.Context, a *attempt) guard.Outcome {
	now, key := a.now, a.Key
	record := e.memory.of(key, key.UID)
	if e.awaiting(ctx, now, key, record) {
		return e.await(record)
	}
	families := familiesOf(now.families, key)
	if gone, err := e.nowhere(families, key); err != nil || !gone {
		e.forget(key, false) // Unsynced is not gone: once the caches are complete, it is queued again.
		return guard.Outcome{}
	}
	decided, asked := e.decide(now, key, record, e.seeGone(now, key))
	a.record, a.asked = record, asked
	if len(decided.Operations) > 0 {
		living, err := e.living(ctx, now, families, key)
		switch {
		case errors.Is(err, errAsked):
			return guard.Outcome{State: guard.Waiting, Looked: true}
		case err != nil:
			return unread(decided.Operations[0].Rules, err)
		}
		if living.Name != "" { // It is for the rules to say what becomes of its children.
			e.enqueue(living)
			decided = plan.Plan{}
		}
	}
	result := a.carryOut(ctx, decided)
	if result.State == guard.Settled {
		result.Looked, result.LookAgainAt = false, time.Time{} // There is no object to count or to look at.
		if asked.whole() {
			e.forget(key, len(result.Failures) > 0)
		}
	}
	return result
}

// seeGone is a snapshot of what is gone.
func (e *Engine) seeGone(now *active, key Key) sight {
	kinds := now.set.Kinds()
	return sight{found: gone, Snapshot: rules.Snapshot{
		GVR: key.GVR, Kinds: kinds, Now: e.options.Clock.Now().Round(0),
		Gone: plan.Object{GVR: key.GVR, Kind: kinds[key.GVR].Name, Namespace: key.Namespace, Name: key.Name, UID: key.UID},
	}}
}

// living asks the API server for the object of a uid, and returns its key by name, or
// none where it is gone: what is deleted cannot be taken back. A cache may not have
// seen yet that it is there, and none has what left all selections while nobody
// watched, though its children stay until it is gone.
func (e *Engine) living(ctx context.Context, now *active, families []rules.Family, key Key) (Key, error) {
	if key.Name == "" {
		return e.livingAnywhere(ctx, now, families, key)
	}
	live, err := e.options.Live.Get(ctx, key.GVR, key.Namespace, key.Name)
	if err != nil {
		return Key{}, fmt.Errorf("confirming that it is gone: %w", err)
	}
	if uidOf(live) != key.UID {
		return Key{}, nil
	}
	key.UID = ""
	return key, nil
}

// familiesOf are those whose parents may be of the key's resource.
func familiesOf(families []rules.Family, key Key) []rules.Family {
	var out []rules.Family
	for _, family := range families {
		if slices.ContainsFunc(family.Parents, func(s plan.Selection) bool { return s.GVR == key.GVR }) {
			out = append(out, family)
		}
	}
	return out
}

// nowhere reports whether no cache has the object of the key's uid among the parents of
// the families, of whatever kind.
func (e *Engine) nowhere(families []rules.Family, key Key) (bool, error) {
	for _, family := range families {
		for _, part := range byResource(family.Parents) {
			found, err := e.caches.Read(plan.Read{
				From: part, By: plan.ByFields,
				Fields: []plan.FieldValue{{Path: plan.Path{"metadata", "uid"}, Value: string(key.UID)}},
			})
			if err != nil {
				return false, fmt.Errorf("looking for the object of which there are children: %w", err)
			}
			if len(found) > 0 {
				return false, nil
			}
		}
	}
	return true, nil
}

// byResource splits selections so that each part can be one question.
func byResource(all []plan.Selection) map[schema.GroupVersionResource][]plan.Selection {
	out := map[schema.GroupVersionResource][]plan.Selection{}
	for _, selection := range all {
		out[selection.GVR] = append(out[selection.GVR], selection)
	}
	return out
}

// enqueueOrphans looks for children whose parent went while nobody watched, once all
// caches that would show it are complete.
func (e *Engine) enqueueOrphans(family rules.Family) {
	for _, selection := range slices.Concat(family.Parents, family.Children) {
		if e.untold(informer.Key(selection)) {
			return
		}
	}
	var orphans []Key
	census := e.active.Load().census
	for _, uid := range inOrder(e.parentsOf(family)) {
		key := Key{GVR: family.Parents[0].GVR, UID: uid}
		if gone, err := e.nowhere([]rules.Family{family}, key); gone && err == nil {
			orphans = append(orphans, key)
			census.ask(key)
		}
	}
	for _, key := range orphans { // Once all are asked about, so that they share a list.
		e.enqueue(key)
	}
}

func isOf(family rules.Family, cache informer.Key) bool {
	return slices.Contains(family.Parents, plan.Selection(cache)) || slices.Contains(family.Children, plan.Selection(cache))
}

// parentsOf lists the uids that the children of a family name.
func (e *Engine) parentsOf(family rules.Family) map[types.UID]bool {
	selector := labels.Set{plan.LabelSet: family.Rule.SetID(), plan.LabelRule: family.Rule.Name}.String()
	out := map[types.UID]bool{}
	for _, part := range byResource(family.Children) {
		children, err := e.caches.Read(plan.Read{From: part, By: plan.ByLabels, Labels: selector})
		if err != nil {
			continue // A cache is not complete any more, and will be again.
		}
		for _, child := range children {
			if uid := plan.Label(child, plan.LabelOwnerUID); uid != "" {
				out[types.UID(uid)] = true
			}
		}
	}
	return out
}

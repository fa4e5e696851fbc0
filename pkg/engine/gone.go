package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// strayLook is how often an object that is being deleted is looked at where no cache
// tells when it is gone.
const strayLook = 30 * time.Second

// lost is for an object that no cache has and that is not there any more, or has
// nothing of ours. Its children are looked at under its uid.
func (e *Engine) lost(now *active, key Key, record *record) outcome {
	e.succeed(now, key, record)
	return outcome{state: settled}
}

// succeed forgets an object that is gone, of which there is still a record if it was
// known. When its children are looked at, what was written for it has been seen.
func (e *Engine) succeed(now *active, key Key, record *record) {
	if record != nil && now.set.Prunes(key.GVR) {
		gone := key
		gone.UID = record.uid
		e.enqueue(gone)
	}
	e.forget(key)
}

// leaveStray forgets an object that has left all selections, unless it is being
// deleted: its children go when it is gone.
func (e *Engine) leaveStray(key Key, seen sight, result outcome) outcome {
	if plan.BeingDeleted(seen.Object) {
		look := e.options.Clock.Now().Add(strayLook)
		if result.lookAgainAt.IsZero() || look.Before(result.lookAgainAt) {
			result.lookAgainAt = look
		}
		return result
	}
	e.forget(key)
	result.lookAgainAt = time.Time{}
	return result
}

// reconcileGone is a turn of the loop for an object that is gone, of which rules may
// have left children. It is named by its uid, since another may have its name.
func (e *Engine) reconcileGone(ctx context.Context, now *active, key Key) outcome {
	record := e.memory.of(key, key.UID)
	if e.awaiting(ctx, now, key, record) {
		return e.await(now, key, record)
	}
	questions := parentQuestions(now.families, key)
	if gone, err := none(questions, e.caches.Read); err != nil || !gone {
		e.forget(key) // Unsynced is not gone: once the caches are complete, it is queued again.
		return outcome{state: settled}
	}
	decided, asked := e.decide(now, key, record, e.seeGone(now, key))
	if len(decided.Operations) > 0 {
		surely, err := e.surelyGone(ctx, questions, key)
		if err != nil {
			return outcome{}.failed(trouble{decided.Operations[0].Rules, err}, false, 0)
		}
		if !surely {
			decided = plan.Plan{}
		}
	}
	result := e.carryOut(ctx, now, key, record, decided, asked)
	if result.state == settled {
		result.looked, result.lookAgainAt = false, time.Time{} // There is no object to count or to look at.
		if asked.whole() {
			e.forget(key)
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

// surelyGone asks the API server whether the object is gone: a cache may not have
// seen yet that it is there, and what is deleted cannot be taken back.
func (e *Engine) surelyGone(ctx context.Context, questions []plan.Read, key Key) (bool, error) {
	if key.Name == "" {
		return none(questions, func(q plan.Read) ([]map[string]any, error) { return e.options.Live.Read(ctx, q) })
	}
	live, err := e.options.Live.Get(ctx, key.GVR, key.Namespace, key.Name)
	if err != nil {
		return false, fmt.Errorf("confirming that it is gone: %w", err)
	}
	return uidOf(live) != key.UID, nil
}

// parentQuestions ask for the object of a uid, of all kinds that a rule which prunes
// for the key's resource watches.
func parentQuestions(families []rules.Family, key Key) []plan.Read {
	var out []plan.Read
	for _, family := range families {
		if !slices.ContainsFunc(family.Parents, func(s plan.Selection) bool { return s.GVR == key.GVR }) {
			continue
		}
		for _, part := range byResource(family.Parents) {
			out = append(out, plan.Read{
				From: part, By: plan.ByFields,
				Fields: []plan.FieldValue{{Path: plan.Path{"metadata", "uid"}, Value: string(key.UID)}},
			})
		}
	}
	return out
}

// none reports whether all questions find nothing.
func none(questions []plan.Read, read func(plan.Read) ([]map[string]any, error)) (bool, error) {
	for _, q := range questions {
		found, err := read(q)
		if err != nil {
			return false, fmt.Errorf("looking for the object of which there are children: %w", err)
		}
		if len(found) > 0 {
			return false, nil
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
		if e.incomplete(informer.Key(selection)) {
			return
		}
	}
	for uid := range e.parentsOf(family) {
		key := Key{GVR: family.Parents[0].GVR, UID: uid}
		if gone, err := none(parentQuestions([]rules.Family{family}, key), e.caches.Read); gone && err == nil {
			e.enqueue(key)
		}
	}
}

func isOf(family rules.Family, cache informer.Key) bool {
	return slices.Contains(family.Parents, plan.Selection(cache)) || slices.Contains(family.Children, plan.Selection(cache))
}

func (e *Engine) incomplete(cache informer.Key) bool { return e.caches.Version(cache) == "" }

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
			if uid := labelOf(child, plan.LabelOwnerUID); uid != "" {
				out[types.UID(uid)] = true
			}
		}
	}
	return out
}

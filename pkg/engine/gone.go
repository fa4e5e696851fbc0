package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// reconcileGone is a turn of the loop for an object that is gone, of which rules may
// have left children. It is named by its uid, since another may have its name.
func (a *attempt) reconcileGone(ctx context.Context) guard.Outcome {
	now, key := a.now, a.Key
	a.record = a.memory.of(key, key.UID)
	families := slices.DeleteFunc(slices.Clone(now.families), func(family *rules.Rule) bool {
		return !slices.ContainsFunc(family.Watches(), func(s plan.Selection) bool { return s.GVR == key.GVR })
	})
	if gone, err := a.nowhere(families, key); err != nil || !gone {
		a.forget(key, false) // Unsynced is not gone: once the caches are complete, it is queued again.
		return guard.Outcome{}
	}
	a.decide(a.observeGone(now, key))
	if len(a.Plan.Operations) > 0 { // What is deleted cannot be taken back.
		living, err := a.living(ctx, now, families, key)
		switch {
		case errors.Is(err, errAsked):
			return guard.Outcome{State: guard.Waiting, Looked: true}
		case err != nil:
			return unread(a.Plan.Operations[0].Rules, err)
		}
		if living.Name != "" { // It is for the rules to say what becomes of its children.
			a.enqueue(living)
			a.Plan, a.outcome = plan.Plan{}, guard.Outcome{}
		}
	}
	return a.carryOut(ctx)
}

// living asks the API server for the object of a uid, and returns its key by name, or none where it is gone. A cache may not
// have seen yet that it is there, and none has what left all selections while nobody watched, though its children stay until
// it is gone. An object of which only the uid is known is looked for among all that may have been parents, with whatever else
// is known to have gone. While a list for others is under way the error is errAsked.
func (c *core) living(ctx context.Context, now *active, families []*rules.Rule, key Key) (Key, error) {
	if key.Name == "" {
		found, err := now.census.find(key.UID, func() (map[types.UID]Key, error) { return c.listOrphans(ctx, families, key.UID) })
		if err != nil || found == (Key{}) {
			return Key{}, err
		}
		found.UID = key.UID
		key = found
	}
	live, err := c.live.Get(ctx, key.GVR, key.Namespace, key.Name)
	switch {
	case err != nil:
		return Key{}, fmt.Errorf("confirming that it is gone: %w", err)
	case uidOf(live) != key.UID:
		return Key{}, nil
	}
	key.UID = ""
	return key, nil
}

// listOrphans looks for a uid, and those of all orphans, among all that may be parents. Those that are gone have no key.
func (c *core) listOrphans(ctx context.Context, families []*rules.Rule, uid types.UID) (map[types.UID]Key, error) {
	found, listed := map[types.UID]Key{uid: {}}, map[plan.Selection]bool{}
	for _, family := range families {
		for _, orphan := range c.orphans(family, c.parentsOf) {
			found[orphan.UID] = Key{}
		}
	}
	for _, family := range families {
		for _, everything := range family.Everything() {
			if listed[everything] {
				continue
			}
			listed[everything] = true
			err := c.live.List(ctx, everything, func(object map[string]any) error {
				if _, wanted := found[uidOf(object)]; wanted {
					found[uidOf(object)] = named(everything.GVR, object)
				}
				return nil
			})
			if err != nil {
				return nil, fmt.Errorf("confirming that the object of which there are children is gone: %w", err)
			}
		}
	}
	return found, nil
}

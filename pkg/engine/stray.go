package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// enqueueStrays looks for objects that have a finalizer of ours and that no cache
// has: they left the selection while nobody watched. Searched are the rules, with their
// selections, of which that is known already; what it returns is known afterwards. A
// rule that goes and comes back is searched for again.
func (e *Engine) enqueueStrays(ctx context.Context, now *active, searched map[plan.Rule][]plan.Selection) (map[plan.Rule][]plan.Selection, error) {
	out := map[plan.Rule][]plan.Selection{}
	holders := map[plan.Selection][]plan.Rule{}
	var lists []plan.Selection // in the order of the rules
	for _, holder := range now.set.Holding() {
		out[holder.Rule] = holder.Selections
		if slices.Equal(searched[holder.Rule], holder.Selections) {
			continue
		}
		for _, everything := range holder.Everything() {
			if holders[everything] == nil {
				lists = append(lists, everything)
			}
			holders[everything] = append(holders[everything], holder.Rule)
		}
	}
	var errs []error
	for _, everything := range lists {
		if err := e.straysOf(ctx, now, everything, holders[everything]); err != nil {
			errs = append(errs, err)
			for _, rule := range holders[everything] {
				delete(out, rule)
			}
		}
	}
	return out, errors.Join(errs...)
}

// straysOf goes through one list for all rules that may hold something in it. It waits
// until all caches that may have such an object are complete: before that nobody would
// look at it.
func (e *Engine) straysOf(ctx context.Context, now *active, everything plan.Selection, holders []plan.Rule) error {
	if slices.ContainsFunc(now.of[everything.GVR], func(cache informer.Key) bool { return now.watched[cache] && e.untold(cache) }) {
		return errIncomplete
	}
	ours := map[string]bool{}
	for _, rule := range holders {
		ours[rule.Finalizer()] = true
	}
	err := e.options.Live.List(ctx, everything, func(object map[string]any) error {
		finalizers := (&unstructured.Unstructured{Object: object}).GetFinalizers()
		if slices.ContainsFunc(finalizers, func(finalizer string) bool { return ours[finalizer] }) {
			e.enqueue(named(everything.GVR, object))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking for objects that rule %s holds and does not select any more: %w", holders[0], err)
	}
	return nil
}

// named is the key of an object that was read live.
func named(gvr schema.GroupVersionResource, object map[string]any) Key {
	return Key{GVR: gvr, Namespace: plan.Text(object, "metadata", "namespace"), Name: plan.Text(object, "metadata", "name")}
}

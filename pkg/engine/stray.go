package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// enqueueStrays looks for objects that have a finalizer of ours and that no cache
// has: they left the selection while nobody watched. Searched are the rules, with their
// selections, of which that is known already; what it returns is known afterwards. A
// rule that goes and comes back is searched for again.
func (e *Engine) enqueueStrays(ctx context.Context, now *active, searched map[plan.Rule][]plan.Selection) (map[plan.Rule][]plan.Selection, error) {
	out := map[plan.Rule][]plan.Selection{}
	var errs []error
	for _, rule := range now.set.Holding() {
		var err error
		if !slices.Equal(searched[rule.Rule], rule.Selections) {
			err = e.straysOf(ctx, now, rule)
		}
		if err == nil {
			out[rule.Rule] = rule.Selections
		}
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}

// straysOf waits until all caches that may have such an object are complete: before
// that nobody would look at it.
func (e *Engine) straysOf(ctx context.Context, now *active, rule rules.Holder) error {
	for _, everything := range rule.Everything() {
		if slices.ContainsFunc(now.of[everything.GVR], func(cache informer.Key) bool { return now.watched[cache] && e.incomplete(cache) }) {
			return errIncomplete
		}
		err := e.options.Live.List(ctx, everything, func(object map[string]any) error {
			if slices.Contains((&unstructured.Unstructured{Object: object}).GetFinalizers(), rule.Rule.Finalizer()) {
				e.enqueue(Key{GVR: everything.GVR, Namespace: textOf(object, "namespace"), Name: textOf(object, "name")})
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("looking for objects that rule %s holds and does not select any more: %w", rule.Rule, err)
		}
	}
	return nil
}

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Why nothing can be taken away yet that another rule may take over.
var (
	errIncomplete = errors.New("a cache of what rules watch is not complete")
	errLate       = errors.New("rules that may take over what is left have not done with an object")
)

// heirs are the rules that may take over what a rule has left that is gone: those that
// leave the like on the same resource. One of them may be the same under another name.
type heirs struct {
	set       plan.Rule // whose leftover it is; the name is empty
	kind      plan.LeftoverKind
	rules     []plan.Rule
	caches    []informer.Key // of what they watch
	resources map[schema.GroupVersionResource]bool
}

func (a *active) heirs(of plan.Leftover) heirs {
	out := heirs{set: of.Rule.OfSet(), kind: of.Kind, resources: map[schema.GroupVersionResource]bool{}}
	for _, like := range a.leftovers {
		if like.Kind == of.Kind && like.GVR.GroupResource() == of.GVR.GroupResource() && !slices.Contains(out.rules, like.Rule) {
			out.rules = append(out.rules, like.Rule)
		}
	}
	for cache := range a.watched {
		watches := func(rule plan.Rule) bool { return a.set.Watches(rule, []plan.Selection{plan.Selection(cache)}) }
		if slices.ContainsFunc(out.rules, watches) {
			out.caches = append(out.caches, cache)
			out.resources[cache.GVR] = true
		}
	}
	return out
}

// include reports whether one of them may still have to do with an object that is
// late. One that was refused fields may get them only once they are given up, so it
// is not waited for. Nor is one of another set that fails: a set that is deleted would
// stay for as long as anybody else has trouble.
func (h heirs) include(key Key, late []plan.Rule) bool {
	if len(late) == 0 {
		return h.resources[key.GVR]
	}
	awaited := func(rule plan.Rule) bool { return rule.OfSet() == h.set && slices.Contains(h.rules, rule) }
	return h.kind != plan.LeftFields && slices.ContainsFunc(late, awaited)
}

// withoutHeirs returns which leftovers nobody takes over any more: all heirs have done
// with all objects. The error says why others are not among them.
func (e *Engine) withoutHeirs(ctx context.Context, now *active, leftovers []plan.Leftover) ([]plan.Leftover, error) {
	var errs []error
	of := map[plan.Leftover]heirs{}
	for _, leftover := range leftovers {
		heirs := now.heirs(leftover)
		if slices.ContainsFunc(heirs.caches, e.untold) {
			errs = append(errs[:0], errIncomplete)
			continue
		}
		of[leftover] = heirs
	}
	if len(of) == 0 {
		return nil, errors.Join(errs...)
	}
	if err := e.lookedAtAll(ctx); err != nil {
		return nil, err
	}
	held, err := e.late(of)
	if err != nil {
		errs = append(errs, err)
	}
	return slices.DeleteFunc(slices.Clone(leftovers), func(l plan.Leftover) bool {
		_, known := of[l]
		return !known || held[l]
	}), errors.Join(errs...)
}

// late are the leftovers that an heir may still take over. The error names one of the
// objects that are waited for, and the heirs that have not done with it where it is known
// which those are.
func (e *Engine) late(of map[plan.Leftover]heirs) (held map[plan.Leftover]bool, err error) {
	held = map[plan.Leftover]bool{}
	var first Key // It would be another each time otherwise, and logged each time.
	e.barrier.seek(func(key Key, rules []plan.Rule) bool {
		var waited []plan.Rule
		inTheWay := false
		for leftover, heirs := range of {
			if heirs.include(key, rules) {
				held[leftover], inTheWay = true, true
				waited = append(waited, heirs.rules...)
			}
		}
		if inTheWay && (err == nil || key.Compare(first) < 0) {
			late := slices.DeleteFunc(slices.Clone(rules), func(rule plan.Rule) bool { return !slices.Contains(waited, rule) })
			first, err = key, fmt.Errorf("%w: %s", errLate, described(key, late))
		}
		return inTheWay
	})
	return held, err
}

func described(key Key, rules []plan.Rule) string {
	// Of what is gone the name may not be known.
	object := plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: cmp.Or(key.Name, string(key.UID))}.String()
	if len(rules) == 0 {
		return object
	}
	return fmt.Sprintf("%s (%s)", object, strings.Join(names(rules), ", "))
}

// cleanUp takes away what rules have left that are gone. The others go first, as they
// may take over what is there. While the engine settles, all objects are looked at before:
// otherwise it would be a matter of luck what is left on an object that goes meanwhile.
func (h *housekeeper) cleanUp(ctx context.Context, now *active, leftovers []plan.Leftover) error {
	if len(leftovers) > 0 {
		if err := h.engine.open.calmed(ctx); err != nil {
			return err
		}
	}
	ready, errHeld := h.engine.withoutHeirs(ctx, now, leftovers)
	if errHeld != nil {
		errHeld = fmt.Errorf("cleaning up: %w", errHeld)
	}
	if len(ready) == 0 || ctx.Err() != nil {
		return errors.Join(errHeld, context.Cause(ctx))
	}
	done, err := h.engine.options.Housekeeping.Sweep(ctx, ready)
	err = errors.Join(err, errHeld)
	if len(done) == 0 {
		return err
	}
	_, errRecord := h.engine.options.Housekeeping.Inventory.Update(context.WithoutCancel(ctx), func(b inventory.Book) inventory.Book {
		return b.Without(done...).With(h.engine.active.Load().leftovers...)
	})
	return errors.Join(err, errRecord)
}

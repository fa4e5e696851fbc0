package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// errUnable is why nothing is cleaned up that a rule may replace which cannot work.
var errUnable = errors.New("what rules have left stays")

// unableRule is a rule that cannot work: a cache that it needs is not listed, mostly as the API server does not serve the resource.
type unableRule struct {
	*rules.Rule
	known bool // it is not just that a cache is being listed
	cause error
}

// unable lists the rules that cannot work, those first of which it is known why. The rules count that are in effect, and those that
// wait to be.
func unable(c *core, all ...*active) (out []*unableRule) {
	for _, a := range all {
		if a == nil {
			continue
		}
		unserved := a.Unserved()
		for _, rule := range a.Set.Rules() {
			if found := lacks(c, rule, unserved); found != nil {
				out = append(out, found)
			}
		}
	}
	of := func(known bool) []*unableRule {
		return slices.DeleteFunc(slices.Clone(out), func(u *unableRule) bool { return u.known != known })
	}
	return slices.Concat(of(true), of(false))
}

// keep returns those leftovers that are not cleaned up because of rules that cannot work, and why.
func keep(c *core, leftovers []plan.Leftover, all ...*active) (kept []plan.Leftover, err error) {
	told := map[plan.Rule]error{} // by set
	if len(leftovers) > 0 {
		stuck, said := unable(c, all...), map[plan.Rule]bool{}
		for _, leftover := range leftovers {
			at := slices.IndexFunc(stuck, func(u *unableRule) bool { return u.Replaces(leftover) })
			if at < 0 {
				continue
			}
			kept = append(kept, leftover)
			if set := leftover.Rule.OfSet(); !said[set] {
				why := fmt.Errorf("%w until rule %s can work: %w", errUnable, stuck[at].ID, stuck[at].cause)
				if said[set] = true; stuck[at].known {
					told[set] = why
				}
				err = errors.Join(err, why)
			}
		}
	}
	if tell := c.options.Housekeeping.Kept; tell != nil {
		tell(told)
	}
	return kept, err
}

// lacks says what a rule cannot work without, nil where it can. All that rules name has caches.
func lacks(c *core, rule *rules.Rule, unserved []rules.Unserved) (out *unableRule) {
	for _, cache := range slices.Concat(rule.Watches(), rule.Related()) {
		if !c.incomplete(cache) || out != nil && out.known {
			continue
		}
		err := c.synced.get(cache).err
		if at := slices.IndexFunc(unserved, func(u rules.Unserved) bool { return u.GVR == cache.GVR }); at >= 0 {
			err = unserved[at]
		}
		out = &unableRule{rule, err != nil, unlisted(cache, err)}
	}
	return out
}

// unlisted says that a cache is not listed, and why as far as that is known.
func unlisted(cache informer.Key, err error) error {
	if err == nil {
		return fmt.Errorf("%s is not listed yet", cache)
	}
	return fmt.Errorf("%s is not listed: %w", cache, err)
}

package engine

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// SetRules replaces the rules as a whole. Informers that both sets want are left alone. Objects are looked at again of
// which rules may want something else now: those that a rule watches, or has watched, which is new, gone or has changed.
// The same set once more has all objects looked at again.
//
// Rules that need caches which do not run yet, in place of others that do, take effect
// once these are complete, and those from before stay in effect until then: see
// [Engine.Run]. Nothing is waited for that surely cannot be listed, and for nothing
// longer than [BesideLongest]. SetRules returns at once all the same, and the next one
// takes the place of what still waits. Nor is anything waited for where nobody acts by
// the rules from before.
//
// After an error the rules that are in effect stay, and none wait.
func (e *Engine) SetRules(set *rules.Set) error {
	e.swap.Lock()
	defer e.swap.Unlock()
	next := activate(set)
	awaited := e.awaited(next)
	if len(awaited) == 0 {
		return e.goOver(next)
	}
	before := e.active.Load()
	others := slices.DeleteFunc(next.caches(), before.wants)
	if e.house != nil {
		e.house.halt()
		defer e.house.resume()
	}
	e.next.begin(next, awaited, e.options.Clock.Now()) // First, as they may be complete at once.
	e.active.Store(before.beside(others))
	if err := e.want(append(before.caches(), others...)); err != nil {
		return e.stay(err)
	}
	if e.next.complete() {
		return e.goOver(next)
	}
	return nil
}

// Rules are those in effect: by them objects are evaluated.
func (e *Engine) Rules() *rules.Set { return e.active.Load().set }

// awaited are the caches that rules wait for before they take the place of those in
// effect. The lock of the rules is held, as by all that follow.
func (e *Engine) awaited(next *active) []informer.Key {
	before := e.active.Load()
	if !e.awake.Load() || e.driven() || len(before.all) == 0 {
		return nil
	}
	return slices.DeleteFunc(next.caches(), func(key informer.Key) bool {
		_, denied := e.denied[key]
		return denied || before.wants(key) || !e.untold(key)
	})
}

// goOver puts rules into effect. Objects are looked at again that rules are about which have changed; the same set once
// more has all of them looked at.
func (e *Engine) goOver(now *active) error {
	if e.house != nil {
		e.house.halt()
		defer e.house.resume()
	}
	e.next.end()
	before := e.active.Load()
	changed := now.set.Rules()
	if before.set != now.set {
		changed = rules.Changes(before.set, now.set)
	}
	now.follow(before, changed)
	e.active.Store(now) // First, since the caches may tell something at once.
	again := e.selected(before, changed)
	if err := e.want(now.caches()); err != nil {
		e.active.Store(before)
		return e.stay(err)
	}
	e.guards.limits.Follow(now.rules, e.house == nil)
	e.guards.conflicts.Follow(before.set, now.set)
	e.refuse(now)
	concerned := now.concerned(changed)
	for _, key := range now.all {
		if concerned[key] {
			e.enqueueAll(key)
		}
	}
	for _, family := range now.families {
		if slices.ContainsFunc(changed, func(rule *rules.Rule) bool { return rule.ID == family.Rule }) {
			e.enqueueOrphans(family)
		}
	}
	e.enqueueEach(again)
	return nil
}

// selected lists the objects that rules were about which have changed, as long as their caches are there: nobody may
// watch them any more. With them are those that failing rules wait for a change of the rules to try again, and what
// is gone.
func (e *Engine) selected(before *active, changed []*rules.Rule) []Key {
	var out []Key
	incomplete := map[schema.GroupVersionResource]bool{}
	for cache := range before.concerned(changed) {
		for _, name := range e.caches.Names(cache) {
			out = append(out, Key{GVR: cache.GVR, Namespace: name.Namespace, Name: name.Name})
		}
		incomplete[cache.GVR] = incomplete[cache.GVR] || !e.caches.View(cache, "", "").Synced
	}
	for _, rule := range changed {
		for _, selection := range rule.Watches() { // It may have left something of what no cache has.
			incomplete[selection.GVR] = incomplete[selection.GVR] || rule.Lingers()
		}
	}
	for _, key := range e.memory.keys() {
		if key.UID != "" || incomplete[key.GVR] {
			out = append(out, key)
		}
	}
	for _, c := range e.Quarantined() {
		out = append(out, c.Key)
	}
	return out
}

// stay goes back to the caches of the rules in effect.
func (e *Engine) stay(err error) error {
	e.next.end()
	before := e.active.Load()
	kept := before.beside(nil)
	kept.generation++ // For a moment the others were in effect, and some objects may know of theirs.
	e.active.Store(kept)
	return fmt.Errorf("changing the rules: %w", errors.Join(err, e.want(before.caches())))
}

// want runs exactly these caches.
func (e *Engine) want(keys []informer.Key) error {
	e.told.keep(e.wanted)
	e.wanted = keys
	return e.caches.Want(keys) //nolint:wrapcheck // The callers say what it was for.
}

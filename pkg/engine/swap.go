package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// SetRules replaces the rules as a whole. Informers that both sets want are
// left alone. Objects are looked at again, since the new rules may want
// something else of them.
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

// goOver puts rules into effect.
func (e *Engine) goOver(now *active) error {
	if e.house != nil {
		e.house.halt()
		defer e.house.resume()
	}
	e.next.end()
	before := e.active.Swap(now) // First, since the caches may tell something at once.
	keys := now.caches()
	if err := e.want(keys); err != nil {
		e.active.Store(before)
		return e.stay(err)
	}
	e.guards.limits.Follow(now.rules, e.house == nil)
	e.guards.conflicts.Follow(before.set, now.set)
	e.refuse(now)
	for _, key := range keys {
		if now.watched[key] {
			e.enqueueAll(key)
		}
	}
	for _, family := range now.families {
		e.enqueueOrphans(family)
	}
	// What is remembered of objects that nobody watches any more is forgotten
	// when they are looked at and not found.
	e.enqueueEach(e.memory.keys())
	return nil
}

// stay goes back to the caches of the rules in effect.
func (e *Engine) stay(err error) error {
	e.next.end()
	before := e.active.Load()
	e.active.Store(before.beside(nil))
	return fmt.Errorf("changing the rules: %w", errors.Join(err, e.want(before.caches())))
}

// want runs exactly these caches.
func (e *Engine) want(keys []informer.Key) error {
	e.told.keep(e.wanted)
	e.wanted = keys
	return e.caches.Want(keys) //nolint:wrapcheck // The callers say what it was for.
}

package engine

import (
	"errors"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// SetRules replaces the rules as a whole. Informers that both sets want are
// left alone. Objects are looked at again, since the new rules may want
// something else of them.
func (e *Engine) SetRules(set *rules.Set) error {
	e.swap.Lock()
	defer e.swap.Unlock()
	now := activate(set)
	keys := now.caches()
	if e.house != nil {
		e.house.halt()
		defer e.house.resume()
	}
	e.told.keep(e.active.Load().caches())
	before := e.active.Swap(now) // First, since the caches may tell something at once.
	if err := e.caches.Want(keys); err != nil {
		e.active.Store(before)
		return fmt.Errorf("changing the rules: %w", errors.Join(err, e.caches.Want(before.caches())))
	}
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

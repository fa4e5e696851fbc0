package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// Deny says which caches may not be had at present, and why; nil is for none. It takes
// the place of what was denied before, holds for rules that are loaded later too, and
// may be called before there are any.
//
// A cache that is denied is dropped at once: nothing of it is read any more. It is then
// like one that is not complete yet, and unsynced is not empty: rules that watch or read
// it rest, and nothing is taken for gone because it is not seen. The others go on, and
// their caches are left alone. An evaluation that has already read from the cache comes
// to its end: what it writes is guarded, and is sent as the same identity.
//
// A cache that is not denied any more begins anew, and all that it concerns is looked at
// when it is complete. So to have a cache begin anew, it is denied, and then it is not:
// nothing is waited for in between.
//
// The error is that of a cache which could not be started; those that are denied are
// dropped all the same.
func (e *Engine) Deny(denied map[informer.Key]error) error {
	e.swap.Lock()
	defer e.swap.Unlock()
	dropped, freed := missing(e.denied, denied), missing(denied, e.denied)
	e.denied = maps.Clone(denied)
	if len(dropped) > 0 && e.house != nil {
		e.house.halt() // It may rely on what the caches have told.
		defer e.house.resume()
	}
	wanted := e.active.Load()
	for key := range freed {
		if wanted.wants(key) {
			e.told.renew(key)
			e.open.allow(key) // First, as it may be complete at once.
		}
	}
	err := e.caches.Deny(e.denied)
	e.told.drop(dropped)
	for key := range dropped {
		e.next.without(key)
	}
	e.refuse(wanted)
	if err != nil {
		return fmt.Errorf("denying caches: %w", err)
	}
	return nil
}

// refuse keeps nobody waiting for caches that are denied; the lock of the rules is held.
func (e *Engine) refuse(now *active) {
	for _, key := range now.all {
		if err, denied := e.denied[key]; denied {
			e.open.deny(key, err)
		}
	}
}

// missing are the keys that only the second has.
func missing(from, of map[informer.Key]error) map[informer.Key]error {
	out := maps.Clone(of)
	maps.DeleteFunc(out, func(key informer.Key, _ error) bool {
		_, has := from[key]
		return has
	})
	return out
}

// deny waits no more for a cache that is denied, and tells of it.
func (o *open) deny(key informer.Key, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle == nil {
		return
	}
	o.faults[key] = err
	o.report.Unlisted = append(without(o.report.Unlisted, key), informer.Status{Key: key, Err: err})
	delete(o.caches, key)
	o.check()
}

// allow waits again for a cache that is not denied any more.
func (o *open) allow(key informer.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle == nil {
		return
	}
	delete(o.faults, key)
	o.report.Unlisted = without(o.report.Unlisted, key)
	o.caches[key] = 0
}

func without(all []informer.Status, key informer.Key) []informer.Status {
	return slices.DeleteFunc(all, func(status informer.Status) bool { return status.Key == key })
}

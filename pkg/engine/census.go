package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/crew"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// census finds out which objects that children name live still, for as many as are asked
// about together: at a start all orphans are known at once, and each would have
// everything listed again. It is safe for concurrent use.
//
// A list that begins after a child was seen tells for good that its parent is gone: the
// parent was there before the child, and no other object ever has its uid. What it tells
// of the living holds for a moment, and is used once.
type census struct {
	turn chan struct{} // held while everything is listed

	mu      sync.Mutex
	asked   map[Key]bool // by uid, guarded by mu
	answers map[Key]Key  // by uid, the key by name or none; guarded by mu
}

func newCensus() *census {
	return &census{turn: make(chan struct{}, 1), asked: map[Key]bool{}, answers: map[Key]Key{}}
}

// ask has the next list look for an object too.
func (c *census) ask(key Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.answers[key]; !known {
		c.asked[key] = true
	}
}

// take returns what is known of an object.
func (c *census) take(key Key) (living Key, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if living, known = c.answers[key]; living != (Key{}) {
		delete(c.answers, key)
	}
	return living, known
}

// wanted are the uids that are asked about, of a resource.
func (c *census) wanted(of schema.GroupVersionResource) map[types.UID]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[types.UID]bool{}
	for key := range c.asked {
		if key.GVR == of {
			out[key.UID] = true
		}
	}
	return out
}

// answer notes what a list has told.
func (c *census) answer(of schema.GroupVersionResource, wanted map[types.UID]bool, living map[types.UID]Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uid := range wanted {
		key := Key{GVR: of, UID: uid}
		delete(c.asked, key)
		c.answers[key] = living[uid]
	}
}

// livingAnywhere looks for an object of which only the uid is known among all that may
// have been parents, and for whatever else is asked about at the same time.
func (e *Engine) livingAnywhere(ctx context.Context, now *active, families []rules.Family, key Key) (Key, error) {
	c := now.census
	err := c.wait(ctx, key)
	if err != nil {
		return Key{}, err
	}
	defer func() { <-c.turn }()
	if living, known := c.take(key); known {
		return living, nil
	}
	c.ask(key)
	wanted := c.wanted(key.GVR)
	living, err := e.livingAmong(ctx, families, wanted)
	if err != nil {
		return Key{}, fmt.Errorf("confirming that the object of which there are children is gone: %w", err)
	}
	c.answer(key.GVR, wanted, living)
	found, _ := c.take(key)
	return found, nil
}

// wait returns when it is the turn of who asks about an object.
func (c *census) wait(ctx context.Context, key Key) (err error) {
	crew.Call(ctx, crew.Purpose{GVR: key.GVR}, func() {
		select {
		case c.turn <- struct{}{}:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	})
	return err
}

// errFound ends a list.
var errFound = errors.New("found")

// livingAmong lists all that may have been parents, until all uids are found.
func (e *Engine) livingAmong(ctx context.Context, families []rules.Family, wanted map[types.UID]bool) (map[types.UID]Key, error) {
	out := map[types.UID]Key{}
	listed := map[plan.Selection]bool{}
	for _, family := range families {
		for _, everything := range family.Everything() {
			if listed[everything] {
				continue
			}
			listed[everything] = true
			err := e.options.Live.List(ctx, everything, func(object map[string]any) error {
				if uid := uidOf(object); wanted[uid] {
					out[uid] = named(everything.GVR, object)
				}
				if len(out) == len(wanted) {
					return errFound
				}
				return nil
			})
			switch {
			case errors.Is(err, errFound):
				return out, nil
			case err != nil:
				return nil, err
			}
		}
	}
	return out, nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

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
	mu      sync.Mutex
	listing bool         // somebody lists everything; guarded by mu
	waiting map[Key]bool // to be queued when that is over; guarded by mu
	asked   map[Key]bool // by uid, guarded by mu
	answers map[Key]Key  // by uid, the key by name or none; guarded by mu
}

func newCensus() *census {
	return &census{waiting: map[Key]bool{}, asked: map[Key]bool{}, answers: map[Key]Key{}}
}

// begin has an object asked about. It returns the uids of its resource that are asked about and whether the caller is to
// list, and then to call end; otherwise somebody lists, and the object waits for him.
func (c *census) begin(key Key) (wanted map[types.UID]bool, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.answers[key]; !known {
		c.asked[key] = true
	}
	if c.listing {
		c.waiting[key] = true
		return nil, false
	}
	c.listing = true
	wanted = map[types.UID]bool{}
	for other := range c.asked {
		if other.GVR == key.GVR {
			wanted[other.UID] = true
		}
	}
	return wanted, true
}

// end lets others list, and returns the objects that have waited for an answer if there is one. Without one they are
// looked at again after a while, as whatever waits, so that they do not all ask at once.
func (c *census) end(answered bool) []Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listing = false
	if !answered {
		return nil
	}
	out := slices.Collect(maps.Keys(c.waiting))
	clear(c.waiting)
	return out
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

// errAsked is why it is not known yet whether an object lives: a list is under way for others. The object is queued when
// that is over.
var errAsked = errors.New("others are asked about at present")

// livingAnywhere looks for an object of which only the uid is known among all that may
// have been parents, and for whatever else is asked about at the same time. It waits for no other list than its own.
func (e *Engine) livingAnywhere(ctx context.Context, now *active, families []rules.Family, key Key) (Key, error) {
	c := now.census
	if living, known := c.take(key); known {
		return living, nil
	}
	wanted, mine := c.begin(key)
	if !mine {
		return Key{}, errAsked
	}
	answered := false
	defer func() { e.enqueueEach(c.end(answered)) }()
	living, err := e.livingAmong(ctx, families, wanted)
	if err != nil {
		return Key{}, fmt.Errorf("confirming that the object of which there are children is gone: %w", err)
	}
	c.answer(key.GVR, wanted, living)
	answered = true
	found, _ := c.take(key)
	return found, nil
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

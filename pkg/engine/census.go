package engine

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// errAsked is why it is not known yet whether an object lives: a list is under way for others.
var errAsked = errors.New("others are asked about at present")

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
	asked   map[Key]bool // by uid, guarded by mu
	answers map[Key]Key  // by uid, the key by name or none; guarded by mu
}

func newCensus() *census {
	return &census{asked: map[Key]bool{}, answers: map[Key]Key{}}
}

// ask has the next list look for an object too.
func (c *census) ask(key Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.answers[key]; !known {
		c.asked[key] = true
	}
}

// find returns the key by name of an object of which the uid is known, or none where it is gone. Where no earlier list tells,
// it lists, for all uids of the resource that are asked about; or somebody lists already. Whoever waits for that is looked at
// again after a while, as whatever waits.
func (c *census) find(key Key, list func(wanted map[types.UID]bool) (map[types.UID]Key, error)) (living Key, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if living, known := c.answers[key]; known {
		if living != (Key{}) {
			delete(c.answers, key)
		}
		return living, nil
	}
	c.asked[key] = true
	if c.listing {
		return Key{}, errAsked
	}
	wanted := map[types.UID]bool{}
	for other := range c.asked {
		if other.GVR == key.GVR {
			wanted[other.UID] = true
		}
	}
	c.listing = true
	defer func() { c.listing = false }()
	found, err := func() (map[types.UID]Key, error) { // Others may ask meanwhile.
		c.mu.Unlock()
		defer c.mu.Lock()
		return list(wanted)
	}()
	if err != nil {
		return Key{}, err
	}
	for uid := range wanted {
		asked := Key{GVR: key.GVR, UID: uid}
		delete(c.asked, asked)
		if living := found[uid]; asked != key || living == (Key{}) {
			c.answers[asked] = living
		}
	}
	return found[key.UID], nil
}

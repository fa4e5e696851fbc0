package engine

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// errAsked is why it is not known yet whether an object lives: a list is under way for others.
var errAsked = errors.New("others are asked about at present")

// census finds out which objects that children name live still. A list is for all orphans that are known when it begins: at a start
// all are known at once, and each would have everything listed again. It is safe for concurrent use.
//
// A list that begins after a child was seen tells for good that its parent is gone: the parent was there before the child, and
// no other object ever has its uid. Of the living it tells the names.
type census struct {
	listing sync.Mutex // held while somebody lists everything
	answers sync.Map   // of types.UID, the Key by name or none
}

// find returns the key by name that the object of a uid had, or none where it is gone. Where no earlier list tells, it lists; or
// somebody lists already. Whoever waits for that is looked at again after a while, as whatever waits.
func (c *census) find(uid types.UID, list func() (map[types.UID]Key, error)) (Key, error) {
	known, _ := c.answers.Load(uid)
	if key, told := known.(Key); told {
		return key, nil
	}
	if !c.listing.TryLock() {
		return Key{}, errAsked
	}
	defer c.listing.Unlock()
	found, err := list()
	for other, key := range found {
		c.answers.Store(other, key)
	}
	return found[uid], err
}

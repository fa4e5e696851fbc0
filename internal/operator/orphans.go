package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
)

// orphansAgain is how long after an error the inventory is read again.
const orphansAgain = 15 * time.Second

// findOrphans looks for what sets in files have left as identities that no set has any
// more, so that there is somebody to clean up, or to tell of it. It tries until it
// knows, or the context is done. While somebody else leads there may come others.
func (o *Operator) findOrphans(ctx context.Context) {
	for o.options.holdsFiles() {
		if o.leftovers.adopt(ctx) == nil {
			o.mu.Lock()
			o.regroupNow()
			o.mu.Unlock()
			return
		}
		select { // The housekeeping of the tenants says what is wrong.
		case <-o.options.Clock.After(orphansAgain):
		case <-ctx.Done():
			return
		}
	}
}

// adopt has the accounts among those of the operator that have left something for sets in files.
func (l *leftovers) adopt(ctx context.Context) error {
	book, err := inventory.Load(ctx, l.known)
	if err != nil {
		return fmt.Errorf("looking who has left something: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, left := range book.All() {
		l.left[left.Account] = true
	}
	return nil
}

// release ends the tenants of accounts that have no rules any more, and have left nothing by
// the book. What is known of an account may be newer than that, so the book is read again.
func (o *Operator) release(ctx context.Context, book inventory.Book) {
	o.mu.Lock()
	idle := o.idle(book)
	o.mu.Unlock()
	if len(idle) == 0 {
		return
	}
	book, err := inventory.Load(ctx, o.leftovers.known)
	if err != nil {
		return // The next update looks again.
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	released := false
	for _, account := range o.idle(book) {
		if slices.Contains(idle, account) {
			delete(o.left, account)
			released = true
		}
	}
	if released {
		o.regroupNow()
	}
}

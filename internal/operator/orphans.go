package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// orphansAgain is how long after an error the inventory is read again.
const orphansAgain = 15 * time.Second

// findOrphans looks for what sets in files have left as identities that no set has any
// more, so that there is somebody to clean up, or to tell of it. It tries until it
// knows, or the context is done. While somebody else leads there may come others.
func (o *Operator) findOrphans(ctx context.Context) {
	for o.options.holdsFiles() {
		if o.adoptOrphans(ctx) == nil {
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

// adoptOrphans has the accounts among those of the operator that have left something for sets in files.
func (o *Operator) adoptOrphans(ctx context.Context) error {
	book, err := inventory.Load(ctx, o.known)
	if err != nil {
		return fmt.Errorf("looking who has left something: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, left := range book.All() {
		o.left[left.Account] = true
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
	book, err := inventory.Load(ctx, o.known)
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

// idle lists the accounts that have left nothing by a book, and whose tenants have no
// rules. The lock is held.
func (o *Operator) idle(book inventory.Book) []types.NamespacedName {
	var out []types.NamespacedName
	for account := range o.left {
		has := func(l plan.Leftover) bool { return l.Account == account }
		if t := o.tenants[account]; t != nil && t.given != nil && len(t.given.rules) == 0 && !slices.ContainsFunc(book.All(), has) {
			out = append(out, account)
		}
	}
	return out
}

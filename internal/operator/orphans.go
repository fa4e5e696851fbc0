package operator

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// orphansAgain is how long after an error the inventory is read again.
const orphansAgain = 15 * time.Second

// findOrphans looks for what sets in files have left as identities that no set has any
// more, so that there is somebody to clean up, or to tell of it. It tries until it
// knows, or the context is done. While somebody else leads there may come others.
func (o *Operator) findOrphans(ctx context.Context) {
	for o.options.holdsFiles() {
		accounts, err := o.orphans(ctx)
		if err == nil {
			o.adopt(accounts)
			return
		}
		select { // The housekeeping of the tenants says what is wrong.
		case <-o.options.Clock.After(orphansAgain):
		case <-ctx.Done():
			return
		}
	}
}

// orphans are the accounts that have left something for sets in files.
func (o *Operator) orphans(ctx context.Context) (map[types.NamespacedName]bool, error) {
	book, err := o.known.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking who has left something: %w", err)
	}
	accounts := map[types.NamespacedName]bool{}
	for _, left := range book.All() {
		accounts[left.Account] = true
	}
	return accounts, nil
}

// adopt has a tenant for each of the accounts.
func (o *Operator) adopt(accounts map[types.NamespacedName]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.Copy(o.left, accounts)
	if err := o.regroup(); err != nil {
		o.undone = true
		o.options.Log.Error("what rules have left that are gone is not looked after", "err", err)
	}
}

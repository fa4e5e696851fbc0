package inventory

import (
	"context"
	"sync"
)

// DryRun is a [Store] that reads another one and never writes to it. It keeps in memory
// what it is asked to store.
type DryRun struct {
	from Store

	mu   sync.Mutex
	read bool // guarded by mu
	book Book // as it would be stored; guarded by mu
}

// NewDryRun returns the store of a dry run.
func NewDryRun(from Store) *DryRun { return &DryRun{from: from} }

// Load implements [Store].
func (d *DryRun) Load(ctx context.Context) (Book, error) {
	return d.Update(ctx, func(b Book) Book { return b })
}

// Update implements [Store].
func (d *DryRun) Update(ctx context.Context, change func(Book) Book) (Book, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.read {
		book, err := d.from.Load(ctx)
		if err != nil {
			return Book{}, err //nolint:wrapcheck // It says what was read.
		}
		d.book, d.read = book, true
	}
	d.book = change(d.book)
	return d.book, nil
}

package inventory

import (
	"context"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Scope returns the part of a store that is somebody's own, where several keep one book:
// of the others' leftovers nothing is seen, and they are kept as they are. Only what a
// rule leaves now that is in the others' part passes to whoever says so.
//
// What is not mine is not stored, and so it is missing from the book that Update returns.
func Scope(store Store, mine func(plan.Leftover) bool) Store { return scope{store, mine} }

type scope struct {
	store Store
	mine  func(plan.Leftover) bool
}

// Load implements [Store].
func (s scope) Load(ctx context.Context) (Book, error) {
	return s.own(s.store.Load(ctx))
}

// Update implements [Store].
func (s scope) Update(ctx context.Context, change func(Book) Book) (Book, error) {
	return s.own(s.store.Update(ctx, func(whole Book) Book {
		own, others := whole.split(s.mine)
		own, _ = change(own).split(s.mine)
		return others.And(own)
	}))
}

func (s scope) own(whole Book, err error) (Book, error) {
	own, _ := whole.split(s.mine)
	return own, err
}

package inventory_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// readOnly fails once, and must not be written.
type readOnly struct {
	t    *testing.T
	book inventory.Book
	err  error
}

// Read implements [inventory.Part].
func (r *readOnly) Read(context.Context) (inventory.Book, inventory.Replace, error) {
	err := r.err
	r.err = nil
	return r.book, func(context.Context, inventory.Book) (inventory.Book, error) {
		r.t.Error("it is written")
		return r.book, nil
	}, err
}

// TestDryRun holds that what is changed in a dry run counts in that alone, and that what
// cannot be read is read again.
func TestDryRun(t *testing.T) {
	left := plan.Leftover{Rule: plan.Rule{Kind: "ClusterRuleSet", Set: "s", Name: "a"}, Kind: plan.LeftFields}
	unread := errors.New("unread")
	store := inventory.NewDryRun(&readOnly{t, inventory.NewBook(left), unread})
	if _, err := inventory.Load(t.Context(), store); !errors.Is(err, unread) {
		t.Errorf("error %v", err)
	}
	book, err := inventory.Load(t.Context(), store)
	if diff := cmp.Diff([]plan.Leftover{left}, book.All()); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if _, err := inventory.Update(t.Context(), store, func(b inventory.Book) inventory.Book { return b.Without(left) }); err != nil {
		t.Error(err)
	}
	if book, err := inventory.Load(t.Context(), store); len(book.All()) > 0 || err != nil {
		t.Errorf("%v, %v", book.All(), err)
	}
}

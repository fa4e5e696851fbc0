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

func (r *readOnly) Load(context.Context) (inventory.Book, error) {
	err := r.err
	r.err = nil
	return r.book, err
}

func (r *readOnly) Update(context.Context, func(inventory.Book) inventory.Book) (inventory.Book, error) {
	r.t.Error("it is written")
	return r.book, nil
}

// TestDryRun holds that what is changed in a dry run counts in that alone, and that what
// cannot be read is read again.
func TestDryRun(t *testing.T) {
	left := plan.Leftover{Rule: plan.Rule{Kind: "ClusterRuleSet", Set: "s", Name: "a"}, Kind: plan.LeftFields}
	unread := errors.New("unread")
	store := inventory.NewDryRun(&readOnly{t, inventory.NewBook(left), unread})
	if _, err := store.Load(t.Context()); !errors.Is(err, unread) {
		t.Errorf("error %v", err)
	}
	book, err := store.Load(t.Context())
	if diff := cmp.Diff([]plan.Leftover{left}, book.All()); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if _, err := store.Update(t.Context(), func(b inventory.Book) inventory.Book { return b.Without(left) }); err != nil {
		t.Error(err)
	}
	if book, err := store.Load(t.Context()); len(book.All()) > 0 || err != nil {
		t.Errorf("%v, %v", book.All(), err)
	}
}

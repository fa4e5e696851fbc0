package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
)

// dischargeAgain is how long after an error it is tried again to let go of a set.
const dischargeAgain = 5 * time.Second

// discharge lets go of sets that are being deleted and that no tenant looks after: those
// that have left nothing, and those of which nobody can clean up any more. It goes on
// until the context is done.
func (o *Operator) discharge(ctx context.Context) {
	for {
		var retry <-chan time.Time
		for _, set := range o.deleting() {
			if err := o.letGo(ctx, set); err != nil && ctx.Err() == nil {
				o.options.Log.Warn("cannot let go of a set", "set", set.Key.String(), "err", err)
				retry = o.options.Clock.After(dischargeAgain)
			}
		}
		select {
		case <-o.leaving:
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// deleting lists the sets that wait for us.
func (o *Operator) deleting() []*object {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []*object
	for _, set := range o.inOrder() {
		if set.Deleting && set.Finalizer {
			out = append(out, set)
		}
	}
	return out
}

// letGo takes our finalizer off a set, if nothing is left to be done.
func (o *Operator) letGo(ctx context.Context, set *object) error {
	store := o.inventoryOf(set.Key)
	if len(set.Status.Inventory) == 0 {
		_, err := store.Update(ctx, func(b inventory.Book) inventory.Book { return b })
		return err
	}
	given, err := o.abandoned(ctx, set)
	if err != nil || !given {
		return err
	}
	_, err = store.Update(ctx, func(inventory.Book) inventory.Book { return inventory.Book{} })
	if err == nil {
		o.options.Log.Warn("a set is given up with its namespace, without its ServiceAccount nothing can be cleaned up",
			"set", set.Key.String(), "left", len(set.Status.Inventory))
	}
	return err
}

// namespaces are asked whether they are going.
var namespaces = apischema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// abandoned reports whether the namespace of a set is being deleted, and its
// ServiceAccount is gone already: nobody will ever clean up, and the namespace would
// wait for it.
func (o *Operator) abandoned(ctx context.Context, set *object) (bool, error) {
	o.mu.Lock()
	tenants := o.tenantsOf(set)
	o.mu.Unlock()
	for _, t := range tenants {
		if t.account.Namespace != set.Namespace || !errors.Is(t.known().Account, access.ErrNoAccount) {
			return false, nil
		}
	}
	found, err := o.client.Resource(namespaces).Get(ctx, set.Namespace, metav1.GetOptions{})
	switch {
	case set.Namespace == "" || apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("asking whether the namespace is being deleted: %w", err)
	default:
		return found.GetDeletionTimestamp() != nil, nil
	}
}

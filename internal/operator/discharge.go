package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
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
				o.options.Log.Warn("cannot let go of a set", "set", set.String(), "err", err)
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
	if set.taken {
		return o.handOver(ctx, store)
	}
	if len(set.accounts()) == 0 {
		_, err := store.Update(ctx, func(b inventory.Book) inventory.Book { return b })
		return err
	}
	given, err := o.abandoned(ctx, set)
	if err != nil || !given {
		return err
	}
	if err := o.unhold(ctx, store); apierrors.IsForbidden(err) {
		o.options.Log.Warn("finalizers of a set that is given up stay", "set", set.String(), "err", err)
	} else if err != nil {
		return err
	}
	_, err = store.Update(ctx, func(inventory.Book) inventory.Book { return inventory.Book{} })
	if err == nil {
		o.options.Log.Warn("a set is given up with its namespace, without its ServiceAccount nothing can be cleaned up",
			"set", set.String(), "left", len(set.Status.Inventory))
	}
	return err
}

// handOver has the file that has the same set look after what the object has left: who
// runs the file cleans up what it does not want.
func (o *Operator) handOver(ctx context.Context, store *inventory.Object) error {
	left, err := store.Load(ctx)
	if err != nil {
		return fmt.Errorf("handing a set over to its file: %w", err)
	}
	if _, err = o.files.Update(ctx, func(b inventory.Book) inventory.Book { return left.With(b.All()...) }); err != nil {
		return fmt.Errorf("handing a set over to its file: %w", err)
	}
	_, err = store.Update(ctx, func(b inventory.Book) inventory.Book { return b.Without(left.All()...) })
	return err
}

// unhold takes the finalizers of a set off its objects as the process itself, as far as
// that may: nobody else is left who could, and the namespace would wait for them.
func (o *Operator) unhold(ctx context.Context, store *inventory.Object) error {
	left, err := store.Load(ctx)
	if err != nil {
		return fmt.Errorf("giving a set up: %w", err)
	}
	holds := slices.DeleteFunc(left.All(), func(l plan.Leftover) bool { return l.Kind != plan.LeftFinalizer })
	o.mu.Lock()
	own := o.tenants[types.NamespacedName{}] // It is there as soon as there are sets.
	o.mu.Unlock()
	if _, err := own.sweep(ctx, holds); err != nil {
		return fmt.Errorf("taking finalizers off, which nobody else can any more: %w", err)
	}
	return nil
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
	if len(tenants) < len(set.accounts()) {
		return false, nil // They are yet to come.
	}
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

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

// discharge lets go of sets that are being deleted and that no tenant looks after: those
// that have left nothing, and those of which nobody can clean up any more. It goes on
// until the context is done.
func (o *Operator) discharge(ctx context.Context) {
	tries := patience{}
	for {
		var retry <-chan time.Time
		if next := o.letAllGo(ctx, tries); !next.IsZero() {
			retry = o.options.Clock.After(next.Sub(o.options.Clock.Now()))
		}
		select {
		case <-o.leaving: // Somebody has news, which may be about other sets.
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// letAllGo tries to let go of the sets that are due, and returns when the next will be,
// zero for never.
func (o *Operator) letAllGo(ctx context.Context, tries patience) (next time.Time) {
	sets := o.deleting()
	tries.keep(sets)
	for _, set := range sets {
		if o.lookedAfter(set) {
			delete(tries, set.Key)
			continue
		}
		tried := tries.of(set)
		if tried.due(o.options.Clock.Now()) {
			err := o.letGo(ctx, set)
			if ctx.Err() != nil {
				return time.Time{}
			}
			if tried.take(o.options.Clock.Now(), err) {
				o.options.Log.Warn("cannot let go of a set", "set", set.String(), "err", err)
			}
		}
		if next.IsZero() || tried.next.Before(next) {
			next = tried.next
		}
	}
	return next
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

// letGo takes our finalizer off a set that nobody looks after, if nothing is left to be
// done, or its namespace goes.
func (o *Operator) letGo(ctx context.Context, set *object) error {
	store := o.inventoryOf(set)
	if set.taken {
		return o.handOver(ctx, set, store)
	}
	if len(set.accounts()) == 0 {
		_, err := store.Update(ctx, func(b inventory.Book) inventory.Book { return b })
		return err
	}
	if goes, err := o.going(ctx, set.Namespace); err != nil || !goes {
		return err
	}
	return o.giveUp(ctx, set, store)
}

// giveUp lets go of a set after which nobody can clean up any more.
func (o *Operator) giveUp(ctx context.Context, set *object, store *inventory.Object) error {
	held := o.unhold(ctx, store)
	if held != nil && (!apierrors.IsForbidden(held) || errors.Is(held, errSensitive)) {
		return held
	}
	if _, err := store.Update(ctx, func(inventory.Book) inventory.Book { return inventory.Book{} }); err != nil {
		return fmt.Errorf("giving a set up: %w", err)
	}
	if held != nil {
		o.options.Log.Warn("finalizers of a set that is given up stay", "set", set.String(), "err", held)
	}
	o.options.Log.Warn("a set is given up with its namespace, without its ServiceAccount nothing can be cleaned up",
		"set", set.String(), "left", len(set.Status.Inventory))
	return nil
}

// handOver has the file that has the same set look after what the object has left: who
// runs the file cleans up what it does not want. Where that is the process itself it does
// not take the word of a status for anything: what the file wants is noted by it anyway,
// and the rest stays.
func (o *Operator) handOver(ctx context.Context, set *object, store *inventory.Object) error {
	left, err := store.Load(ctx)
	if err != nil {
		return fmt.Errorf("handing a set over to its file: %w", err)
	}
	o.mu.Lock()
	owner := owners(o.rules)[set.Key]
	o.mu.Unlock()
	if owner == (types.NamespacedName{}) {
		o.options.Log.Warn("what a set has left stays, its file acts as dyncontroller itself", "set", set.String(), "left", len(left.All()))
		_, err = store.Update(ctx, func(inventory.Book) inventory.Book { return inventory.Book{} })
		return err
	}
	if _, err = o.files.Update(ctx, func(b inventory.Book) inventory.Book { return left.And(b) }); err != nil {
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

// lookedAfter reports whether there is somebody, or may be, who cleans up after a set.
// Nobody is asked for it.
func (o *Operator) lookedAfter(set *object) bool {
	if set.taken || len(set.accounts()) == 0 {
		return false
	}
	o.mu.Lock()
	tenants := o.tenantsOf(set)
	o.mu.Unlock()
	if len(tenants) < len(set.accounts()) {
		return true // They are yet to come.
	}
	return slices.ContainsFunc(tenants, func(t *tenant) bool {
		return t.account.Namespace != set.Namespace || !errors.Is(t.known().Account, access.ErrNoAccount)
	})
}

// going reports whether a namespace is being deleted. Where the ServiceAccounts of a set
// are gone already nobody will ever clean up then, and the namespace would wait for it.
func (o *Operator) going(ctx context.Context, namespace string) (bool, error) {
	found, err := o.client.Resource(namespaces).Get(ctx, namespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("asking whether the namespace is being deleted: %w", err)
	default:
		return found.GetDeletionTimestamp() != nil, nil
	}
}

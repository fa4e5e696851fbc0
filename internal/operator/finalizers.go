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
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// The pause before a request that failed is sent again doubles with each failure.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// attempt is the last attempt to remove the finalizer of a set.
type attempt struct {
	set     *object       // as it was
	pause   time.Duration // after it
	next    time.Time     // when the next is due
	failure string        // that was logged last, empty for none
}

// removeFinalizers removes our finalizer from sets that are being deleted and that no tenant
// cleans up after: those that have left nothing, and those of which nobody can clean up any
// more. It goes on until the context is done.
func (l *leftovers) removeFinalizers(ctx context.Context) {
	var attempts map[source.Key]*attempt
	for {
		var next time.Time
		var retry <-chan time.Time
		if attempts, next = l.removeDue(ctx, attempts); !next.IsZero() {
			retry = l.options.Clock.After(next.Sub(l.options.Clock.Now()))
		}
		select {
		case <-l.deletions: // Something has changed, maybe of other sets.
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// removeDue removes the finalizers of the sets that are due: of one that has changed at once.
// It returns the attempts of sets that no tenant cleans up after, and when the next is due, zero for never.
func (l *leftovers) removeDue(ctx context.Context, before map[source.Key]*attempt) (after map[source.Key]*attempt, next time.Time) {
	after = map[source.Key]*attempt{}
	for _, set := range l.deleting() {
		if l.cleanedByTenant(set) {
			continue
		}
		last := before[set.Key]
		switch {
		case last == nil || last.set.UID != set.UID:
			last = &attempt{set: set}
		case last.set.ResourceVersion != set.ResourceVersion || last.set.taken != set.taken:
			last = &attempt{set: set, failure: last.failure}
		}
		after[set.Key] = last
		if !l.options.Clock.Now().Before(last.next) {
			err := l.removeFinalizer(ctx, set)
			if ctx.Err() != nil {
				return after, time.Time{}
			}
			last.pause = min(max(2*last.pause, firstRetry), lastRetry)
			last.next = l.options.Clock.Now().Add(last.pause)
			if err != nil && err.Error() != last.failure {
				l.options.Log.Warn("cannot let go of a set", "set", set.String(), "err", err)
			}
			last.failure = text(err)
		}
		if next.IsZero() || last.next.Before(next) {
			next = last.next
		}
	}
	return after, next
}

// cleanedByTenant reports whether a tenant cleans up after a set, or may do so yet.
func (l *leftovers) cleanedByTenant(set *object) bool {
	if set.taken || len(set.accounts()) == 0 {
		return false
	}
	l.mu.Lock()
	tenants := l.tenantsOf(set)
	l.mu.Unlock()
	return len(tenants) < len(set.accounts()) || slices.ContainsFunc(tenants, func(t *tenant) bool {
		return t.account.Namespace != set.Namespace || !errors.Is(t.known().Account, access.ErrNoAccount)
	})
}

// removeFinalizer removes our finalizer from a set that no tenant cleans up after, if nothing is left
// to be done. Where its ServiceAccounts are gone, nobody will ever clean up once its namespace is being
// deleted, which would wait for it.
func (l *leftovers) removeFinalizer(ctx context.Context, set *object) error {
	store := l.of(set)
	if set.taken {
		return l.handOver(ctx, set, store)
	}
	if len(set.accounts()) == 0 {
		_, err := inventory.Update(ctx, store, func(b inventory.Book) inventory.Book { return b })
		return err
	}
	namespace, err := l.client.Resource(apischema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, set.Namespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && namespace.GetDeletionTimestamp() == nil:
		return nil
	case err != nil:
		return fmt.Errorf("asking whether the namespace is being deleted: %w", err)
	}
	left, err := inventory.Load(ctx, store)
	if err != nil {
		return fmt.Errorf("giving a set up: %w", err)
	}
	// The process itself takes the finalizers of the set off its objects, as far as it may: the namespace would wait for them.
	holds := slices.DeleteFunc(left.All(), func(one plan.Leftover) bool { return one.Kind != plan.LeftFinalizer })
	l.mu.Lock()
	own := l.tenants[types.NamespacedName{}] // It is there as soon as there are sets.
	l.mu.Unlock()
	_, held := own.sweep(ctx, holds, func(w cleanup.Writer) cleanup.Writer { return w })
	if held != nil {
		held = fmt.Errorf("taking finalizers off, which nobody else can any more: %w", held)
	}
	if held != nil && (!apierrors.IsForbidden(held) || errors.Is(held, errSensitive)) {
		return held
	}
	if _, err := inventory.Update(ctx, store, func(inventory.Book) inventory.Book { return inventory.Book{} }); err != nil {
		return fmt.Errorf("giving a set up: %w", err)
	}
	if held != nil {
		l.options.Log.Warn("finalizers of a set that is given up stay", "set", set.String(), "err", held)
	}
	l.options.Log.Warn("a set is given up with its namespace, without its ServiceAccount nothing can be cleaned up",
		"set", set.String(), "left", len(set.Status.Inventory))
	return nil
}

// handOver moves what a set object has left to the inventory of the file that has the same set: who
// runs the file cleans up what it does not want. Where that is the process itself it does
// not take the word of a status for anything: what the file wants is noted by it anyway,
// and the rest stays.
func (l *leftovers) handOver(ctx context.Context, set *object, store *inventory.Object) error {
	left, err := inventory.Load(ctx, store)
	if err != nil {
		return fmt.Errorf("handing a set over to its file: %w", err)
	}
	l.mu.Lock()
	owner := owners(l.rules)[set.Key]
	l.mu.Unlock()
	if owner == (types.NamespacedName{}) {
		l.options.Log.Warn("what a set has left stays, its file acts as dyncontroller itself", "set", set.String(), "left", len(left.All()))
		_, err = inventory.Update(ctx, store, func(inventory.Book) inventory.Book { return inventory.Book{} })
		return err
	}
	if _, err = inventory.Update(ctx, l.files, func(b inventory.Book) inventory.Book { return left.And(b) }); err != nil {
		return fmt.Errorf("handing a set over to its file: %w", err)
	}
	_, err = inventory.Update(ctx, store, func(b inventory.Book) inventory.Book { return b.Without(left.All()...) })
	return err
}

package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// ErrUnreviewed is why caches are not filled yet: it is being asked what an account may
// do. Where that cannot be asked, it is wrapped together with the cause.
var ErrUnreviewed = errors.New("it is not known yet what the ServiceAccount may do")

// tenant runs the rules of one identity.
type tenant struct {
	account   types.NamespacedName // empty for the process's own
	engine    *engine.Engine
	informers *informer.Set
	reviewer  access.Asker
	access    *access.Watcher
	gate      *gate
	tally     *setstatus.Tally
	book      *book
	writes    *writes
	log       *slog.Logger
	changed   func() // has the statuses of its sets composed again
	// sweep cleans up as the tenant.
	sweep func(context.Context, []plan.Leftover) ([]plan.Leftover, error)

	given  *given        // nil for nothing yet; guarded by the lock of the operator
	asked  []plan.Rule   // to resume; nil for not yet; guarded by the lock of the operator
	gone   chan struct{} // closed when nobody needs it any more
	worked atomic.Bool   // the engine runs, or will not any more
	// revised is the revision at which what its sets tell of it last changed.
	revised atomic.Uint64

	mu       sync.Mutex
	set      *rules.Set               // in effect; guarded by mu
	needs    []rules.Need             // of set; guarded by mu
	verdict  access.Verdict           // what the engine goes by; guarded by mu
	large    map[informer.Key]error   // caches that took too much; guarded by mu
	reviewed map[plan.Permission]bool // what was asked for, and is missing or not; guarded by mu
	seen     observation              // guarded by mu
	ended    bool                     // the engine has run; guarded by mu
}

// work runs the engine until the context is done. It is run once: somebody who comes
// later does not wait for it.
func (t *tenant) work(ctx context.Context) {
	if !t.worked.CompareAndSwap(false, true) {
		return
	}
	t.access.Lead()
	t.engine.Run(ctx)
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.informers.Stop() // What a new verdict may have started meanwhile.
}

// concluded is told what could not be done. Who is refused a request may have lost the
// right to make it.
func (t *tenant) concluded(key engine.Key, failures []engine.Failure) {
	t.tally.Concluded(key, failures)
	refused := func(f engine.Failure) bool { return apierrors.IsForbidden(f.Err) }
	if slices.ContainsFunc(failures, refused) {
		t.access.Look()
	}
}

// close stops what an engine holds that has never run.
func (t *tenant) close() {
	//nolint:forbidigo // It is over before it begins.
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	t.work(ended)
}

// setRules puts rules into effect. What they need is asked for at once.
func (t *tenant) setRules(set *rules.Set) error {
	needs := set.Needs()
	if err := t.swap(set, needs); err != nil {
		return fmt.Errorf("running rules as %s: %w", accountName(t.account), err)
	}
	t.changed()
	t.access.Need(permissionsOf(needs))
	return nil
}

func permissionsOf(needs []rules.Need) []plan.Permission {
	out := make([]plan.Permission, len(needs))
	for i, need := range needs {
		out[i] = need.Permission
	}
	return out
}

// swap has the engine go over to other rules, or stay with those from before.
func (t *tenant) swap(set *rules.Set, needs []rules.Need) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil // There is nobody left to carry them out.
	}
	before := t.set
	t.set, t.large = set, nil
	t.tally.Follow(set.IDs())
	err := t.engine.Deny(t.denied())
	if err == nil {
		err = t.engine.SetRules(set)
	}
	if err != nil {
		t.set = before
		return err
	}
	t.needs = needs
	return nil
}

// judge takes what the account may do now.
func (t *tenant) judge(verdict access.Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, shut := t.verdict, t.gate.err() != nil
	t.verdict = verdict
	t.say(before)
	if t.account != (types.NamespacedName{}) {
		t.gate.set(shutBy(verdict))
	}
	if !t.ended {
		t.obey(before, shut)
	}
	t.changed()
}

// largeAgain is after how long a cache is tried again that took too much.
const largeAgain = 10 * time.Minute

// exceeded has the engine do without a cache for a while, because the caches of the account take too much.
func (t *tenant) exceeded(limit int64, clock clock.Clock) func(informer.Key) {
	set := func(key informer.Key, why error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.large = maps.Clone(t.large); t.large == nil {
			t.large = map[informer.Key]error{}
		}
		delete(t.large, key)
		if why != nil {
			t.large[key] = why
		}
		if !t.ended {
			t.apply(t.denied())
		}
		t.changed()
	}
	return func(key informer.Key) {
		why := fmt.Errorf("%w: those of %s take more than %s; select less, or raise --account-cache-limit",
			informer.ErrTooLarge, accountName(t.account), resource.NewQuantity(limit, resource.BinarySI))
		t.log.Warn("a cache is dropped", "gvr", plan.ResourceName(key.GVR), "informer", key.String(), "err", why)
		set(key, why)
		select {
		case <-clock.After(largeAgain):
			set(key, nil)
		case <-t.gone:
		}
	}
}

// obey has the engine go by a new verdict. The lock is held.
func (t *tenant) obey(before access.Verdict, shut bool) {
	if t.verdict.Recreated {
		// What was read belongs to another account of the same name.
		t.apply(t.refused(ErrUnreviewed))
	}
	t.apply(t.denied())
	if t.set != nil && t.regained(before, shut) {
		// What was refused is tried again at once.
		if err := t.engine.SetRules(t.set); err != nil {
			t.log.Error("rules that may act again do not", "err", err)
		}
	}
}

// Review implements [access.Asker]. It notes what the account lacks of what it was asked
// for, as a watcher is not told of an answer that is the same as before: until then it
// is not known of rules that are new.
func (t *tenant) Review(ctx context.Context, permissions []plan.Permission) (access.Finding, error) {
	found, err := t.reviewer.Review(ctx, permissions)
	if err != nil {
		return found, err //nolint:wrapcheck // It says what was asked.
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	reviewed := make(map[plan.Permission]bool, len(permissions))
	for _, permission := range permissions {
		reviewed[permission] = slices.Contains(found.Missing, permission)
	}
	if !maps.Equal(t.reviewed, reviewed) {
		t.reviewed = reviewed
		t.changed()
	}
	return found, nil
}

// known is what is known of the account.
func (t *tenant) known() access.Verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.verdict
}

// shutBy is why nothing may be sent as the account.
func shutBy(verdict access.Verdict) error {
	switch {
	case verdict.Account != nil:
		return verdict.Account
	case !verdict.Known && verdict.Unknown != nil:
		return fmt.Errorf("%w: %w", ErrUnreviewed, verdict.Unknown)
	case !verdict.Known:
		return ErrUnreviewed
	default:
		return nil
	}
}

// regained reports whether the account may do something again that it could not, as
// when the gate was shut.
func (t *tenant) regained(before access.Verdict, shut bool) bool {
	if t.gate.err() != nil {
		return false
	}
	lost := func(p plan.Permission) bool { return !slices.Contains(t.verdict.Missing, p) }
	return shut || slices.ContainsFunc(before.Missing, lost)
}

// apply has the engine do without caches, where nobody else can be told of an error.
func (t *tenant) apply(denied map[informer.Key]error) {
	if err := t.engine.Deny(denied); err != nil {
		t.log.Error("caches could not be changed", "err", err)
	}
}

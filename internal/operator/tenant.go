package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// errUnreviewed shuts a gate until it is known what an account may do.
var errUnreviewed = errors.New("it is not known yet what the ServiceAccount may do")

// tenant runs the rules of one identity.
type tenant struct {
	account   types.NamespacedName // empty for the process's own
	engine    *engine.Engine
	informers *informer.Set
	reviewer  *access.Reviewer
	access    *access.Watcher
	gate      *gate
	tally     *setstatus.Tally
	book      *book
	log       *slog.Logger
	judged    func() // tells that there is a new verdict

	gone   chan struct{} // closed when nobody needs it any more
	worked sync.Once     // the engine has run, or will not

	mu      sync.Mutex
	set     *rules.Set     // in effect; guarded by mu
	needs   []rules.Need   // of set; guarded by mu
	verdict access.Verdict // guarded by mu
}

// work runs the engine until the context is done.
func (t *tenant) work(ctx context.Context) {
	t.worked.Do(func() { t.engine.Run(ctx) })
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
	before := t.set
	t.set = set
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
	before := t.verdict
	t.verdict = verdict
	t.say(before)
	if t.account != (types.NamespacedName{}) {
		t.gate.set(shutBy(verdict))
	}
	if verdict.Recreated {
		// What was read belongs to another account of the same name.
		t.apply(t.refused(errUnreviewed))
	}
	t.apply(t.denied())
	if t.regained(before) && t.set != nil {
		// What was refused is tried again at once.
		if err := t.engine.SetRules(t.set); err != nil {
			t.log.Error("rules that may act again do not", "err", err)
		}
	}
	t.judged()
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
	case !verdict.Known:
		return errUnreviewed
	default:
		return nil
	}
}

// regained reports whether the account may do something again that it could not.
func (t *tenant) regained(before access.Verdict) bool {
	if before.Account != nil && t.verdict.Account == nil {
		return true
	}
	lost := func(p plan.Permission) bool { return !slices.Contains(t.verdict.Missing, p) }
	return t.verdict.Account == nil && slices.ContainsFunc(before.Missing, lost)
}

// apply has the engine do without caches, where nobody else can be told of an error.
func (t *tenant) apply(denied map[informer.Key]error) {
	if err := t.engine.Deny(denied); err != nil {
		t.log.Error("caches could not be changed", "err", err)
	}
}

// denied are the caches of the rules that may not be had, and why.
func (t *tenant) denied() map[informer.Key]error {
	if err := t.gate.err(); err != nil {
		return t.refused(err)
	}
	out := map[informer.Key]error{}
	for _, key := range t.caches() {
		for _, missing := range t.verdict.Missing {
			if reads(missing, key) {
				out[key] = fmt.Errorf("%s may not %s", accountName(t.account), missing)
				break
			}
		}
	}
	return out
}

// refused denies all caches.
func (t *tenant) refused(err error) map[informer.Key]error {
	out := map[informer.Key]error{}
	for _, key := range t.caches() {
		out[key] = err
	}
	return out
}

// caches are those that the rules want.
func (t *tenant) caches() []informer.Key {
	if t.set == nil {
		return nil
	}
	all := map[informer.Key]bool{}
	for _, selection := range slices.Concat(t.set.Selections(), t.set.Related()) {
		all[informer.Key(selection)] = true
	}
	return slices.Collect(maps.Keys(all))
}

// reads reports whether a cache cannot be filled, or kept, without a permission.
func reads(p plan.Permission, key informer.Key) bool {
	return (p.Verb == "list" || p.Verb == "watch") && p.Subresource == "" &&
		p.Resource == key.GVR.GroupResource() && p.Namespace == key.Namespace &&
		(p.Name == "" || key.FieldSelector == "metadata.name="+p.Name)
}

// say logs what has become of the rights, where that is news.
func (t *tenant) say(before access.Verdict) {
	now := t.verdict
	switch {
	case text(now.Account) != text(before.Account):
		if now.Account != nil {
			t.log.Warn("rules rest: they cannot act as their ServiceAccount", "err", now.Account)
		} else {
			t.log.Info("rules can act as their ServiceAccount again")
		}
	case !slices.Equal(now.Missing, before.Missing):
		if len(now.Missing) > 0 {
			t.log.Warn("permissions are missing", "permissions", now.Missing)
		} else {
			t.log.Info("no permission is missing any more")
		}
	case text(now.Unknown) != text(before.Unknown) && now.Unknown != nil:
		t.log.Warn("cannot ask what rules may do", "err", now.Unknown)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// accountName names an identity in messages.
func accountName(account types.NamespacedName) string {
	if account == (types.NamespacedName{}) {
		return "dyncontroller itself"
	}
	return "ServiceAccount " + account.String()
}

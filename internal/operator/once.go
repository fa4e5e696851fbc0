package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// leastCacheSync is how long an identity waits for first lists after those of another one have taken all the time.
const leastCacheSync = 10 * time.Second

// maxSettles is how often an identity gets to settle because of what another wrote.
const maxSettles = 20

// Settlement is what settling came to for one identity.
type Settlement struct {
	Account types.NamespacedName // empty for the process's own
	engine.Report
	// Refused is why nothing could be done as the account, nil where it could.
	Refused error
	// Secrets says that its rules watch or read Secrets, so that anything may have a copy of one.
	Secrets bool
}

// Take says which rules there are: of files, and of set objects. It returns why set
// objects are refused. It takes the place of SetFiles and Follow for who settles.
func (o *Operator) Take(ctx context.Context, set *rules.Set, objects []source.Object, schemas source.Schemas) []error {
	var known *schema.Catalog
	if len(objects) > 0 {
		known, _ = schemas.Ask(ctx, named(objects))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rules, o.listed = set, true
	o.take(objects, known, false, &turn{})
	var refused []error
	for _, one := range o.inOrder() {
		switch {
		case one.over != nil:
			refused = append(refused, fmt.Errorf("%s: it is refused: %w", one.Key, one.over))
		case one.refused():
			refused = append(refused, &RefusedError{one.Key, one.mistakes.Of(document.Mistake)})
		}
	}
	return refused
}

// RefusedError is why a set object is not in effect.
type RefusedError struct {
	Set      source.Key
	Mistakes document.Errors
}

// Error names the set and where in it the mistakes are.
func (e *RefusedError) Error() string {
	lines := []string{e.Set.String() + ": it is refused"}
	for _, mistake := range e.Mistakes {
		lines = append(lines, setstatus.WithoutFile(mistake).Error())
	}
	return strings.Join(lines, "\n  ")
}

// Settle lets all rules act until nothing is left that can be done now, one identity
// after the other, and again where another has written since. It takes the place of Run
// and Lead, and is called once.
func (o *Operator) Settle(ctx context.Context) ([]Settlement, error) {
	if o.options.holdsFiles() {
		_ = o.leftovers.adopt(ctx) // The housekeeping says what is wrong.
	}
	o.notifier.open()
	defer o.notifier.queue.ShutDown()
	o.mu.Lock()
	all := o.joined()
	accounts := o.accounts(all)
	o.mu.Unlock()
	if o.options.Changed != nil {
		o.options.Changed(all)
	}
	out := make([]Settlement, len(accounts))
	settled := make([]int, len(accounts)) // when, in writes of all
	total := 0
	for round := range maxSettles {
		quiet := true
		for i, account := range accounts {
			if round > 0 && settled[i] == total {
				continue
			}
			now, err := o.settle(ctx, account, all)
			total += now.Written
			quiet = quiet && now.Written == 0
			now.Written += out[i].Written
			out[i], settled[i] = now, total
			if timeout := &o.options.Settings.CacheSyncTimeout; now.TimedOut {
				*timeout = min(*timeout, leastCacheSync)
			}
			if err != nil {
				return out, err
			}
		}
		if quiet || len(accounts) == 1 {
			break
		}
	}
	return out, nil
}

// settle lets those of all rules act that run as an account. It runs an engine of its own each time: one settles once.
func (o *Operator) settle(ctx context.Context, account types.NamespacedName, all *rules.Set) (Settlement, error) {
	set := all.Of(account)
	out := Settlement{Account: account, Secrets: slices.ContainsFunc(slices.Concat(set.Selections(), set.Related()), func(s plan.Selection) bool {
		return plan.Object{GVR: s.GVR}.IsSecret()
	})}
	t, err := o.newTenant(account)
	if err != nil {
		return out, err
	}
	runs := map[plan.Rule]*engine.Engine{}
	for key, owner := range owners(all) {
		if runs[ruleOf(key)] = nil; owner == account {
			runs[ruleOf(key)] = t.engine
		}
	}
	o.shared.Assign(runs)
	if err := t.admit(ctx, set); err != nil {
		out.Refused = fmt.Errorf("acting as %s: %w", accountName(account), err)
		t.close()
		return out, nil
	}
	out.Report, err = t.engine.Settle(ctx, set)
	for o.notifier.queue.Len() > 0 {
		one, _ := o.notifier.queue.Get()
		o.notifier.tell(ctx, one)
	}
	return out, err
}

// admit asks once what the account may do. That the process's own rights cannot be
// asked for does not matter: the API server refuses what it may not do.
func (t *tenant) admit(ctx context.Context, set *rules.Set) error {
	t.set, t.needs, t.given = set, set.Needs(), &given{rules: set.Rules()} // Nobody else has the tenant.
	for key := range owners(set) {
		t.writes.open(key)
	}
	found, err := t.reviewer.Review(ctx, permissionsOf(t.needs))
	switch {
	case err == nil:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.enter(access.Verdict{Finding: found, Known: true})
		t.engine.Deny(t.denied()) // The caches must not run before the engine settles, which waits to be told that they are complete.
		return found.Account
	case t.account == (types.NamespacedName{}):
		return nil
	default:
		return err
	}
}

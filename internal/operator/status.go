package operator

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// updates lists the set objects, with what their statuses are to say.
func (c *core) updates() []setstatus.Update {
	c.observe()
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []setstatus.Update
	for _, set := range c.inOrder() {
		if set.Deleting && !set.Finalizer {
			continue // It is about to go.
		}
		tenants, moving, revision := c.tenantsOf(set), c.handovers[set.Key] != nil, set.revision
		for _, t := range tenants {
			revision = max(revision, t.revised.Load(), t.tally.Changed(ruleOf(set.Key)))
		}
		out = append(out, setstatus.Update{
			Set: ruleOf(set.Key), UID: set.UID, ResourceVersion: set.ResourceVersion, Revision: revision, Status: set.Status,
			Compose: func(previous v1alpha1.Status) v1alpha1.Status { return c.compose(set, tenants, moving, previous) },
		})
	}
	return out
}

// observe looks how the caches and the engines of all tenants are doing.
func (c *core) observe() {
	tenants, _ := c.present()
	for _, t := range tenants {
		if t.observe() {
			t.revised.Store(c.revision())
		}
	}
}

// observation is how the caches and the engine of a tenant are doing.
type observation struct {
	caches                 []informer.Status
	paused                 []limit.Pause
	quarantined, contested map[plan.Rule]int
}

// observe looks how the caches and the engine are doing, and reports whether that is
// something else than before.
func (t *tenant) observe() (changed bool) {
	now := observation{t.informers.Status(), t.engine.Paused(), breaker.Counts(t.engine.Quarantined()), map[plan.Rule]int{}}
	for _, contest := range t.engine.Contests() {
		now.contested[contest.Rule]++
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	same := func(a, b informer.Status) bool {
		return a.Key == b.Key && a.Synced == b.Synced && text(a.Err) == text(b.Err)
	}
	changed = !slices.EqualFunc(t.seen.caches, now.caches, same) || !slices.Equal(t.seen.paused, now.paused) ||
		!maps.Equal(t.seen.quarantined, now.quarantined) || !maps.Equal(t.seen.contested, now.contested)
	t.seen = now
	return changed
}

// compose says how a set is doing.
func (c *core) compose(set *object, tenants []*tenant, moving bool, previous v1alpha1.Status) v1alpha1.Status {
	in := setstatus.Input{
		Generation: set.Generation, Previous: previous, Now: c.options.Clock.Now(),
		LastGood: set.refused() && set.effective() != nil, Deleting: set.Deleting, Moving: moving,
		Warnings: len(set.mistakes.Of(document.Warning)),
	}
	in.Mistakes, in.NotAllowed = sensitive(set.mistakes)
	if in.OverLimit = set.over; in.OverLimit != nil && in.LastGood {
		in.OverLimit = fmt.Errorf("%w; the version before stays in effect", in.OverLimit)
	}
	// Rules that nobody could be found to run are not in effect.
	in.Unreviewed = len(tenants) < len(set.accounts())
	for _, t := range tenants { // Several only clean up, and each may be what keeps it.
		in.Account = t.account
		unkept, uncleaned := t.book.troubles(set.Key)
		in.NotRecorded = errors.Join(in.NotRecorded, unkept)
		in.NotCleaned = errors.Join(in.NotCleaned, uncleaned)
		in.Kept = errors.Join(in.Kept, t.book.keeps(set.Key))
		t.fill(&in, set.effective())
	}
	return setstatus.Compose(in)
}

// sensitive tells what an administrator may allow from what is wrong. Where there are
// both, all of it is to be corrected.
func sensitive(all document.Errors) (mistakes document.Errors, notAllowed error) {
	var texts []error
	for _, mistake := range all.Of(document.Mistake) {
		if mistake.Code != document.CodeSensitive {
			return all, nil
		}
		texts = append(texts, setstatus.WithoutFile(mistake))
	}
	return nil, errors.Join(texts...)
}

// fill adds what the tenant knows of a set, of which it runs the rules, or cleans up
// after where there are none.
func (t *tenant) fill(in *setstatus.Input, set *rules.Set) {
	t.mu.Lock()
	defer t.mu.Unlock()
	in.NoAccount = cmp.Or(in.NoAccount, t.verdict.Account)
	in.Unreviewed = in.Unreviewed || t.gate.err() != nil && t.verdict.Account == nil
	if set == nil {
		return
	}
	ids, missing, reviewed := set.IDs(), sets.New(t.lacks(t.verdict.Missing)...), sets.New(t.verdict.Reviewed...)
	for _, need := range t.needs {
		if missing.Has(need.Permission) {
			in.Missing = append(in.Missing, need)
		}
		ours := func(rule plan.Rule) bool { return slices.Contains(ids, rule) }
		in.Unreviewed = in.Unreviewed || !reviewed.Has(need.Permission) && slices.ContainsFunc(need.Rules, ours)
	}
	unserved := unservedBy(set)
	in.Unserved = append(in.Unserved, set.Unserved()...)
	for _, pause := range t.seen.paused {
		if slices.Contains(ids, pause.Rule) {
			in.Paused = append(in.Paused, pause)
		}
	}
	if t.gate.err() == nil {
		in.OverLimit = errors.Join(in.OverLimit, t.many.of(set, t.account))
		selections := sets.New(slices.Concat(set.Selections(), set.Related())...)
		for _, status := range t.seen.caches { // Those that are denied because of what is told already are not told of.
			denied := func(p plan.Permission) bool { return reads(p, status.Key) }
			if selections.Has(status.Key) && unserved[status.Key.GVR] == nil && !t.many.refused[status.Key] && !slices.ContainsFunc(t.verdict.Missing, denied) {
				in.Caches = append(in.Caches, status)
			}
		}
	}
	for _, rule := range set.Rules() {
		id, standing := rule.ID, ""
		switch {
		case rule.Suspended():
			standing = setstatus.Suspended
		case rule.Audited():
			standing = setstatus.Audit
		}
		in.Rules = append(in.Rules, setstatus.Rule{
			ID: id, Standing: standing, Counts: t.tally.Counts(id),
			Quarantined: int64(t.seen.quarantined[id]), Contested: int64(t.seen.contested[id]),
		})
	}
}

// maxAccounts is for how many identities a set that is being deleted is cleaned up at a
// time: each takes an engine. Those that are done make room for others.
const maxAccounts = 8

// accounts are who runs the rules of a set, or cleans up after them.
func (s *object) accounts() []types.NamespacedName {
	if set := s.effective(); set != nil {
		return set.Identities()
	}
	var out []types.NamespacedName
	for _, left := range s.Status.Inventory {
		account := types.NamespacedName{Namespace: left.ServiceAccountNamespace, Name: left.ServiceAccount}
		if s.Deleting && !s.taken && left.Within(s.Namespace) && !slices.Contains(out, account) && len(out) < maxAccounts {
			out = append(out, account)
		}
	}
	return out
}

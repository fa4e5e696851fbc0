package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// ErrUnreviewed is why caches are not filled yet: it is being asked what an account may
// do. Where that cannot be asked, it is wrapped together with the cause.
var ErrUnreviewed = errors.New("it is not known yet what the ServiceAccount may do")

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
	writes    *writes
	log       *slog.Logger
	changed   func() // has the statuses of its sets composed again
	// fit finds out which caches are too many, with the lock of the operator.
	fit func(now, before *rules.Set) crowd
	// sweep cleans up as the tenant.
	sweep sweep

	given  *given        // nil for nothing yet; guarded by the lock of the operator
	gone   chan struct{} // closed when nobody needs it any more
	worked atomic.Bool   // the engine runs, or will not any more
	// revised is the revision at which what its sets tell of it last changed.
	revised atomic.Uint64

	mu      sync.Mutex
	set     *rules.Set             // in effect; guarded by mu
	needs   []rules.Need           // of set; guarded by mu
	verdict access.Verdict         // what the engine goes by; guarded by mu
	lacked  []plan.Permission      // that were last told of; guarded by mu
	large   map[informer.Key]error // caches that took too much; guarded by mu
	many    crowd                  // caches that are too many; guarded by mu
	seen    observation            // guarded by mu
	ended   bool                   // the engine has run; guarded by mu
}

// given is what a tenant was told to do last.
type given struct {
	rules    []*rules.Rule
	concerns string
}

// lookPatience is how many seconds a look for what is left waits until it is known what the account may do.
const lookPatience = 10

// newTenant makes an engine of an identity, without rules.
func (o *Operator) newTenant(account types.NamespacedName) (*tenant, error) {
	t := &tenant{
		account: account, gate: newGate(nil), gone: make(chan struct{}), large: map[informer.Key]error{},
		tally: setstatus.NewTally(o.options.Clock, o.revision), log: o.options.Log, fit: o.fit,
	}
	t.changed = func() {
		t.revised.Store(o.revision())
		o.changed()
	}
	t.changed()
	t.book = &book{changed: t.changed, stored: map[source.Key]stored{}, unkept: map[source.Key]error{}, unswept: map[source.Key]error{}, kept: map[source.Key]error{}}
	t.book.Part = inventory.Join(func() inventory.Parts { return o.leftovers.parts(t) })
	if account != (types.NamespacedName{}) {
		t.gate.set(ErrUnreviewed)
		t.log = t.log.With("account", account.String())
	}
	options, err := o.engineOptions(t)
	if err != nil {
		return nil, fmt.Errorf("preparing to act as %s: %w", accountName(account), err)
	}
	if t.reviewer, err = access.NewReviewer(o.options.Cluster.Config, account); err != nil {
		return nil, fmt.Errorf("preparing to ask what %s may do: %w", accountName(account), err)
	}
	t.access = access.NewWatcher(t.reviewer, o.pace, o.options.Access, o.options.Clock, t.judge)
	t.engine = engine.New(options)
	return t, nil
}

// sweep cleans up by a writer that is wrapped.
type sweep func(ctx context.Context, leftovers []plan.Leftover, wrap func(cleanup.Writer) cleanup.Writer) ([]plan.Leftover, error)

// newSweep returns what cleans up as a tenant.
func newSweep(o *Operator, t *tenant, options cleanup.Options) sweep {
	return func(ctx context.Context, leftovers []plan.Leftover, wrap func(cleanup.Writer) cleanup.Writer) ([]plan.Leftover, error) {
		sweeping := options
		sweeping.Writer, sweeping.Confirm = wrap(options.Writer), o.leftovers.confirmer(t)
		done, err := t.book.sweep(ctx, sweeping, leftovers)
		if apierrors.IsForbidden(err) {
			t.access.Look() // The account may have lost the right, or be gone.
		}
		return done, err
	}
}

// engineOptions are what the engine of a tenant works with. It cleans up as the tenant what rules
// may write, and keeps its books as the process.
func (o *Operator) engineOptions(t *tenant) (engine.Options, error) {
	as := access.Impersonate(o.options.Cluster.Config, t.account)
	as.Wrap(t.gate.wrap)
	as.DisableCompression = true          // As in Kubernetes' own controllers: to inflate an event costs as much as to decode it.
	watching := client.WithoutRetries(as) // A reflector retries, and must tell at once why it cannot list.
	transport, err := client.HTTP(watching)
	if err != nil {
		return engine.Options{}, fmt.Errorf("preparing to watch: %w", err)
	}
	whole, err := client.NewDynamic(watching, transport, nil)
	if err != nil {
		return engine.Options{}, fmt.Errorf("making a client to watch with: %w", err)
	}
	reader, err := live.NewReader(as)
	if err != nil {
		return engine.Options{}, err
	}
	notifier := o.notifier
	if o.dryRun != nil {
		notifier = nil
	}
	options := engine.Options{
		Caches: func(handler informer.Handler) engine.Caches {
			shared := informer.Options{Shared: o.caches, Client: func(fields *projection.Fields) dynamic.Interface {
				if decoding, err := client.NewDynamic(watching, transport, fields); err == nil {
					return decoding
				}
				return whole // The caches leave out what they do not keep.
			}}
			if t.account != (types.NamespacedName{}) {
				shared.Limit, shared.Exceeded = o.options.Settings.AccountCache, func(key informer.Key) { t.exceeded(key, o.options.Settings.AccountCache, o.options.Clock) }
			}
			t.informers = informer.NewSet(whole, telling{handler, o.changed}, t.log, shared)
			if o.dryRun != nil {
				return o.dryRun.Caches(t.informers, handler)
			}
			return t.informers
		},
		Live: reader, Observer: observer{t.tally, t, notifier, o.options.Observers},
		Log: t.log, Clock: o.options.Clock, Pace: engine.Pace{Elected: o.options.Fence != nil, Shared: o.shared, Workers: o.options.Settings.Workers, CacheSyncTimeout: o.options.Settings.CacheSyncTimeout},
		Detail: engine.Detail{Explain: o.options.Explain},
	}
	options.Limiter, _ = as.RateLimiter.(*client.Limiter)
	as = o.options.Fence.Guard(as)
	client, err := write.NewClient(as)
	if err != nil {
		return engine.Options{}, err
	}
	switch o.options.Settings.DryRun {
	case config.DryRunClient:
		options.Writer, options.Recorder = write.ClientDryRun{Get: o.dryRun.Live(reader).Get}, write.ClientDryRun{}
	case config.DryRunServer:
		options.Writer, options.Recorder = client.DryRun(), write.ClientDryRun{}
	default:
		options.Writer = client
		if options.Recorder, err = write.NewRecorder(as, o.options.Instance, o.options.Clock); err != nil {
			return engine.Options{}, fmt.Errorf("preparing to write: %w", err)
		}
	}
	if o.options.Writer != nil {
		options.Writer = o.options.Writer(options.Writer, reader)
	}
	shown := options.Live // What a sweep is shown.
	if o.dryRun != nil {
		options.Writer, options.Live, shown = o.dryRun.Writer(options.Writer), o.dryRun.Live(reader), o.dryRun.Reader(reader)
	}
	sweeping := cleanup.Options{
		Reader: permitted{NewCleanupReader(shown, o.options.Cluster.Discovery), o.options.Settings.Sensitive},
		Writer: options.Writer, Observe: o.options.Cleaned,
	}
	t.sweep = newSweep(o, t, sweeping)
	left := func(ctx context.Context, leftovers []plan.Leftover) []plan.Leftover {
		for range lookPatience { // Before its account is known, a tenant can find out nothing.
			if !errors.Is(t.gate.err(), ErrUnreviewed) || ctx.Err() != nil {
				break
			}
			select {
			case <-o.options.Clock.After(time.Second):
			case <-ctx.Done():
			}
		}
		return cleanup.Left(ctx, sweeping.Reader, leftovers)
	}
	options.Housekeeping = engine.Housekeeping{Inventory: t.book, Sweep: t.sweep, Left: left, Prune: o.leftovers.prunes, Kept: t.book.keep}
	t.writes = &writes{Writer: options.Writer, clock: o.options.Clock, sets: map[source.Key]*traffic{}}
	options.Writer = t.writes
	return options, nil
}

// telling also says that the state of a cache is another one.
type telling struct {
	informer.Handler
	tell func()
}

// Synced implements [informer.Handler].
func (t telling) Synced(key informer.Key) {
	t.Handler.Synced(key)
	t.tell()
}

// Troubled implements [informer.Handler].
func (t telling) Troubled(key informer.Key, err error) {
	t.Handler.Troubled(key, err)
	t.tell()
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

// close stops what an engine holds that has never run.
func (t *tenant) close() {
	//nolint:forbidigo // It is over before it begins.
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	t.work(ended)
}

// take has the tenant do what it is to do now. What its rules need is asked for at once. It is called
// with the lock of the operator.
func (t *tenant) take(set *rules.Set, concerns string) {
	if t.given != nil && slices.Equal(t.given.rules, set.Rules()) && t.given.concerns == concerns {
		return
	}
	t.setRules(set)
	t.changed()
	t.access.Need(permissionsOf(t.needs))
	t.given = &given{set.Rules(), concerns}
}

func permissionsOf(needs []rules.Need) []plan.Permission {
	out := make([]plan.Permission, len(needs))
	for i, need := range needs {
		out[i] = need.Permission
	}
	return out
}

// setRules has the engine go over to other rules.
func (t *tenant) setRules(set *rules.Set) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return // There is nobody left to carry them out.
	}
	t.set, t.large = set, map[informer.Key]error{}
	before := t.many
	if t.account != (types.NamespacedName{}) {
		t.many = t.fit(set, t.engine.Rules())
	}
	if len(t.many.refused) > 0 && t.many.needed != before.needed {
		t.log.Warn("rules wait, as the account has too many caches", "err", t.many.err(t.account))
	}
	t.tally.Follow(set.IDs())
	t.engine.Deny(t.denied())
	t.engine.SetRules(set)
	t.needs = set.Needs()
}

// judge takes what the account may do now.
func (t *tenant) judge(verdict access.Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, shut := t.verdict, t.gate.err() != nil
	t.enter(verdict)
	t.logVerdict(before)
	if !t.ended {
		if verdict.Recreated { // What was read belongs to another account of the same name.
			t.engine.Deny(t.refused(ErrUnreviewed))
		}
		t.engine.Deny(t.denied())
		regained := func(p plan.Permission) bool { return !slices.Contains(verdict.Missing, p) }
		if t.set != nil && t.gate.err() == nil && (shut || slices.ContainsFunc(before.Missing, regained)) {
			// What was refused is tried again at once.
			t.engine.SetRules(t.set)
		}
	}
	t.changed()
}

// enter goes by a verdict: nothing is sent as an account that is not there. The lock is held.
func (t *tenant) enter(verdict access.Verdict) {
	t.verdict = verdict
	if t.account != (types.NamespacedName{}) {
		t.gate.set(shutBy(verdict))
	}
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

// logVerdict logs what has become of the rights, where that is news. The lock is held.
func (t *tenant) logVerdict(before access.Verdict) {
	now, lacked := t.verdict, t.lacked
	t.lacked = t.lacks(now.Missing)
	switch {
	case text(now.Account) != text(before.Account):
		if now.Account != nil {
			t.log.Warn("rules rest: they cannot act as their ServiceAccount", "err", now.Account)
		} else {
			t.log.Info("rules can act as their ServiceAccount again")
		}
	case !slices.Equal(t.lacked, lacked):
		if len(t.lacked) > 0 {
			texts := make([]string, len(t.lacked))
			for i, permission := range t.lacked {
				texts[i] = permission.String()
			}
			t.log.Warn("permissions are missing", "permissions", strings.Join(texts, ", "))
		} else {
			t.log.Info("no permission is missing any more")
		}
	case text(now.Unknown) != text(before.Unknown) && now.Unknown != nil:
		t.log.Warn("cannot ask what rules may do", "err", now.Unknown)
	}
}

// largeAgain is after how long a cache is tried again that took too much.
const largeAgain = 10 * time.Minute

// exceeded has the engine do without a cache for a while, because the caches of the account take more bytes than the limit.
func (t *tenant) exceeded(key informer.Key, limit int64, clock clock.Clock) {
	set := func(why error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if delete(t.large, key); why != nil {
			t.large[key] = why
		}
		if !t.ended {
			t.engine.Deny(t.denied())
		}
		t.changed()
	}
	why := fmt.Errorf("%w: those of %s take more than %s; select less, or raise --account-cache-limit",
		informer.ErrTooLarge, accountName(t.account), resource.NewQuantity(limit, resource.BinarySI))
	t.log.Warn("a cache is dropped", "gvr", plan.ResourceName(key.GVR), "informer", key.String(), "err", why)
	set(why)
	select {
	case <-clock.After(largeAgain):
		set(nil)
	case <-t.gone:
	}
}

// known is what is known of the account.
func (t *tenant) known() access.Verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.verdict
}

// denied are the caches of the rules that may not be had, and why.
func (t *tenant) denied() map[informer.Key]error {
	if err := t.gate.err(); err != nil {
		return t.refused(err)
	}
	out := map[informer.Key]error{}
	maps.Copy(out, t.large)
	for key := range t.many.refused {
		out[key] = t.many.err(t.account)
	}
	unserved := map[apischema.GroupVersionResource]error{}
	if t.set != nil {
		unserved = unservedBy(t.set)
	}
	for _, key := range t.caches() {
		if i := slices.IndexFunc(t.verdict.Missing, func(p plan.Permission) bool { return reads(p, key) }); i >= 0 {
			if out[key] = unserved[key.GVR]; out[key] == nil {
				out[key] = fmt.Errorf("%s may not %s", accountName(t.account), t.verdict.Missing[i])
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

// caches are those that the rules want, and those of the rules that stay in effect until the others have theirs, some of them
// more than once.
func (t *tenant) caches() []informer.Key {
	if t.set == nil {
		return nil
	}
	before := t.engine.Rules()
	return slices.Concat(t.set.Selections(), t.set.Related(), before.Selections(), before.Related())
}

// reads reports whether a cache cannot be filled, or kept, without a permission.
func reads(p plan.Permission, key informer.Key) bool {
	return (p.Verb == "list" || p.Verb == "watch") && p.Subresource == "" &&
		p.Resource == key.GVR.GroupResource() && p.Namespace == key.Namespace &&
		(p.Name == "" || key.FieldSelector == "metadata.name="+p.Name)
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

package operator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// newTenant makes an engine of an identity, without rules.
func (o *Operator) newTenant(account types.NamespacedName) (*tenant, error) {
	t := &tenant{
		account: account, gate: newGate(nil), gone: make(chan struct{}),
		tally: setstatus.NewTally(o.revision), log: o.options.Log,
	}
	t.changed = func() {
		t.revised.Store(o.revision())
		o.changed()
	}
	t.changed()
	t.book = o.newBook(t)
	if account != (types.NamespacedName{}) {
		t.gate.set(ErrUnreviewed)
		t.log = t.log.With("account", account.String())
	}
	as := access.Impersonate(o.options.Cluster.Config, account)
	as.Wrap(t.gate.wrap)
	options, err := o.engineOptions(t, as)
	if err != nil {
		return nil, fmt.Errorf("preparing to act as %s: %w", accountName(account), err)
	}
	if t.reviewer, err = access.NewReviewer(o.options.Cluster.Config, account); err != nil {
		return nil, fmt.Errorf("preparing to ask what %s may do: %w", accountName(account), err)
	}
	t.access = access.NewWatcher(t, &o.pace, o.options.Clock, t.judge)
	t.engine = engine.New(options)
	return t, nil
}

// engineOptions are what an engine works with that acts by a configuration.
func (o *Operator) engineOptions(t *tenant, as *rest.Config) (engine.Options, error) {
	client, err := dynamic.NewForConfig(as)
	if err != nil {
		return engine.Options{}, fmt.Errorf("making a client to watch with: %w", err)
	}
	reader, err := live.NewReader(as)
	if err != nil {
		return engine.Options{}, err
	}
	options := engine.Options{
		Caches: func(handler informer.Handler) engine.Caches {
			t.informers = informer.NewSet(client, telling{handler, o.changed}, t.log).Among(o.peers)
			if limit := o.options.Settings.AccountCache; t.account != (types.NamespacedName{}) {
				t.informers.Within(limit, t.exceeded(limit, o.options.Clock))
			}
			if o.dryRun != nil {
				return o.dryRun.Caches(t.informers, handler)
			}
			return t.informers
		},
		Live:      reader,
		Observer:  append(observers{t.tally}, o.options.Observers...),
		Looked:    t.tally.Looked,
		Concluded: t.concluded,
		Forgot:    t.tally.Forgot,
		Log:       t.log,
		Clock:     o.options.Clock,
		Workers:   o.options.Settings.Workers,
	}
	if err := o.addWriter(&options, o.options.Fence.Guard(as)); err != nil {
		return engine.Options{}, err
	}
	if o.dryRun != nil {
		options.Live = o.dryRun.Live(reader)
	} else { // In a dry run no rule pauses.
		options.Paused = func(pause limit.Pause) {
			o.notices.pause(pause)
			o.statuses.Nudge()
		}
		options.Resumed = func(rule plan.Rule) {
			o.notices.resume(rule)
			o.statuses.Nudge()
		}
	}
	options.Housekeeping = o.housekeeping(t, reader, options.Writer)
	t.writes = newWrites(options.Writer, o.options.Clock.Now)
	options.Writer = t.writes
	return options, nil
}

// addWriter chooses who carries out what the rules want.
func (o *Operator) addWriter(options *engine.Options, as *rest.Config) (err error) {
	switch o.options.Settings.DryRun {
	case config.DryRunClient:
		options.Writer, options.Recorder = write.ClientDryRun{}, write.ClientDryRun{}
	case config.DryRunServer:
		options.Writer, err = write.NewServerDryRun(as)
		options.Recorder = write.ClientDryRun{}
	default:
		options.Writer, err = write.NewClient(as)
		if err == nil {
			options.Recorder, err = write.NewRecorder(as, o.options.Instance, o.options.Clock)
		}
	}
	if err != nil {
		return fmt.Errorf("preparing to write: %w", err)
	}
	if o.dryRun != nil {
		options.Writer = o.dryRun.Writer(options.Writer)
	}
	return nil
}

// housekeeping cleans up as the tenant what rules may write, and keeps its books as the
// process.
func (o *Operator) housekeeping(t *tenant, reader *live.Reader, writer engine.Writer) engine.Housekeeping {
	options := cleanup.Options{
		Reader: permitted{NewAfterlife(reader, o.options.Cluster.Discovery), o.options.Settings.Sensitive},
		Writer: writer, Observe: o.cleaned, Clock: o.options.Clock,
	}
	if o.dryRun != nil {
		options.Reader = o.dryRun.Reader(options.Reader)
	}
	t.sweep = func(ctx context.Context, leftovers []plan.Leftover) ([]plan.Leftover, error) {
		options.Confirm = o.confirmer(t)
		done, err := t.book.sweep(ctx, options, leftovers)
		if apierrors.IsForbidden(err) {
			t.access.Look() // The account may have lost the right, or be gone.
		}
		return done, err
	}
	return engine.Housekeeping{
		Inventory: t.book,
		Sweep:     t.sweep,
		Prune:     o.prunes,
	}
}

// cleaned passes on what was cleaned up.
func (o *Operator) cleaned(r cleanup.Report) {
	if o.options.Cleaned != nil {
		o.options.Cleaned(r)
	}
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

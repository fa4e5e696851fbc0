package operator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	// handoverLook is how often it is looked whether a set that waits can be taken over.
	handoverLook = 50 * time.Millisecond
	// handoverTrails is how long the caches of the next tenant may take to show what the one
	// before has written. A watch is told at least once a minute how far it has come.
	handoverTrails = 90 * time.Second
)

// handover is of a set whose rules go from one tenant to another, as with another
// serviceAccountName. The next tenant would not know what the one before has under way,
// and would do it once more.
type handover struct {
	set    source.Key
	from   *tenant
	to     *tenant        // nil where no tenant runs the set
	caches []informer.Key // that the rules read
	since  time.Time
}

// handedOver returns the rules that can be carried out now. Those of a set that another tenant
// may still write for wait; see [handover.over]. The lock is held.
func (c *core) handedOver(all *rules.Set) *rules.Set {
	before, whose := c.handovers, owners(all)
	c.handovers = map[source.Key]*handover{}
	for set, from := range c.runs {
		account, wanted := whose[set]
		to := c.tenants[account]
		if !wanted {
			to = nil
		}
		if wanted && to == from {
			continue
		}
		move := &handover{set: set, from: from, to: to, since: c.options.Clock.Now()}
		if was := before[set]; was != nil && was.to == to {
			move.since = was.since
		}
		own := all.Only(func(rule *rules.Rule) bool { return keyOf(rule.ID) == set })
		move.caches = slices.Concat(own.Selections(), own.Related())
		if !move.over(c.options.Clock.Now()) {
			c.handovers[set] = move
			continue
		}
		from.writes.forget(set)
		delete(c.runs, set)
	}
	for key, set := range c.objects {
		if (before[key] == nil) != (c.handovers[key] == nil) {
			revised := *set
			revised.revision = c.revision()
			c.objects[key] = &revised
		}
	}
	for set, account := range whose {
		if to := c.tenants[account]; to != nil && c.handovers[set] == nil {
			c.runs[set] = to
			to.writes.open(set)
		}
	}
	c.assignLimits(whose)
	if len(c.handovers) == 0 {
		return all
	}
	return all.Only(func(rule *rules.Rule) bool { return c.handovers[keyOf(rule.ID)] == nil })
}

// assignLimits has the limits of sets follow the tenants that run them. Those of a set that is handed over, or has no tenant, wait. The lock is held.
func (c *core) assignLimits(wanted map[source.Key]types.NamespacedName) {
	runs := map[plan.Rule]*engine.Engine{}
	for set := range wanted {
		runs[ruleOf(set)] = nil // There may be no tenant.
	}
	for set, t := range c.runs {
		if runs[ruleOf(set)] = t.engine; c.handovers[set] != nil {
			runs[ruleOf(set)] = nil
		}
	}
	c.shared.Assign(runs)
}

// over reports whether the tenant before writes nothing for the set any more, and the caches
// of the next one show all that it has written. A request has a deadline, and so has a
// cache: one that trails for longer, or of which it is not known what it has to show, begins
// anew.
func (m *handover) over(now time.Time) bool {
	newest, idle := m.from.writes.closed(m.set, now)
	if m.to == nil || !idle {
		return idle
	}
	var renewed []apischema.GroupVersionResource
	for _, cache := range m.to.informers.Status() {
		version, wrote := newest[cache.Key.GVR.GroupResource()]
		switch {
		case !wrote || cache.Err != nil || !slices.Contains(m.caches, cache.Key):
		case version == "" || now.Sub(m.since) > handoverTrails:
			renewed = append(renewed, cache.Key.GVR)
		case !shows(m.to.informers.Version(cache.Key), version):
			return false
		}
	}
	for _, gvr := range renewed {
		m.to.informers.Renew(gvr)
	}
	return true
}

// shows reports whether a cache that is complete up to a version has another one.
func shows(upTo, version string) bool {
	order, err := resourceversion.CompareResourceVersion(upTo, version)
	return err == nil && order >= 0
}

// finishHandovers puts sets into effect that wait for another tenant, until the context is done.
func (o *Operator) finishHandovers(ctx context.Context) {
	for {
		o.mu.Lock()
		var again <-chan time.Time
		if len(o.handovers) > 0 {
			again = o.options.Clock.After(handoverLook)
		}
		news := o.news
		o.mu.Unlock()
		select {
		case <-news:
		case <-again:
			o.mu.Lock()
			for _, move := range o.handovers {
				if move.over(o.options.Clock.Now()) {
					o.regroupNow()
					break
				}
			}
			o.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// errMoved is why a tenant does not write for a set any more.
var errMoved = errors.New("another ServiceAccount runs the set now")

// writes are those of one tenant, by set. It lets those pass for the sets that are open, and no
// others: the engine may act for a while by rules that it has no more. It is safe for
// concurrent use.
type writes struct {
	engine.Writer
	clock clock.PassiveClock

	mu   sync.Mutex
	sets map[source.Key]*traffic // guarded by mu
}

// traffic is what a tenant writes for one set.
type traffic struct {
	closed   bool // nothing more is to be sent
	underWay int
	// versions are those of the newest objects that were written.
	versions map[apischema.GroupResource]string
	// doubtful is when it was last not known what became of a write.
	doubtful map[apischema.GroupResource]time.Time
}

// Write implements [engine.Writer].
func (w *writes) Write(ctx context.Context, operation plan.Operation) (result write.Result) {
	var sets []*traffic
	w.mu.Lock()
	for _, rule := range operation.Rules {
		set := w.sets[keyOf(rule)]
		if set == nil || set.closed {
			w.mu.Unlock()
			return write.Result{Class: write.Stale, Err: errMoved}
		}
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	for _, set := range sets {
		set.underWay++
	}
	w.mu.Unlock()
	result.Class = write.Ambiguous // Should it panic.
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		resource := operation.Target.GVR.GroupResource()
		for _, set := range sets {
			set.underWay--
			if result.Class == write.Ambiguous {
				set.doubtful[resource] = w.clock.Now()
			}
			if echo := result.Echo; echo != nil && echo.Object.ResourceVersion != "" && !shows(set.versions[resource], echo.Object.ResourceVersion) {
				set.versions[resource] = echo.Object.ResourceVersion
			}
		}
	}()
	return w.Writer.Write(ctx, operation)
}

// open lets writes for a set pass.
func (w *writes) open(set source.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sets[set] == nil {
		w.sets[set] = &traffic{versions: map[apischema.GroupResource]string{}, doubtful: map[apischema.GroupResource]time.Time{}}
	}
	w.sets[set].closed = false
}

// closed has nothing more sent for a set that was open. It returns the versions of the newest objects
// written for it, empty where that is not known, and whether nothing is under way.
func (w *writes) closed(set source.Key, now time.Time) (versions map[apischema.GroupResource]string, idle bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.sets[set]
	if of.closed = true; of.underWay > 0 {
		return nil, false
	}
	versions = maps.Clone(of.versions)
	for resource, at := range of.doubtful {
		if now.Sub(at) < handoverTrails {
			versions[resource] = ""
		}
	}
	return versions, true
}

// forget drops what is known of a closed set of which nothing is under way. It stays closed.
func (w *writes) forget(set source.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sets, set)
}

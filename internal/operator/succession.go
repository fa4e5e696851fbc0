package operator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	// successionLook is how often it is looked whether a set that waits can be taken over.
	successionLook = 50 * time.Millisecond
	// successionTrails is how long the caches of the next tenant may take to show what the one
	// before has written. A watch is told at least once a minute how far it has come.
	successionTrails = 90 * time.Second
)

// succession is of a set whose rules go from one tenant to another, as with another
// serviceAccountName. The next tenant would not know what the one before has under way,
// and would do it once more.
type succession struct {
	set    source.Key
	from   *tenant
	to     *tenant        // nil where nobody runs the set any more
	caches []informer.Key // that the rules read
	since  time.Time
}

// takenOver returns the rules that can be carried out now. Those of a set that another tenant
// may still write for wait; see [succession.over]. The lock is held.
func (o *Operator) takenOver(all *rules.Set) *rules.Set {
	before, whose := o.moving, owners(all)
	o.moving = map[source.Key]*succession{}
	for set, from := range o.runs {
		account, wanted := whose[set]
		to := o.tenants[account]
		if !wanted {
			to = nil
		}
		if wanted && to == from {
			continue
		}
		move := &succession{set: set, from: from, to: to, since: o.options.Clock.Now()}
		if was := before[set]; was != nil && was.to == to {
			move.since = was.since
		}
		own := all.Only(func(rule *rules.Rule) bool { return keyOf(rule.ID) == set })
		for _, selection := range slices.Concat(own.Selections(), own.Related()) {
			move.caches = append(move.caches, informer.Key(selection))
		}
		from.writes.close(set)
		if !move.over(o.options.Clock.Now()) {
			o.moving[set] = move
			continue
		}
		from.writes.forget(set)
		delete(o.runs, set)
	}
	for set := range before {
		if o.moving[set] == nil {
			o.revised[set] = o.revision()
		}
	}
	for set := range o.moving {
		if before[set] == nil {
			o.revised[set] = o.revision()
		}
	}
	for set, account := range whose {
		if to := o.tenants[account]; to != nil && o.moving[set] == nil {
			o.runs[set] = to
			to.writes.open(set)
		}
	}
	if len(o.moving) == 0 {
		return all
	}
	return all.Only(func(rule *rules.Rule) bool { return o.moving[keyOf(rule.ID)] == nil })
}

// over reports whether the tenant before writes nothing for the set any more, and the caches
// of the next one show all that it has written. A request has a deadline, and so has a
// cache: one that trails for longer, or of which it is not known what it has to show, begins
// anew.
func (m *succession) over(now time.Time) bool {
	newest, idle := m.from.writes.newest(m.set, now)
	if m.to == nil || !idle {
		return idle
	}
	var renewed []apischema.GroupVersionResource
	for _, cache := range m.to.informers.Status() {
		version, wrote := newest[cache.Key.GVR.GroupResource()]
		switch {
		case !wrote || cache.Err != nil || !slices.Contains(m.caches, cache.Key):
		case version == "" || now.Sub(m.since) > successionTrails:
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

// succeed puts sets into effect that wait for another tenant, until the context is done.
func (o *Operator) succeed(ctx context.Context) {
	for {
		o.mu.Lock()
		var again <-chan time.Time
		if len(o.moving) > 0 {
			again = o.options.Clock.After(successionLook)
		}
		news := o.news
		o.mu.Unlock()
		select {
		case <-news:
		case <-again:
			o.succeedNow()
		case <-ctx.Done():
			return
		}
	}
}

func (o *Operator) succeedNow() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, move := range o.moving {
		if move.over(o.options.Clock.Now()) {
			o.regroupNow()
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
	now func() time.Time

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

func newWrites(to engine.Writer, now func() time.Time) *writes {
	return &writes{Writer: to, now: now, sets: map[source.Key]*traffic{}}
}

// Write implements [engine.Writer].
func (w *writes) Write(ctx context.Context, operation plan.Operation) (result write.Result) {
	sets := setsOf(operation)
	if !w.begin(sets) {
		return write.Result{Class: write.Stale, Err: errMoved}
	}
	result.Class = write.Ambiguous // Should it panic.
	defer func() { w.end(sets, operation, result) }()
	return w.Writer.Write(ctx, operation)
}

func setsOf(operation plan.Operation) []source.Key {
	var out []source.Key
	for _, rule := range operation.Rules {
		if set := keyOf(rule); !slices.Contains(out, set) {
			out = append(out, set)
		}
	}
	return out
}

func (w *writes) begin(sets []source.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(sets, func(set source.Key) bool { return w.sets[set] == nil || w.sets[set].closed }) {
		return false
	}
	for _, set := range sets {
		w.sets[set].underWay++
	}
	return true
}

func (w *writes) end(sets []source.Key, operation plan.Operation, result write.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	resource := operation.Target.GVR.GroupResource()
	for _, set := range sets {
		of := w.sets[set]
		of.underWay--
		if result.Class == write.Ambiguous {
			of.doubtful[resource] = w.now()
		}
		if echo := result.Echo; echo != nil && echo.Object.ResourceVersion != "" && !shows(of.versions[resource], echo.Object.ResourceVersion) {
			of.versions[resource] = echo.Object.ResourceVersion
		}
	}
}

// close has nothing more sent for a set that was open.
func (w *writes) close(set source.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sets[set].closed = true
}

// forget drops what is known of a closed set of which nothing is under way. It stays closed.
func (w *writes) forget(set source.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sets, set)
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

// newest are the versions of the newest objects written for a closed set, empty where that is not
// known, and whether nothing is under way.
func (w *writes) newest(set source.Key, now time.Time) (versions map[apischema.GroupResource]string, idle bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.sets[set]
	if of.underWay > 0 {
		return nil, false
	}
	versions = maps.Clone(of.versions)
	for resource, at := range of.doubtful {
		if now.Sub(at) < successionTrails {
			versions[resource] = ""
		}
	}
	return versions, true
}

package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// maxOwn bounds what is remembered of the writes for one object. Of a rule that follows a
// source that is always ahead, there would be ever more.
const maxOwn = 16

// news is since when rules have not done with an object of which something has changed,
// for those objects. The zero value has none. It is safe for concurrent use.
type news struct {
	mu    sync.Mutex
	since map[Key]beginning // guarded by mu
	// own is what was written for an object, until its rules want no more of it; guarded
	// by mu.
	own map[Key][]version
}

// beginning is the first change of an object, or of what its rules read.
type beginning struct {
	at time.Time
	version
}

// version is one state of an object. It is comparable.
type version struct {
	object   guard.Object
	resource string
}

// begin notes that rules have something to look at; the first one counts, and what was
// written for them does not.
func (n *news) begin(key Key, first beginning) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.since == nil {
		n.since = map[Key]beginning{}
	}
	known, begun := n.since[key]
	if (!begun || first.at.Before(known.at)) && !slices.Contains(n.own[key], first.version) {
		n.since[key] = first
	}
}

// wrote notes what was written for an object. Its echo may have come already.
func (n *news) wrote(key Key, written version) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.own == nil {
		n.own = map[Key][]version{}
	}
	own := append(n.own[key], written)
	n.own[key] = own[max(0, len(own)-maxOwn):]
	if n.since[key].version == written {
		delete(n.since, key)
	}
}

// done forgets what was written.
func (n *news) done(key Key) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.own, key)
}

// take returns the first change of an object that is looked at now. Changes from now on
// are others, unless it begins again.
func (n *news) take(key Key) beginning {
	n.mu.Lock()
	defer n.mu.Unlock()
	first := n.since[key]
	delete(n.since, key)
	return first
}

// tellSettled tells how long an object took that had changed, once its rules have done
// with it.
func (e *Engine) tellSettled(key Key, result guard.Outcome, first beginning) {
	if result.State == guard.Settled || result.Looked && !result.Wrote {
		e.news.done(key)
	}
	switch {
	case first.at.IsZero():
	case result.State != guard.Settled || len(result.Failures) > 0:
		e.news.begin(key, first)
	case result.Looked:
		e.options.Observer.Settled(key, e.options.Clock.Since(first.at))
	}
}

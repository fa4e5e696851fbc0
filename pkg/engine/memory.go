package engine

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// memory is what the engine remembers of objects between evaluations. Losing
// it, as a restart does, costs a repeated attempt and never a wrong one. It is
// safe for concurrent use.
type memory struct {
	mu      sync.Mutex
	records map[Key]*record
}

// record belongs to the worker that has the key in hand; the queue gives a key
// to one worker at a time.
type record struct {
	uid types.UID
	// looked is the generation of the rules that had done with it last, 0 for none: nothing was left to do, to wait for
	// or to be tried again.
	looked int
	// waiting are the rules that waited for time to pass, or for a cache, when it was
	// evaluated last.
	waiting []plan.Rule
	// awaits is what the caches must show before the object is evaluated again, by the
	// object that was written, and since is when the last of it was learnt.
	awaits map[guard.Object]await
	since  time.Time
	// read is the version of the object that a live read gave last.
	read readVersion
	// names are those given to new objects of which it is not known whether they were
	// made.
	names unresolved
	// rest is when time alone changes what the rules want, where they wanted to write nothing
	// when it was evaluated last; zero for never. due says that the last evaluation came after
	// the rest of the one before.
	rest time.Time
	due  bool
	// held is since when rules with `for` hold.
	held held
	// ineffective is what the API server accepted and what changed nothing; it
	// is not repeated.
	ineffective plan.Marks
	// audited is what audited rules would write, as it was told.
	audited plan.Marks
	// separate says that a request joined from several rules was refused: each
	// rule is sent on its own.
	separate bool
	// episodes are those under way. evaluated is the generation of the rules that have looked at the object last, 0 for
	// none, and unknown are those of them that have never been carried out to the end: which Events they wanted before
	// is not known.
	episodes  []episode
	evaluated int
	unknown   []plan.Rule
	// unrecorded are the Events that are still to be recorded.
	unrecorded []pending
	// reported is what was logged of each rule, so that it is logged once.
	reported map[plan.Rule]string
	// refused is why a write of a rule failed, as it was logged.
	refused map[plan.Rule]string
	// silent is why Events could not be recorded, as it was logged.
	silent string
	// recorded is what is told of the last decisions to whoever asks.
	recorded recorded
}

// readVersion is a version that the API server gave, and the moment before it was asked.
type readVersion struct {
	version string
	at      time.Time
}

// of returns the record of the object, a new one where another object had the
// name before.
func (m *memory) of(key Key, uid types.UID) *record {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.records[key]
	if known != nil && known.uid == uid {
		return known
	}
	if m.records == nil {
		m.records = map[Key]*record{}
	}
	fresh := &record{uid: uid}
	m.records[key] = fresh
	return fresh
}

// known returns the record of whatever object had the name, nil for none.
func (m *memory) known(key Key) *record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key]
}

func (m *memory) keys() []Key {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.records))
}

func (m *memory) forget(key Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
}

package engine

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/events"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/history"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// memory is what the engine remembers of objects between evaluations. Losing
// it, as a restart does, costs a repeated attempt and never a wrong one. It is
// safe for concurrent use.
type memory struct {
	mu      sync.Mutex
	records map[Key]*record // guarded by mu
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
	// moment is when time alone may change what the rules want, as of the last evaluation, zero for never; writing are the
	// rules that wanted to write then.
	moment  time.Time
	writing []plan.Rule
	// waits says that the object is being looked at, or that there is something left to do: an event of it concerns it even if no
	// rule reads what has changed. So it is where there is no record.
	waits atomic.Bool
	held  atomic.Pointer[held]
	unseen
	sent
	logged  logged
	events  events.Episodes
	history history.History
}

// unseen is what caches do not show yet of an object and of what was written for it.
type unseen struct {
	// awaits is what they must show before it is evaluated again, by the
	// object that was written, and since is when the last of it was learnt.
	awaits map[guard.Object]expectation
	since  time.Time
	// read is the version of the object that a live read gave last.
	read readVersion
}

// sent is what became of operations of earlier plans.
type sent struct {
	// ineffective is what the API server accepted and what changed nothing; it
	// is not repeated.
	ineffective plan.Marks
	// audited is what audited rules would write, as it was told.
	audited  plan.Marks
	refusals refusals
	// unknown is what has failed without an answer that says whether it always will, since it succeeded last. The other elements of
	// its action are tried first.
	unknown plan.Marks
	// separate says that a request joined from several rules was refused: each
	// rule is sent on its own.
	separate bool
	// nameTaken says that something had the name of an object that was to be made, where the rules do not see it. It is looked for
	// before the next request.
	nameTaken bool
	// simulated are the rules whose finalizers a dry run has put on: the object does not show them, and they are not sent again.
	simulated []plan.Rule
}

// logged is why a rule did not act, and why a write of it failed, as it was logged: once.
type logged map[trouble]string

// trouble is that of a rule, or with write, that of its writes to one object. What gets another name each time has none.
type trouble struct {
	rule   plan.Rule
	write  bool
	target guard.Object
}

// mostLogged bounds what is remembered of the log of one object. Past it all is logged anew.
const mostLogged = 1000

// inTurn puts what has failed before behind the other elements of its action: an attempt ends with a few such failures, so the same few
// would keep the others from ever being tried.
func (s *sent) inTurn(operations []plan.Operation) []plan.Operation {
	if len(s.unknown) == 0 {
		return operations
	}
	type turn struct {
		plan.Operation
		failed bool
	}
	turns, action := make([]turn, len(operations)), func(o turn) (plan.Rule, plan.Part) { return o.Rules[0], o.Parts[0] }
	for i, o := range operations {
		turns[i] = turn{o, s.unknown.Has(o.All())}
	}
	for rest := turns; len(rest) > 0; {
		rule, part := action(rest[0])
		n := slices.IndexFunc(rest, func(o turn) bool {
			r, p := action(o)
			return len(o.Rules) > 1 || r != rule || p != part
		})
		if n < 0 {
			n = len(rest)
		}
		n = max(1, n)
		slices.SortStableFunc(rest[:n], func(a, b turn) int {
			switch {
			case a.failed == b.failed:
				return 0
			case b.failed:
				return -1
			default:
				return 1
			}
		})
		rest = rest[n:]
	}
	out := make([]plan.Operation, len(turns))
	for i, o := range turns {
		out[i] = o.Operation
	}
	return out
}

// due are those of the rules that write because a moment has come: they wanted nothing before it.
func (r *record) due(writing []plan.Rule, now time.Time) []plan.Rule {
	if r.moment.IsZero() || now.Before(r.moment) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(writing), func(rule plan.Rule) bool { return slices.Contains(r.writing, rule) })
}

// rulesOf are the rules that want operations.
func rulesOf(operations []plan.Operation) (out []plan.Rule) {
	for _, o := range operations {
		for _, rule := range o.Rules {
			if !slices.Contains(out, rule) {
				out = append(out, rule)
			}
		}
	}
	return out
}

// add notes what is to be logged of a rule, and reports whether it is something else than before.
func (l *logged) add(of trouble, text string) (isNew bool) {
	if (*l)[of] == text {
		return false
	}
	if *l == nil || len(*l) >= mostLogged {
		*l = logged{}
	}
	(*l)[of] = text
	return true
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
	if known := m.records[key]; known != nil && known.uid == uid {
		return known
	}
	fresh := &record{uid: uid}
	fresh.waits.Store(true)
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

// forget drops the record of an object, and reports whether there was one.
func (m *memory) forget(key Key) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.records[key]
	delete(m.records, key)
	return known
}

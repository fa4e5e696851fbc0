package conflict

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	maxFields = 32 // of one object that are remembered
	maxSides  = 8  // of one field
)

// side is a rule as it was evaluated for one object. It is comparable.
type side struct {
	rule    plan.Rule
	watched Object
	// uid tells an object from one that had the name before. It is empty where the rule
	// writes to what it watches: then it is another one each time that it comes back.
	uid types.UID
}

func sideOf(w Write, rule plan.Rule) side {
	out := side{rule: rule, watched: w.Watched, uid: w.WatchedUID}
	if w.Watched == w.Target {
		out.uid = ""
	}
	return out
}

// writer is who wrote something, and in which turn.
type writer struct {
	side *side // nil where turn is 0
	turn uint64
}

// ledger is what is remembered of the writes to one object.
type ledger struct {
	uid types.UID
	// states are what our last writes left, the last of them at the end.
	states []state
	fields []*field
	// pending counts our writes that are under way, and answered are those of which the
	// answer came before that of another one, which they may follow.
	pending  int
	answered []Write
	// contests are those that are named, by the rule that is undone.
	contests map[plan.Rule]*contested
}

const (
	maxStates   = 4 // of an object that are remembered
	maxAnswered = 8 // writes that wait for the answers of others
)

// state is an object as one of our writes left it.
type state struct {
	version string // empty where it was gone
	writer  writer
	// foreign counts how often somebody else had changed it before we wrote.
	foreign uint64
}

// last is how our last write left the object, the zero state where there was none.
func (l *ledger) last() state {
	if len(l.states) == 0 {
		return state{}
	}
	return l.states[len(l.states)-1]
}

// state is how one of our writes left the object under a version, nil where none did.
func (l *ledger) state(version string) *state {
	for i := range l.states {
		if s := &l.states[i]; version != "" && s.version == version {
			return s
		}
	}
	return nil
}

func (l *ledger) leave(s state) {
	if len(l.states) == maxStates {
		l.states = slices.Delete(l.states, 0, 1)
	}
	l.states = append(l.states, s)
}

// follows reports whether a write was to the object as we had left it.
func (l *ledger) follows(w Write) bool { return len(l.states) > 0 && l.last().version == w.Found }

// takeNext returns the next write to judge. One that does not follow the last may follow
// one that is under way yet, so it waits.
func (l *ledger) takeNext() (w Write, found bool) {
	at := slices.IndexFunc(l.answered, l.follows)
	if at < 0 {
		if len(l.answered) == 0 || l.pending > 0 && len(l.answered) <= maxAnswered {
			return w, false
		}
		at = l.head()
	}
	w = l.answered[at]
	l.answered = slices.Delete(l.answered, at, at+1)
	return w, true
}

// head is the first answer of which none of the others comes before it.
func (l *ledger) head() int {
	first := func(w Write) bool {
		return !slices.ContainsFunc(l.answered, func(other Write) bool { return other.Left == w.Found && other.Left != "" })
	}
	return max(0, slices.IndexFunc(l.answered, first))
}

// contested is a contest with what is not told.
type contested struct {
	Conflict
	last time.Time // of the repeats
	// held says that the rule has had to wait since it wrote last.
	held bool
}

func (c *contested) over(now time.Time) bool { return now.Sub(c.last) > Window }

// field is what is remembered of one field of an object.
type field struct {
	path plan.Path
	last writer
	// sent and stored are the values of the last write, as it was sent and as it came back.
	sent, stored uint64
	efforts      []*effort // of each side
}

// effort is what one side has done to a field.
type effort struct {
	side  side
	turn  uint64 // of the last write, 0 for none
	sent  uint64
	basis uint64
	until time.Time // of the basis
	uid   types.UID // of the object
	// repeats are those so far, the last of them at repeated.
	repeats  int
	repeated time.Time
	since    time.Time // of the first
}

// of returns what is remembered of a field, which is nothing where there are too many.
func (l *ledger) of(path plan.Path) *field {
	for _, f := range l.fields {
		if slices.Equal(f.path, path) {
			return f
		}
	}
	if len(l.fields) >= maxFields {
		l.drop()
	}
	f := &field{path: slices.Clone(path)}
	l.fields = append(l.fields, f)
	return f
}

// drop forgets the field that was written longest ago.
func (l *ledger) drop() {
	oldest := 0
	for i, f := range l.fields {
		if f.last.turn < l.fields[oldest].last.turn {
			oldest = i
		}
	}
	l.fields = slices.Delete(l.fields, oldest, oldest+1)
}

// latest is what was written last of all that a path leads into or out of, nil for nothing.
// The object as a whole is apart.
func (l *ledger) latest(path plan.Path) *field {
	var out *field
	for _, f := range l.fields {
		if !overlap(f.path, path) || f.last.turn == 0 {
			continue
		}
		if out == nil || f.last.turn >= out.last.turn {
			out = f
		}
	}
	return out
}

func overlap(a, b plan.Path) bool {
	if (len(a) == 0) != (len(b) == 0) {
		return false
	}
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// meet begins anew with the fields of an object that is another one under the name.
func (l *ledger) meet(uid types.UID) {
	if l.uid == uid {
		return
	}
	l.uid = uid
	l.fields = slices.DeleteFunc(l.fields, func(f *field) bool { return len(f.path) > 0 })
}

// by returns what a side has done to the field, which is nothing where it is new; the
// place is that of the side that wrote longest ago where there are too many.
func (f *field) by(s side) *effort {
	for _, e := range f.efforts {
		if e.side == s {
			return e
		}
	}
	fresh := &effort{side: s}
	if len(f.efforts) < maxSides {
		f.efforts = append(f.efforts, fresh)
		return fresh
	}
	oldest := 0
	for i, e := range f.efforts {
		if e.turn < f.efforts[oldest].turn {
			oldest = i
		}
	}
	f.efforts[oldest] = fresh
	return fresh
}

// forget drops what rules have done; it reports whether anything is left.
func (l *ledger) forget(gone func(plan.Rule) bool) (left bool) {
	for _, f := range l.fields {
		f.efforts = slices.DeleteFunc(f.efforts, func(e *effort) bool { return gone(e.side.rule) })
		if f.last.turn > 0 && gone(f.last.side.rule) {
			f.last = writer{} // What is there is nobody's doing.
		}
	}
	l.fields = slices.DeleteFunc(l.fields, func(f *field) bool { return len(f.efforts) == 0 })
	for rule := range l.contests {
		if gone(rule) {
			delete(l.contests, rule)
		}
	}
	return len(l.fields) > 0 || len(l.contests) > 0
}

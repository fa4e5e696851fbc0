package limit

import (
	"cmp"
	"container/list"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// window has the objects for which a rule has written, or is writing. It is not for concurrent use, and never has more than were
// let in.
type window struct {
	entries map[types.UID]*entry
	written *list.List // of *entry, the oldest first
	// unstored are those that a next process would not know of, or not for long.
	unstored sets.Set[*entry]
}

// entry is an object in a window.
type entry struct {
	object types.UID
	at     time.Time // of the last write that took effect
	// reserved is how many writes are under way.
	reserved int
	place    *list.Element // among those written, nil where none took effect
	// stored is which of its writes is stored, storing which is being, both zero for none.
	stored, storing time.Time
	restored        bool // object is the mark of it
}

func newWindow() window {
	return window{entries: map[types.UID]*entry{}, written: list.New(), unstored: sets.New[*entry]()}
}

// find returns the entry of an object, which may be from an earlier process.
func (w *window) find(object types.UID) *entry {
	if e := w.entries[object]; e != nil {
		return e
	}
	e := w.entries[mark(object)]
	if e == nil || !e.restored {
		return nil
	}
	delete(w.entries, e.object)
	e.object, e.restored = object, false
	w.entries[object] = e
	return e
}

// restore adds an object by its mark, which is newer than all that are there.
func (w *window) restore(object types.UID, at time.Time) {
	e := &entry{object: object, at: at, stored: at, restored: true}
	if before := w.entries[object]; before != nil {
		w.written.Remove(before.place)
	}
	w.entries[object] = e
	e.place = w.written.PushBack(e)
}

// expire forgets writes that are as old as the window is long.
func (w *window) expire(now time.Time, per time.Duration) {
	for first := w.written.Front(); first != nil; first = w.written.Front() {
		e, _ := first.Value.(*entry)
		if now.Sub(e.at) < per {
			return
		}
		w.written.Remove(first)
		w.unstored.Delete(e)
		e.stored, e.storing = time.Time{}, time.Time{}
		if e.place = nil; e.reserved == 0 {
			delete(w.entries, e.object)
		}
	}
}

// reserve notes a write that is about to be sent.
func (w *window) reserve(object types.UID) {
	e := w.find(object)
	if e == nil {
		e = &entry{object: object}
		w.entries[object] = e
	}
	e.reserved++
}

// settle notes what became of it.
func (w *window) settle(object types.UID, effective bool, now time.Time, per time.Duration) {
	e := w.entries[object]
	if e == nil || e.reserved == 0 {
		return // The rule has changed in the meantime.
	}
	e.reserved--
	switch {
	case effective && e.place == nil:
		e.at, e.place = now, w.written.PushBack(e)
	case effective:
		e.at = now
		w.written.MoveToBack(e.place)
	case e.place == nil && e.reserved == 0:
		delete(w.entries, object)
	}
	if effective && (e.stored.IsZero() || now.Sub(e.stored) >= per/2) {
		w.unstored.Insert(e)
	}
}

// compareCounts orders counts by time.
func compareCounts(a, b v1alpha1.Count) int {
	return cmp.Or(a.At.Compare(b.At.Time), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Objects, b.Objects))
}

const (
	// countParts is into how many parts of a window what is stored is divided.
	countParts = 8
	// mostCounted bounds the objects that are stored of a rule: the last ones.
	mostCounted = 4096
	// unstoredShare is which part of its limit a rule may write for that is not stored yet.
	unstoredShare = 10
	// markLength is of a mark.
	markLength = 4
)

// mark is a short name of an object: 1 of 16 million.
func mark(object types.UID) types.UID {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(object))
	sum := hash.Sum32()
	sum ^= sum >> 24
	return types.UID(base64.RawURLEncoding.EncodeToString([]byte{byte(sum >> 16), byte(sum >> 8), byte(sum)}))
}

// counts are what is in the window of a rule, to be stored.
func (w *window) counts(of *Rule) []v1alpha1.Count {
	part := max(of.Limits.Per/countParts, time.Second)
	marks := map[time.Time][]string{}
	n := 0
	for place := w.written.Back(); place != nil; place = place.Prev() {
		e, _ := place.Value.(*entry)
		e.storing = e.at
		if n++; n > mostCounted {
			continue
		}
		name, at := e.object, e.at.UTC().Add(part-1).Truncate(part)
		if !e.restored {
			name = mark(name)
		}
		marks[at] = append(marks[at], string(name))
	}
	var out []v1alpha1.Count
	for at, names := range marks {
		slices.Sort(names)
		out = append(out, v1alpha1.Count{Rule: of.ID.Name, At: metav1.NewTime(at), Objects: strings.Join(names, ""), Digest: of.Digest})
	}
	slices.SortFunc(out, compareCounts)
	return out
}

// store notes that what was being stored is.
func (w *window) store() {
	for place := w.written.Front(); place != nil; place = place.Next() {
		if e, _ := place.Value.(*entry); !e.storing.IsZero() {
			e.stored, e.storing = e.storing, time.Time{}
			w.unstored.Delete(e)
		}
	}
}

// base is of how many objects a limit is a share: the most that there were since the window began. What a rule deletes, or
// has leave its selection, takes nothing of its share. There are ever fewer objects in it, so the first count is the most.
type base []counted

// counted is how many objects there were.
type counted struct {
	objects int
	at      time.Time
}

// late is longer than it takes from counting until a write is answered, which is when it begins to count for a window.
const late = time.Minute

// add takes a count, and forgets those from before a window of that length. There are never more than counts in a window,
// nor than there were objects.
func (b base) add(objects int, now time.Time, per time.Duration) base {
	first := 0
	for first < len(b) && now.Sub(b[first].at) >= per+late {
		first++
	}
	last := len(b)
	for last > first && b[last-1].objects <= objects {
		last--
	}
	return append(b[first:last], counted{objects, now})
}

// most is zero where nothing was counted.
func (b base) most() int {
	if len(b) == 0 {
		return 0
	}
	return b[0].objects
}

// countedFor is how long a number of objects is taken for what it is while a rule is within its limit: to count takes as long as
// there are objects.
const countedFor = time.Second

// most is for how many objects the rule may write, by a count that is younger than old where it is a share.
func (g *Guard) most(s *state, now time.Time, old time.Duration) int {
	if s.Limits.Percent > 0 {
		g.count(s, now, old)
	}
	return Most(s.Limits, s.base.most())
}

// slack is for shares such as 4.35 percent, which a float64 does not hold.
const slack = 1e-9

// Most is for how many objects a rule may write that watches so many: at least one.
func Most(l spec.Limits, watched int) int {
	if l.Percent > 0 {
		return max(1, int(float64(watched)*l.Percent/100+slack))
	}
	return max(1, l.Objects)
}

// count finds out how many objects a rule watches, each once, unless that is known since not long ago.
func (g *Guard) count(s *state, now time.Time, old time.Duration) {
	if age := now.Sub(s.counted); len(s.base) > 0 && age >= 0 && age < old {
		return
	}
	objects, all := 0, true
	for _, selection := range s.Watches {
		n, known := g.host.Count(selection)
		objects, all = objects+n, all && known
	}
	if !apart(s.Watches) {
		seen := map[plan.Object]bool{}
		for _, selection := range s.Watches {
			for _, name := range g.host.Names(selection) {
				seen[plan.Object{GVR: selection.GVR, Namespace: name.Namespace, Name: name.Name}] = true
			}
		}
		objects = len(seen)
	}
	s.all, s.counted = all, now
	s.base = s.base.add(objects, now, s.Limits.Per)
}

// apart reports whether no object can be in two of the selections, by where they are alone.
func apart(selections []plan.Selection) bool {
	for i, a := range selections {
		if slices.ContainsFunc(selections[:i], func(b plan.Selection) bool {
			return a.GVR == b.GVR && (a.Namespace == b.Namespace || a.Namespace == "" || b.Namespace == "")
		}) {
			return false
		}
	}
	return true
}

// Stored is what the next process has to know of a rule with limits. It is immutable.
type Stored struct {
	Pause  *v1alpha1.Pause  // nil while the rule is not paused
	Counts []v1alpha1.Count // sorted by time; in UTC and whole seconds, rounded up
}

// instants are the same in whatever zones they are.
var instants = conversion.EqualitiesOrDie(time.Time.Equal)

// Equal reports whether both say the same.
func (s Stored) Equal(other Stored) bool { return instants.DeepEqual(s, other) }

// With returns what both say. What the other one says of a pause counts.
func (s Stored) With(other Stored) Stored {
	counts := slices.SortedFunc(slices.Values(slices.Concat(s.Counts, other.Counts)), compareCounts)
	return Stored{Pause: cmp.Or(other.Pause, s.Pause), Counts: slices.Compact(counts)}
}

// Pause says that a rule writes nothing until somebody has looked. It is comparable.
type Pause struct {
	Rule plan.Rule
	// Asked since before the pause does not count: nobody has looked. Since is in UTC and whole seconds.
	v1alpha1.Pause
}

// String says what happened, and what to do about it.
func (p Pause) String() string {
	ask := fmt.Sprintf("annotate %s with %s=%s", p.Rule.SetName(), spec.ResumeAnnotation, p.Rule.Name)
	if p.Asked {
		ask = fmt.Sprintf("take the annotation %s=%s off %s and put it on again", spec.ResumeAnnotation, p.Rule.Name, p.Rule.SetName())
	}
	return fmt.Sprintf("it has written for %d of %d objects in %s, its limit is %s; look at what it did, then %s, or change the rule",
		p.Objects, p.Of, p.Per, p.Limit, ask)
}

// PausedError is why a paused rule does not write.
type PausedError struct{ Pause Pause }

// Error implements error.
func (e *PausedError) Error() string { return "the rule is paused: " + e.Pause.String() }

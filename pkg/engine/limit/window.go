package limit

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// window has the objects for which a rule has written, or is writing, by their marks. It is not for concurrent use.
type window struct {
	written  map[string]entry
	underWay map[string]sending
	watched  int // objects, when they were last counted
	// unstored is how many a next process would not know of, or not for long, and storing how many of them are being stored.
	unstored, storing int
}

// entry is an object that was written for.
type entry struct {
	at      time.Time // of the last write that took effect
	stored  time.Time // of the one that is stored, or is to be
	watched int       // objects when that write was let in
}

// sending are the writes for an object that are under way.
type sending struct {
	writes  int
	watched int // objects when the last of them was let in
}

func newWindow() window {
	return window{written: map[string]entry{}, underWay: map[string]sending{}}
}

// markLength is of a mark.
const markLength = 4

// mark is a short name of an object: 1 of 16 million.
func mark(object types.UID) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(object))
	sum := hash.Sum32()
	sum ^= sum >> 24
	return base64.RawURLEncoding.EncodeToString([]byte{byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// has reports whether an object counts already, for a write that is under way, or was after the window began.
func (w *window) has(object types.UID, begin time.Time) bool {
	m := mark(object)
	return w.underWay[m].writes > 0 || w.written[m].at.After(begin)
}

// pending is how many objects count for writes under way alone.
func (w *window) pending() (objects int) {
	for m := range w.underWay {
		if _, counts := w.written[m]; !counts {
			objects++
		}
	}
	return objects
}

// expire forgets writes from before the window.
func (w *window) expire(begin time.Time) {
	maps.DeleteFunc(w.written, func(_ string, e entry) bool { return !e.at.After(begin) })
}

// reserve notes a write that is about to be sent.
func (w *window) reserve(object types.UID) {
	m := mark(object)
	w.underWay[m] = sending{w.underWay[m].writes + 1, w.watched}
}

// settle notes what became of it.
func (w *window) settle(object types.UID, effective bool, now time.Time, per time.Duration) {
	m := mark(object)
	sent, known := w.underWay[m]
	if !known { // The rule has changed since it was let in.
		sent.watched = w.watched
	}
	if sent.writes--; sent.writes > 0 {
		w.underWay[m] = sent
	} else {
		delete(w.underWay, m)
	}
	if !effective {
		return
	}
	e := w.written[m]
	if e.at, e.watched = now, sent.watched; now.Sub(e.stored) >= per/2 {
		e.stored = now
		w.unstored++
	}
	w.written[m] = e
}

// base is the most objects that there were, as far as the window knows.
func (w *window) base() int {
	most := w.watched
	for _, e := range w.written {
		most = max(most, e.watched)
	}
	for _, sent := range w.underWay {
		most = max(most, sent.watched)
	}
	return most
}

const (
	// countParts is into how many parts of a window what is stored is divided.
	countParts = 8
	// mostCounted bounds the objects that are stored of a rule: the last ones.
	mostCounted = 4096
)

// counts are the last objects in the window of a rule, at most so many, to be stored, by time.
func (w *window) counts(of *guard.Limited, most int) (out []v1alpha1.Count) {
	w.storing = w.unstored
	marks := slices.SortedFunc(maps.Keys(w.written), func(a, b string) int {
		return cmp.Or(w.written[a].at.Compare(w.written[b].at), cmp.Compare(a, b))
	})
	part := max(of.Limits.Per/countParts, time.Second)
	for _, m := range marks[max(0, len(marks)-most):] {
		at := metav1.NewTime(w.written[m].at.UTC().Add(part - 1).Truncate(part))
		if len(out) == 0 || !out[len(out)-1].At.Equal(&at) {
			out = append(out, v1alpha1.Count{Rule: of.ID.Name, At: at, Digest: of.Digest})
		}
		out[len(out)-1].Objects += m
	}
	return out
}

// stored notes that what was being stored is.
func (w *window) stored() {
	w.unstored -= w.storing
	w.storing = 0
}

// restore adds objects that an earlier process has written for.
func (w *window) restore(all []v1alpha1.Count, now time.Time) {
	for _, c := range all {
		at := c.At.Time
		if at.After(now) {
			at = now
		}
		for i := 0; i+markLength <= len(c.Objects); i += markLength {
			if m := c.Objects[i : i+markLength]; !w.written[m].at.After(at) {
				w.written[m] = entry{at: at, stored: at}
			}
		}
	}
}

// Stored is what the next process has to know of a rule with limits or a rollout. It is immutable.
type Stored struct {
	Pause  *v1alpha1.Pause  // nil while the rule is not paused
	Counts []v1alpha1.Count // sorted by time; in UTC and whole seconds, rounded up
	// Rollout is how far a rule with one has come, nil where it has not begun.
	Rollout *v1alpha1.Rollout
	// Answered says that the rule has resumed, or paused, since the object of its set asked it to resume, so that it has to be asked anew. It is
	// stored by taking the name of the rule out of the annotation.
	Answered bool
}

// Equal reports whether both say the same, but for what is answered.
func (s Stored) Equal(other Stored) bool {
	other.Answered = s.Answered
	return equality.Semantic.DeepEqual(s, other)
}

// With returns what both say. What the other one says of a pause counts.
func (s Stored) With(other Stored) Stored {
	counts := slices.SortedFunc(slices.Values(slices.Concat(s.Counts, other.Counts)), func(a, b v1alpha1.Count) int {
		return cmp.Or(a.At.Compare(b.At.Time), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Objects, b.Objects))
	})
	return Stored{Pause: cmp.Or(other.Pause, s.Pause), Counts: slices.Compact(counts), Rollout: cmp.Or(other.Rollout, s.Rollout)}
}

// Pause says that a rule writes nothing until somebody has looked. It is comparable.
type Pause struct {
	Rule plan.Rule
	// Asked since before the pause does not count: nobody has looked. Since is in UTC and whole seconds.
	v1alpha1.Pause
}

// String says what happened, and what to do about it.
func (p Pause) String() string {
	ask := fmt.Sprintf("put the annotation %s=%s on %s, in its file if it has one", spec.ResumeAnnotation, p.Rule.Name, p.Rule.SetName())
	if p.Asked {
		ask = fmt.Sprintf("take the annotation %s=%s off %s and put it on again, in its file if it has one", spec.ResumeAnnotation, p.Rule.Name, p.Rule.SetName())
	}
	if p.Unhealthy != "" {
		return fmt.Sprintf("objects that it has written for are not healthy %s later: %s; it has written for %d of %d; look at them, then %s, or change the rule",
			p.Per, p.Unhealthy, p.Objects, p.Of, ask)
	}
	objects := strconv.FormatInt(p.Objects, 10)
	if strings.HasSuffix(p.Limit, "%") { // Otherwise Of is the objects that are left, of which it has not written for all.
		objects += fmt.Sprintf(" of %d", p.Of)
	}
	return fmt.Sprintf("it has written for %s objects in %s, its limit is %s; look at what it did, then %s, or change the rule",
		objects, p.Per, p.Limit, ask)
}

// PausedError is why a paused rule does not write.
type PausedError struct{ Pause Pause }

// Error implements error.
func (e *PausedError) Error() string { return "the rule is paused: " + e.Pause.String() }

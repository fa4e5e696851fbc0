package limit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// rollout is how far a rule has come that is new or has changed:
//
//	all objects are looked at -> some of those that it wants to write for are chosen -> that is stored -> it writes for them
//	-> all of them are healthy for a while -> the next wave
//
// What is chosen is stored before it is written for, so a process that dies leaves the next one neither more nor less to do. It is not
// for concurrent use.
type rollout struct {
	wave    int                // under way, from 0; as many as there are waves once the rule writes for all
	chosen  map[string]*chosen // objects that the rule may write for, by their marks
	earlier int                // how many were chosen besides that are gone by now, or were too many to store
	began   time.Time          // when the last were chosen
	soaking time.Time          // since when all of them are healthy, zero while not
	unwell  int                // how many are not
	sick    time.Time          // since when those may be unhealthy that an earlier process has chosen, zero for now
	// waiting are objects that the rule wants to write for, and is not chosen for.
	waiting map[guard.Key]candidate
	// seen are the objects that were looked at since the rule came, nil once all were: who is first is known only then.
	seen    map[guard.Key]bool
	watched int // objects, when they were last counted
	counted time.Time
}

// candidate is an object that waits, and what the objects are ordered by.
type candidate struct {
	uid types.UID
	by  any
}

// chosen is an object that the rule may write for.
type chosen struct {
	key     guard.Key // empty until this process has looked at it
	written bool      // this process, or one before it, has written for it, as far as that is known
	healthy bool
	unread  bool // it has just been written for, so what it was like before says nothing
	since   time.Time
	reason  string // why it is not healthy
}

func newRollout() *rollout {
	return &rollout{chosen: map[string]*chosen{}, waiting: map[guard.Key]candidate{}, seen: map[guard.Key]bool{}}
}

// everywhere reports whether a rule writes for all objects.
func (s *state) everywhere() bool {
	return s.Rollout == nil || s.rollout.wave >= len(s.Rollout.Waves)
}

// size is for how many objects the rule writes in the wave that is under way.
func (s *state) size() int { return s.Rollout.Waves[s.rollout.wave].Of(s.rollout.watched) }

// room is for how many more.
func (s *state) room() int { return max(0, s.size()-len(s.rollout.chosen)-s.rollout.earlier) }

// set notes how a chosen object fares.
func (r *rollout) set(c *chosen, healthy bool, reason string, now time.Time) {
	if healthy != c.healthy {
		c.since = now
		r.unwell += map[bool]int{true: -1, false: 1}[healthy]
	}
	c.healthy, c.reason = healthy, reason
	if r.unwell > 0 {
		r.soaking = time.Time{}
	}
}

// drop takes an object out that is gone, or that the rule does not want to write for any more.
func (r *rollout) drop(m string, c *chosen) {
	delete(r.chosen, m)
	if !c.healthy {
		r.unwell--
	}
	if c.written {
		r.earlier++
	}
}

// wrote notes that an object was written for, or may have been.
func (r *rollout) wrote(object types.UID, now time.Time) {
	if c := r.chosen[mark(object)]; c != nil {
		c.written, c.unread = true, true
		r.set(c, false, "the rule has just written for it", now)
	}
}

// waves is one look at the rollout of a rule, while the guard is locked.
type waves struct {
	*state
	guard *Guard
	now   time.Time
}

// waves returns one.
func (g *Guard) waves(s *state) waves { return waves{s, g, g.clock.Now()} }

// mayBegin says why a rule with a rollout may not write for an object.
func (w waves) mayBegin(a *guard.Attempt) error {
	if w.everywhere() {
		return nil
	}
	r, m := w.rollout, mark(a.UID)
	if r.chosen[m] == nil {
		waits := candidate{uid: a.UID}
		if health := healthOf(a, w.ID); health != nil {
			waits.by = health.By
		}
		r.waiting[a.Key] = waits
		if !w.looked() {
			return ErrUnseen
		}
		w.choose()
	}
	switch {
	case r.chosen[m] == nil:
		return &RolloutError{Wave: r.wave + 1, Waves: len(w.Rollout.Waves), Objects: w.size(), Of: r.watched}
	case w.guard.stores && w.saving != saved:
		return ErrBusy
	default:
		return nil
	}
}

// healthOf is what a rule says of the object that is looked at, nil for nothing.
func healthOf(a *guard.Attempt, rule plan.Rule) *plan.Health {
	for _, decision := range a.Plan.Decisions {
		if decision.Rule == rule {
			return decision.Health
		}
	}
	return nil
}

// looked reports whether all objects have been looked at that the rule watches.
func (w waves) looked() bool {
	r := w.rollout
	if r.seen == nil {
		return true
	}
	if len(r.seen) < r.watched && w.now.Sub(r.counted) < countedFor {
		return false
	}
	var all bool
	if r.watched, all = w.guard.host.Watched(w.Watches); !all || len(r.seen) < r.watched {
		r.counted = w.now
		return false
	}
	r.seen = nil
	for m, c := range r.chosen { // They went while no process ran.
		if c.key == (guard.Key{}) {
			c.written = true
			r.drop(m, c)
		}
	}
	w.lookAtChosen()
	return true
}

// lookAtChosen has the chosen objects looked at, so that they are looked at again when they have soaked.
func (w waves) lookAtChosen() {
	keys := make([]guard.Key, 0, len(w.rollout.chosen))
	for _, c := range w.rollout.chosen {
		keys = append(keys, c.key)
	}
	w.guard.then = append(w.guard.then, func() { w.guard.host.LookAt(keys) })
}

// choose lets the first of those that wait write, as many as there is room for.
func (w waves) choose() {
	r := w.rollout
	if len(r.waiting) == 0 {
		return
	}
	r.watched, _ = w.guard.host.Watched(w.Watches)
	room := w.room()
	if room == 0 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(r.waiting), func(a, b guard.Key) int {
		order, _ := value.CompareKeys(r.waiting[a].by, r.waiting[b].by)
		return cmp.Or(order, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), a.Compare(b))
	})
	keys = keys[:min(room, len(keys))]
	for _, key := range keys {
		r.chosen[mark(r.waiting[key].uid)] = &chosen{key: key, since: w.now, reason: unwritten}
		delete(r.waiting, key)
	}
	r.unwell += len(keys)
	r.began, r.soaking = w.now, time.Time{}
	w.guard.save(w.state)
	w.guard.then = append(w.guard.then, func() { w.guard.host.LookAt(keys) })
}

// follow notes how the object fares that was looked at, and returns when it is to be looked at again, zero for never, and why the
// rule has paused, if it has for this object.
func (w waves) follow(a *guard.Attempt, wants bool) (at time.Time, stopped error) {
	r := w.rollout
	if slices.Contains(a.Unasked, w.ID) {
		return time.Time{}, nil
	}
	decided := slices.IndexFunc(a.Plan.Decisions, func(d plan.Decision) bool { return d.Rule == w.ID })
	m := mark(a.UID)
	c := r.chosen[m]
	if !wants {
		delete(r.waiting, a.Key)
	}
	var health *plan.Health
	if decided >= 0 {
		if r.seen != nil && (a.Plan.Decisions[decided].Outcome != plan.Skipped || !a.Unanswered) {
			r.seen[a.Key] = true
		}
		health = a.Plan.Decisions[decided].Health
	}
	switch gone := a.Watched == nil || decided < 0 || plan.BeingDeleted(a.Watched); {
	case c == nil:
	case gone:
		r.drop(m, c)
	default:
		w.note(m, c, a, health, wants)
	}
	if !w.looked() {
		return time.Time{}, nil
	}
	w.advance()
	switch c = r.chosen[m]; {
	case c == nil || w.everywhere() || w.pause != nil:
		return time.Time{}, nil
	case !r.soaking.IsZero():
		return r.soaking.Add(w.Rollout.Soak), nil
	case c.healthy:
		return time.Time{}, nil
	case w.now.Before(c.since.Add(w.Rollout.Timeout)):
		return c.since.Add(w.Rollout.Timeout), nil
	default:
		return time.Time{}, w.stop()
	}
}

// note notes how a chosen object fares.
func (w waves) note(m string, c *chosen, a *guard.Attempt, health *plan.Health, wants bool) {
	r, now, known := w.rollout, w.now, c.key != guard.Key{}
	if !known && !r.sick.IsZero() {
		now = r.sick
	}
	c.key = a.Key
	switch {
	case c.unread:
		c.unread = false
	case !c.written && wants:
		r.set(c, false, unwritten, now)
	case !c.written && known:
		r.drop(m, c) // It needs nothing any more.
	case health != nil:
		c.written = true // By the process before, if this one has not.
		r.set(c, health.Healthy, health.Reason, now)
	}
}

const unwritten = "the rule has not written for it yet"

// advance begins the next wave, once all that were chosen have been healthy for long enough, and nobody waits for whom there is room.
func (w waves) advance() {
	r := w.rollout
	for w.pause == nil && !w.everywhere() {
		w.choose()
		switch {
		case r.unwell > 0 || len(r.chosen)+r.earlier == 0:
			return
		case r.soaking.IsZero():
			r.soaking = w.now
			w.guard.save(w.state)
			w.lookAtChosen()
		}
		if len(r.chosen) > 0 && w.now.Before(r.soaking.Add(w.Rollout.Soak)) {
			return
		}
		r.wave++
		w.guard.save(w.state)
		id, wave, objects := w.ID.String(), r.wave, len(r.chosen)+r.earlier
		w.guard.then = append(w.guard.then, func() { w.guard.log.Info("wave of a rollout is over", "rule", id, "wave", wave, "objects", objects) })
	}
	if w.everywhere() {
		waiting := slices.Collect(maps.Keys(r.waiting))
		*w.rollout = rollout{wave: r.wave, earlier: len(r.chosen) + r.earlier, watched: r.watched}
		w.guard.then = append(w.guard.then, func() { w.guard.host.LookAt(waiting) })
	}
}

// stop pauses a rule whose objects are not healthy in time.
func (w waves) stop() error {
	const most = 3 // are named
	var names []string
	for _, c := range slices.SortedFunc(maps.Values(w.rollout.chosen), func(a, b *chosen) int { return a.key.Compare(b.key) }) {
		if !c.healthy {
			names = append(names, fmt.Sprintf("%s (%s)", c.key.Object(), c.reason))
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	objects := len(w.rollout.chosen) + w.rollout.earlier
	return w.guard.begin(w.state, v1alpha1.Pause{
		Objects: int64(objects), Of: int64(w.rollout.watched), Unhealthy: strings.Join(names, ", "),
		Limit: w.Rollout.Waves[w.rollout.wave].String(), Per: shortly(w.Rollout.Timeout),
	}, w.now)
}

// Forget implements [guard.Forgetter]: nobody waits for an object that is gone, or that no rule watches any more.
func (g *Guard) Forget(key guard.Key) {
	g.mu.Lock()
	defer g.unlock()
	for _, s := range g.rules {
		if s.everywhere() {
			continue
		}
		delete(s.rollout.waiting, key)
		for m, c := range s.rollout.chosen {
			if c.key == key {
				s.rollout.drop(m, c)
			}
		}
		if w := g.waves(s); s.may() == nil && w.looked() {
			w.advance()
		}
	}
}

// excuse lets a rollout go on without the objects that are not healthy.
func (r *rollout) excuse() {
	for m, c := range r.chosen {
		if !c.healthy {
			c.written = true // It counts.
			r.drop(m, c)
		}
	}
}

// encode is what is stored of a rollout, nil for nothing.
func (s *state) encodeRollout() *v1alpha1.Rollout {
	r := s.rollout
	if s.Rollout == nil || r.wave == 0 && len(r.chosen)+r.earlier == 0 {
		return nil
	}
	marks := slices.Sorted(maps.Keys(r.chosen))
	marks = marks[:min(len(marks), mostCounted)]
	out := &v1alpha1.Rollout{
		Rule: s.ID.Name, Digest: s.Digest, Wave: int64(r.wave), Waves: int64(len(s.Rollout.Waves)),
		Objects: int64(len(r.chosen) + r.earlier), Of: int64(r.watched), Marks: strings.Join(marks, ""),
	}
	out.Since, out.HealthySince = moment(r.began), moment(r.soaking)
	return out
}

// moment is in UTC and whole seconds, nil for none.
func moment(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return new(metav1.NewTime(at.UTC().Truncate(time.Second)))
}

// restore takes over what an earlier process has stored. Objects that had not been healthy are not given more time.
func (r *rollout) restore(stored *v1alpha1.Rollout, now time.Time) {
	r.wave, r.watched = int(stored.Wave), int(stored.Of)
	past := func(at *metav1.Time) time.Time { // Clocks differ.
		if at == nil || at.After(now) {
			return now
		}
		return at.Time
	}
	r.began = past(stored.Since)
	if stored.HealthySince != nil {
		r.soaking = past(stored.HealthySince)
	} else {
		r.sick = r.began
	}
	for i := 0; i+markLength <= len(stored.Marks); i += markLength {
		m := stored.Marks[i : i+markLength]
		if r.chosen[m] == nil {
			r.chosen[m] = &chosen{since: now, healthy: true} // Until it is looked at, and no wave begins before.
		}
	}
	r.earlier = max(0, int(stored.Objects)-len(r.chosen))
}

// RolloutError is why a rule does not write for an object yet.
type RolloutError struct {
	Wave, Waves int // from 1
	Objects, Of int
}

// Error implements error.
func (e *RolloutError) Error() string {
	return fmt.Sprintf("it waits for a later wave of the rollout: wave %d of %d is for %d of %d objects", e.Wave, e.Waves, e.Objects, e.Of)
}

// shortly is a duration as a rule has it.
func shortly(d time.Duration) string {
	return strings.ReplaceAll(strings.ReplaceAll(d.String(), "m0s", "m"), "h0m", "h")
}

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
	wave   int                  // under way, from 0; as many as there are waves once the rule writes for all
	chosen map[string]*chosen   // objects that the rule may write for, by their marks
	marks  map[guard.Key]string // of those that this process has looked at
	// alsoCounted is how many were chosen besides that are gone by now, or were too many to store.
	alsoCounted int
	unhealthy   int       // how many are not healthy, and have to be
	began       time.Time // when the last were chosen
	soaking     time.Time // since when all of them are healthy, zero while not
	// sickSince is since when those are unhealthy that an earlier process has chosen and that are so at the first look, zero for now.
	sickSince time.Time
	// waiting are objects that the rule wants to write for, and is not chosen for. Those of later come after the last wave: the rule could not write
	// for them before users asked it to resume.
	waiting, later map[guard.Key]candidate
	survey
}

// survey is which of the objects were looked at that a rule watches.
type survey struct {
	// seen are those that were since the rule came, nil once all were: who is first is known only then.
	seen    map[guard.Key]bool
	behind  bool // it is not known that caches show all that the process before has done
	number  int  // of the survey: an attempt that began before it does not count
	watched int  // objects, when they were last counted
	counted time.Time
}

// candidate is an object that waits, and what the objects are ordered by.
type candidate struct {
	uid     types.UID
	by      any
	counted bool // it has a place in a wave all the same: something was written for it
}

// chosen is an object that the rule may write for.
type chosen struct {
	tried   bool // this process, or one before it, may have written for it
	written bool // that is known
	healthy bool
	unseen  bool // it was not looked at since the process began, or since the rule is not suspended any more
	// excused says that it does not have to be healthy, and lenient that it is let off, if it is not, when it is looked at after users asked the
	// rule to resume.
	excused, lenient bool
	justWritten      bool      // what it was like before says nothing
	since            time.Time // since when it is healthy or not, zero where its write has not been tried
	reason           string    // why it is not healthy
}

func newRollout() *rollout {
	return &rollout{
		chosen: map[string]*chosen{}, marks: map[guard.Key]string{}, waiting: map[guard.Key]candidate{}, later: map[guard.Key]candidate{},
		survey: survey{seen: map[guard.Key]bool{}},
	}
}

// everywhere reports whether a rule writes for all objects.
func (s *state) everywhere() bool {
	return s.Rollout == nil || s.rollout.wave >= len(s.Rollout.Waves)
}

// objects is how many objects have been chosen.
func (r *rollout) objects() int { return len(r.chosen) + r.alsoCounted }

// size is for how many objects the rule writes in the wave that is under way.
func (s *state) size() int { return s.Rollout.Waves[s.rollout.wave].Of(s.rollout.watched) }

// set notes how a chosen object fares.
func (r *rollout) set(c *chosen, healthy bool, reason string, now time.Time) {
	if healthy != c.healthy || c.since.IsZero() {
		c.since = now
	}
	c.reason = reason
	if healthy == c.healthy {
		return
	}
	c.healthy = healthy
	switch {
	case c.excused:
	case healthy:
		r.unhealthy--
	default:
		r.unhealthy++
		r.soaking = time.Time{}
	}
}

// wrote notes that an object was written for, or may have been where that is not sure.
func (r *rollout) wrote(c *chosen, sure bool, now time.Time) {
	if sure && !c.written { // Later writes do not give it more time: there may be no end of them.
		c.written, c.since = true, now
	}
	c.tried, c.unseen, c.justWritten, c.lenient = true, false, true, false
	r.set(c, false, "the rule has just written for it", now)
}

// waves is one look at the rollout of a rule, while the guard is locked.
type waves struct {
	*state
	now time.Time
}

// waves returns one.
func (s *state) waves() waves { return waves{s, s.guard.clock.Now()} }

// mayBegin says why a rule with a rollout may not write for an object. To clean up after one that is gone, or goes, is no part of a wave.
func (w waves) mayBegin(a *guard.Attempt) error {
	if w.everywhere() || a.Watched == nil || plan.BeingDeleted(a.Watched) {
		return nil
	}
	r, m := w.rollout, mark(a.UID)
	if r.chosen[m] == nil {
		w.wait(a, healthOf(a, w.ID))
		if !w.looked() {
			return ErrUnseen
		}
		w.choose()
	}
	switch {
	case r.chosen[m] == nil:
		return &RolloutError{Wave: r.wave + 1, Waves: len(w.Rollout.Waves), Objects: w.size(), Of: r.watched}
	case w.guard.stores && w.saving != saved:
		return ErrUnstored
	default:
		return nil
	}
}

// drop takes an object out that is gone, or that the rule does not want to write for any more. One that may have been written for stays
// until all objects have been looked at: a cache that is behind does not show that yet, or not even the object.
func (w waves) drop(m string) {
	r := w.rollout
	c := r.chosen[m]
	if c == nil {
		return
	}
	if r.seen != nil && c.tried {
		c.unseen = true
		return
	}
	delete(r.chosen, m)
	if !c.healthy && !c.excused {
		r.unhealthy--
	}
	if c.written {
		r.alsoCounted++
	}
	if len(r.chosen) == 0 { // None is left that was healthy for long enough: the time begins again.
		r.soaking = time.Time{}
	}
	w.save()
}

// unchosen are the objects that wait.
func (r *rollout) unchosen() []guard.Key {
	return slices.AppendSeq(slices.Collect(maps.Keys(r.waiting)), maps.Keys(r.later))
}

// forget notes that an object does not wait.
func (r *rollout) forget(key guard.Key) {
	delete(r.waiting, key)
	delete(r.later, key)
}

// wait notes that the rule wants to write for an object that is not chosen.
func (w waves) wait(a *guard.Attempt, health *plan.Health) {
	waits := candidateOf(a, health)
	if later, is := w.rollout.later[a.Key]; is && later.uid == a.UID {
		waits.counted = later.counted
		w.rollout.later[a.Key] = waits
		return
	}
	w.rollout.waiting[a.Key] = waits
}

func candidateOf(a *guard.Attempt, health *plan.Health) candidate {
	out := candidate{uid: a.UID}
	if health != nil {
		out.by = health.By
	}
	return out
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

// count counts the objects that the rule watches, unless that was done a moment ago, and reports whether all are known.
func (w waves) count() (all bool) {
	w.rollout.watched, all = w.guard.host.Watched(w.Watches)
	w.rollout.counted = w.now
	return all
}

// looked reports whether all objects have been looked at that the rule watches, as caches show them that have taken over.
func (w waves) looked() bool {
	r := w.rollout
	recently := w.now.Sub(r.counted) < countedFor
	switch {
	case r.seen == nil:
		return true
	case len(r.chosen) > 0 && !w.guard.host.HasTakenOver(w.Watches):
		r.behind = true
		return false
	case r.behind:
		w.guard.surveys++
		r.behind, r.number = false, w.guard.surveys
		clear(r.seen)
		w.guard.lookAgain(w.Watches)
		return false
	case len(r.seen) < r.watched && recently, !w.count(), len(r.seen) < r.watched:
		return false
	}
	r.seen = nil
	waiting := slices.Collect(maps.Keys(r.waiting)) // Each was told to wait for the others.
	w.guard.then = append(w.guard.then, func() { w.guard.host.LookAt(waiting) })
	for m, c := range r.chosen {
		if c.unseen { // It went while no process ran, or the rule was suspended.
			w.drop(m)
		}
	}
	w.lookAtSoaking()
	return true
}

// lookAtSoaking has the objects looked at that are looked at again when the wave has soaked: the chosen ones, or those that wait if none is left.
func (w waves) lookAtSoaking() {
	var keys []guard.Key
	for key, m := range w.rollout.marks {
		if w.rollout.chosen[m] != nil {
			keys = append(keys, key)
		}
	}
	if len(w.rollout.chosen) == 0 {
		keys = w.rollout.unchosen()
	}
	w.guard.then = append(w.guard.then, func() { w.guard.host.LookAt(keys) })
}

// choose lets the first of those that wait write, as many as there is room for.
func (w waves) choose() {
	r := w.rollout
	waiting := r.waiting
	if len(waiting) == 0 && r.objects() == 0 {
		waiting = r.later // There are no others.
	}
	if len(waiting) == 0 {
		return
	}
	if w.now.Sub(r.counted) >= countedFor {
		w.count()
	}
	room := w.size() - r.objects()
	if room <= 0 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(waiting), func(a, b guard.Key) int {
		order, _ := value.CompareKeys(waiting[a].by, waiting[b].by)
		return cmp.Or(order, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), a.Compare(b))
	})
	keys = keys[:min(room, len(keys))]
	for _, key := range keys {
		m := mark(waiting[key].uid)
		if r.chosen[m] == nil { // Two objects may have one mark.
			r.chosen[m] = &chosen{reason: unwritten}
			r.unhealthy++
		}
		r.marks[key] = m
		delete(waiting, key)
	}
	r.began, r.soaking = w.now, time.Time{}
	w.save()
	w.guard.then = append(w.guard.then, func() { w.guard.host.LookAt(keys) })
}

const unwritten = "the rule has not written for it yet"

// follow notes how the object fares that was looked at, and returns when it is to be looked at again, zero for never, and why the
// rule has paused, if it has for this object.
func (w waves) follow(c check, wants bool) (at time.Time, stopped error) {
	a := c.attempt
	decided := slices.ContainsFunc(a.Plan.Decisions, func(d plan.Decision) bool { return d.Rule == w.ID })
	health, m, r := healthOf(a, w.ID), mark(a.UID), w.rollout
	goes := a.Watched == nil || !decided || plan.BeingDeleted(a.Watched)
	if slices.Contains(a.Unasked, w.ID) || !goes && health == nil && a.Unanswered {
		return time.Time{}, nil // Nothing is known of it.
	}
	goes = goes || health == nil // The rule does not select it any more.
	if r.seen != nil && a.Watched != nil && decided && c.surveys >= r.number {
		r.seen[a.Key] = true
	}
	soaked := !r.soaking.IsZero()
	switch {
	case goes:
		r.forget(a.Key)
		w.drop(m)
	case r.chosen[m] != nil:
		w.note(m, a, health, wants)
	case wants:
		w.wait(a, health)
	default:
		r.forget(a.Key)
	}
	if soaked && r.soaking.IsZero() {
		w.save()
	}
	if !w.looked() {
		return w.again(r.chosen[m]), nil
	}
	w.advance()
	return w.next(r.chosen[m], wants)
}

// again is when an object is looked at again although not all have been. While caches are behind, the chosen ones ask whether they are still; an
// object that waits asks by itself, see askAgain.
func (w waves) again(c *chosen) time.Time {
	if !w.rollout.behind || c == nil {
		return time.Time{}
	}
	return w.now.Add(countedFor)
}

// next is when a chosen object is to be looked at again, or one that waits if none of those is left, and why the rule pauses instead.
func (w waves) next(c *chosen, waits bool) (at time.Time, stopped error) {
	r := w.rollout
	switch {
	case w.everywhere() || w.pause != nil || c == nil && (!waits || len(r.chosen) > 0):
		return time.Time{}, nil
	case !r.soaking.IsZero():
		return r.soaking.Add(w.Rollout.Soak), nil
	case c == nil || c.healthy || c.excused || !c.written && (w.saving != saved || c.since.IsZero()):
		return time.Time{}, nil
	case c.lenient: // All have been looked at now, so it is let off at the next look.
		return w.now.Add(countedFor), nil
	case w.now.Before(c.since.Add(w.Rollout.Timeout)):
		return c.since.Add(w.Rollout.Timeout), nil
	default:
		return time.Time{}, w.stop()
	}
}

// note notes how a chosen object fares.
func (w waves) note(m string, a *guard.Attempt, health *plan.Health, wants bool) {
	r, c, now := w.rollout, w.rollout.chosen[m], w.now
	if c.unseen && !r.sickSince.IsZero() {
		now = r.sickSince
	}
	r.marks[a.Key] = m
	switch {
	case c.justWritten:
		c.justWritten, c.unseen = false, false
		return
	case wants && !c.written:
		r.set(c, false, unwritten, now)
	case !c.tried:
		w.drop(m) // It needs nothing any more.
		return
	default:
		c.written = true // By the process before, or by a write whose answer was lost.
		r.set(c, health.Healthy, health.Reason, now)
	}
	if c.unseen = false; c.lenient && r.seen == nil {
		if c.lenient = false; !c.healthy {
			w.letOff(a.Key, m, candidateOf(a, health), wants)
		}
	}
}

// advance begins the next wave, once all that were chosen have been healthy for long enough, and nobody waits for whom there is room.
func (w waves) advance() {
	r := w.rollout
	for w.pause == nil && !w.everywhere() {
		w.choose()
		switch {
		case r.unhealthy > 0 || r.objects() == 0:
			return
		case r.soaking.IsZero():
			r.soaking = w.now
			w.save()
			w.lookAtSoaking()
		}
		if w.now.Before(r.soaking.Add(w.Rollout.Soak)) {
			return
		}
		r.wave++
		w.save()
		id, wave, objects := w.ID.String(), r.wave, r.objects()
		w.guard.then = append(w.guard.then, func() { w.guard.log.Info("wave of a rollout is over", "rule", id, "wave", wave, "objects", objects) })
	}
	if w.everywhere() {
		waiting := r.unchosen()
		*r = rollout{wave: r.wave, alsoCounted: r.objects(), survey: survey{watched: r.watched}}
		w.guard.then = append(w.guard.then, func() { w.guard.host.LookAt(waiting) })
	}
}

// stop pauses a rule whose objects are not healthy in time.
func (w waves) stop() error {
	const most = 3 // are named
	r := w.rollout
	var names []string
	for _, key := range slices.SortedFunc(maps.Keys(r.marks), guard.Key.Compare) {
		if c := r.chosen[r.marks[key]]; c != nil && !c.healthy && !c.excused {
			names = append(names, fmt.Sprintf("%s (%s)", key.Object(), c.reason))
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return w.begin(v1alpha1.Pause{
		Objects: int64(r.objects()), Of: int64(r.watched), Unhealthy: strings.Join(names, ", "),
		Limit: w.Rollout.Waves[r.wave].String(), Per: shortly(w.Rollout.Timeout),
	}, w.now)
}

// Forget implements [guard.Forgetter]: nobody waits for an object that is gone, or that no rule watches any more.
func (g *Guard) Forget(key guard.Key) {
	g.mu.Lock()
	defer g.unlock()
	for _, s := range g.all() {
		if s.everywhere() || s.Suspended {
			continue
		}
		r := s.rollout
		r.forget(key)
		delete(r.seen, key)
		w := s.waves()
		w.drop(r.marks[key])
		delete(r.marks, key)
		if s.may() == nil && w.looked() {
			w.advance()
		}
	}
}

// storable is what is stored of a rollout, nil for nothing. An object that is excused is only counted.
func (s *state) storable() *v1alpha1.Rollout {
	r := s.rollout
	if s.Rollout == nil || r.wave == 0 && r.objects() == 0 {
		return nil
	}
	var written, unsure []string
	for m, c := range r.chosen {
		switch {
		case c.excused:
		case c.written:
			written = append(written, m)
		default:
			unsure = append(unsure, m)
		}
	}
	slices.Sort(written)
	slices.Sort(unsure)
	unsure = unsure[:min(len(unsure), mostCounted)]
	written = written[:min(len(written), mostCounted-len(unsure))]
	out := &v1alpha1.Rollout{
		Rule: s.ID.Name, Digest: s.Digest, Wave: int64(r.wave), Waves: int64(len(s.Rollout.Waves)),
		Objects: int64(r.objects()), Of: int64(r.watched), Marks: strings.Join(written, ""), Unsure: strings.Join(unsure, ""),
	}
	if !s.Suspended { // Who goes on with it begins to count then.
		out.Since, out.HealthySince = moment(r.began), moment(r.soaking)
	}
	return out
}

// Rollouts tells how far rules have come that are new or have changed, without their marks. Of a rule that has written for no
// object yet it tells nothing.
func (g *Guard) Rollouts() map[plan.Rule]v1alpha1.Rollout {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[plan.Rule]v1alpha1.Rollout{}
	for id, s := range g.all() {
		if one := s.storable(); one != nil {
			one.Marks, one.Unsure = "", ""
			out[id] = *one
		}
	}
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
	r.wave, r.behind = max(0, int(stored.Wave)), true
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
		r.sickSince = r.began
	}
	for marks, written := range map[string]bool{stored.Marks: true, stored.Unsure: false} {
		for i := 0; i+markLength <= len(marks); i += markLength { // They count as healthy until they are looked at: no wave begins before.
			r.chosen[marks[i:i+markLength]] = &chosen{tried: true, written: written, healthy: true, unseen: true}
		}
	}
	r.alsoCounted = max(0, int(stored.Objects)-len(r.chosen))
}

// goOn has all objects looked at anew, of a rule that was suspended: how they have fared meanwhile is not known, as after a restart. Those
// that are not healthy have time from now on.
func (r *rollout) goOn(now time.Time) {
	r.began, r.sickSince, r.soaking, r.unhealthy = now, now, time.Time{}, 0
	r.waiting, r.seen = map[guard.Key]candidate{}, map[guard.Key]bool{}
	for _, c := range r.chosen {
		c.unseen, c.healthy, c.justWritten = true, true, false
	}
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

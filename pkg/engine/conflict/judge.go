package conflict

import (
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// judgement is what a write to one field says of who undoes the rule.
type judgement struct {
	rival Rival
	// outside says that the rival is none of our rules.
	outside bool
}

// judging is a write in the light of what is known of the object.
type judging struct {
	tracker *Tracker
	ledger  *ledger
	write   Write
	now     time.Time
	turn    uint64
	// untouched says that nobody else has changed the object since we wrote to it.
	untouched bool
	// again are the rules that were undone, and named the contests that are new.
	again map[plan.Rule]bool
	named []*contested
}

// field takes what was written to one field, and notes it.
func (j *judging) field(written Field) writer {
	s := sideOf(j.write, written.Rule)
	sent, stored := j.tracker.digest(written.After), j.tracker.digest(written.Answered)
	latest := j.ledger.latest(written.Path)
	f := j.ledger.of(written.Path)
	known := f.by(s)
	if known.turn > 0 && latest != nil {
		j.weigh(written, s, f, latest, known, sent)
	}
	known.turn, known.sent, known.uid = j.turn, sent, j.write.UID
	known.basis, known.until = j.write.Basis.digest, j.write.Basis.until
	f.last, f.sent, f.stored = writer{&known.side, j.turn}, sent, stored
	return f.last
}

// weigh finds out whether the write is a repeat, and counts it.
func (j *judging) weigh(written Field, s side, f, latest *field, known *effort, sent uint64) {
	found := j.culprit(written, s, f, latest, known.sent == sent)
	c := j.ledger.contests[s.rule]
	held := c != nil && c.held && slices.ContainsFunc(c.Paths, func(p plan.Path) bool { return slices.Equal(p, written.Shown) })
	switch {
	case held: // It has wanted the next write sooner than it could.
	case written.deletes() && known.uid == j.write.UID:
		return // It has not come back: it was not gone yet.
	case found.outside:
		if known.sent != sent {
			return
		}
	case !j.quiet(known):
		known.repeats = 0 // Others have a part in it.
		return
	}
	j.repeat(written, known, j.blame(found, s, known))
}

// culprit is who has changed the field since the rule wrote there.
func (j *judging) culprit(written Field, s side, f, latest *field, returned bool) judgement {
	// Of an object that nobody else has touched, a cache may show less than came back. What
	// comes and goes is known for sure.
	tells := !j.untouched || len(written.Path) == 0
	if tells && latest == f && j.tracker.digest(written.Before) != f.stored {
		return judgement{rival: j.stranger(written), outside: true}
	}
	by := latest.last.side
	switch {
	case by.rule != s.rule || by.watched != s.watched:
		return judgement{rival: Rival{Kind: Rule, Rule: by.rule, Watched: by.watched}}
	case latest == f && returned && f.stored != f.sent:
		return judgement{rival: Rival{Kind: Admission}, outside: true}
	default:
		return judgement{rival: Rival{Kind: Itself}}
	}
}

// stranger names who has changed a field from outside.
func (j *judging) stranger(written Field) Rival {
	if found := managerOf(j.write.Live, written.Path); found.Kind != Unknown {
		return found
	}
	if c := j.ledger.contests[written.Rule]; c != nil && (c.Rival.Kind == Manager || c.Rival.Kind == OtherIdentity) {
		return c.Rival // It had left its name before.
	}
	return Rival{Kind: Unknown}
}

// blame looks for another rule where a rule seems to undo itself: its writes may lead to
// others, which lead to its next one.
func (j *judging) blame(found judgement, s side, known *effort) Rival {
	if found.rival.Kind != Itself {
		return found.rival
	}
	for _, w := range j.write.Basis.writers {
		if w.turn > known.turn && (w.side.rule != s.rule || w.side.watched != s.watched) {
			return Rival{Kind: Rule, Rule: w.side.rule, Watched: w.side.watched}
		}
	}
	return found.rival
}

// quiet reports whether nothing has changed since but by our own writes, and the clock has
// no part in this one: it was not due, nor has a moment come that the last one knew of.
func (j *judging) quiet(known *effort) bool {
	passed := !known.until.IsZero() && !j.now.Before(known.until)
	return known.basis == j.write.Basis.digest && !passed && !j.write.Basis.due
}

// repeat counts one, and names the contest where there were enough.
func (j *judging) repeat(written Field, known *effort, rival Rival) {
	if known.repeats == 0 || j.now.Sub(known.repeated) > Window {
		known.repeats, known.since = 0, j.now
	}
	known.repeats++
	known.repeated = j.now
	rule := written.Rule
	c := j.ledger.contests[rule]
	if c == nil && known.repeats < Repeats {
		return
	}
	if c == nil {
		c = &contested{Conflict: Conflict{Rule: rule, Target: j.write.Target, Since: known.since, Rounds: known.repeats - 1}}
		c.Next = j.now.Add(Interval)
		if j.ledger.contests == nil {
			j.ledger.contests = map[plan.Rule]*contested{}
		}
		j.ledger.contests[rule] = c
		j.named = append(j.named, c)
	}
	c.last, c.Rival, c.Watched = j.now, rival, j.write.Watched
	if !slices.ContainsFunc(c.Paths, func(p plan.Path) bool { return slices.Equal(p, written.Shown) }) && len(c.Paths) < maxFields {
		c.Paths = append(c.Paths, slices.Clone(written.Shown))
	}
	if !j.again[rule] {
		j.again[rule] = true
		c.Rounds++
	}
}

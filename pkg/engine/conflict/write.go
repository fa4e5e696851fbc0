package conflict

import (
	"hash/maphash"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Write is one request that changed an object.
type Write struct {
	Watched    Object // for which the rules were evaluated
	WatchedUID types.UID
	Target     Object
	UID        types.UID // of the target; as it came back where it was made
	// Found is the resourceVersion that was written to, and Left the one that came back.
	// Either is empty where there is none, or it is not known.
	Found, Left string
	// Fields are what was written, each with the rule that wanted it.
	Fields []Field
	// Basis is what the rules were evaluated by.
	Basis Basis
	// Live is the target as it was read live just before, nil where it was not. It has all
	// of its managedFields.
	Live map[string]any
}

// Field is what a rule wrote to one field.
type Field struct {
	Rule plan.Rule
	Path plan.Path
	// Shown is the path as it may be told.
	Shown plan.Path
	// Before is the value that was found, After the one that was sent, and Answered the one
	// that came back.
	Before, After, Answered any
}

// What stands for the value of an object as a whole.
const (
	absent  = "absent"
	present = "present"
	foreign = "owned by others"
	owned   = "owned"
)

// Making is a rule that makes an object which is not there.
func Making(rule plan.Rule) Field {
	return Field{Rule: rule, Before: absent, After: present, Answered: present}
}

// Deleting is a rule that deletes one.
func Deleting(rule plan.Rule) Field {
	return Field{Rule: rule, Before: present, After: absent, Answered: absent}
}

// Owning is a rule that takes on fields which have the values that it wants.
func Owning(rule plan.Rule) Field {
	return Field{Rule: rule, Before: foreign, After: owned, Answered: owned}
}

func (f Field) deletes() bool { return len(f.Path) == 0 && f.After == absent }

// joined has each field of each rule once, as it was found first and left last.
func joined(fields []Field) []Field {
	out := make([]Field, 0, len(fields))
	for _, next := range fields {
		at := slices.IndexFunc(out, func(f Field) bool { return f.Rule == next.Rule && slices.Equal(f.Path, next.Path) })
		if at < 0 {
			out = append(out, next)
			continue
		}
		out[at].After, out[at].Answered = next.After, next.Answered
	}
	return out
}

// Input is an object that an evaluation read.
type Input = guard.Input

// Basis stands for what an evaluation read: two of the same one read the same, but for
// what our own writes have changed.
type Basis struct {
	digest uint64
	// due says that time alone led to it: the rules wanted nothing before a moment came.
	due bool
	// until is when time alone changes what the rules want, zero for never.
	until time.Time
	// writers are the last writers of what was read, as far as they are ours.
	writers []writer
	// open are inputs that a write under way may have left as they were read.
	open []Input
}

// maxWriters bounds the writers of a basis.
const maxWriters = 8

// Basis is that of an evaluation: what it read, whether it was due because the rules wanted
// nothing until a moment that has come, and when time alone changes what came of it, zero
// for never. It has to be made before anything is written that the evaluation led to. Each
// input counts as often as it is given.
func (t *Tracker) Basis(read []Input, due bool, until time.Time) Basis {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := Basis{due: due, until: until}
	for _, input := range read {
		known := t.peek(input.Object)
		if known != nil && known.pending > 0 && known.state(input.Version) == nil {
			out.open = append(out.open, input)
			continue
		}
		out.take(t.seed, known, input)
	}
	return out
}

// take adds an input.
func (b *Basis) take(seed maphash.Seed, known *ledger, input Input) {
	var state *state
	if known != nil {
		state = known.state(input.Version)
	}
	if state == nil {
		b.digest += maphash.Comparable(seed, input)
		return
	}
	// That we have changed it is no news, but that others did in between is.
	b.digest += maphash.Comparable(seed, ours{input.Object, state.foreign})
	b.writers = withWriter(b.writers, state.writer)
}

// closed is a basis once it is known what the writes have left that were under way.
func (t *Tracker) closed(b Basis) Basis {
	b.writers = slices.Clone(b.writers)
	for _, input := range b.open {
		b.take(t.seed, t.peek(input.Object), input)
	}
	b.open = nil
	return b
}

// ours stands for an object that is as we left it.
type ours struct {
	object  Object
	foreign uint64
}

func withWriter(all []writer, w writer) []writer {
	for i, known := range all {
		if *known.side == *w.side {
			all[i].turn = max(known.turn, w.turn)
			return all
		}
	}
	if len(all) == maxWriters {
		return all
	}
	return append(all, w)
}

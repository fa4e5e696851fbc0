package inventory

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Book is what sets may have left in the cluster, which of their rules are paused, and for
// what rules with limits have written: sorted, each once. It is immutable; the zero value is empty.
type Book struct {
	leftovers []plan.Leftover
	pauses    []limit.Pause
	counts    []limit.Count
}

// NewBook returns a book of the leftovers. Of two that are the same thing it has the
// first in order, and none that another covers.
func NewBook(leftovers ...plan.Leftover) Book {
	at := placesOf(leftovers)
	sorted := slices.SortedStableFunc(slices.Values(leftovers), plan.Leftover.Compare)
	sorted = slices.CompactFunc(sorted, func(a, b plan.Leftover) bool { return a.Thing() == b.Thing() })
	covered := func(l plan.Leftover) bool { return l.Namespace != "" && at[everywhere(l)][""] }
	return Book{leftovers: slices.DeleteFunc(sorted, covered)}
}

// Pauses lists the rules that are paused, in order.
func (b Book) Pauses() []limit.Pause { return slices.Clone(b.pauses) }

// Pausing returns the book with just these pauses, of which it has one for each rule.
func (b Book) Pausing(pauses ...limit.Pause) Book {
	b.pauses = limit.Sorted(pauses)
	return b
}

// Counts lists for what rules with limits have written, in order.
func (b Book) Counts() []limit.Count { return slices.Clone(b.counts) }

// Counting returns the book with just these counts.
func (b Book) Counting(counts ...limit.Count) Book {
	b.counts = limit.SortedCounts(slices.Clone(counts))
	return b
}

// And returns the book with all that another says. What the other says of a rule counts.
func (b Book) And(other Book) Book {
	return b.With(other.leftovers...).Pausing(slices.Concat(other.pauses, b.pauses)...).Counting(slices.Concat(other.counts, b.counts)...)
}

// All lists the leftovers in order.
func (b Book) All() []plan.Leftover { return slices.Clone(b.leftovers) }

// Equal reports whether two books say the same.
func (b Book) Equal(other Book) bool {
	return slices.Equal(b.leftovers, other.leftovers) && slices.EqualFunc(b.pauses, other.pauses, samePause) &&
		slices.EqualFunc(b.counts, other.counts, sameCount)
}

func sameCount(a, b limit.Count) bool {
	same := a.At.Equal(b.At)
	a.At = b.At
	return same && a == b
}

// samePause takes an instant for what it is, wherever it is told.
func samePause(a, b limit.Pause) bool {
	same := a.Since.Equal(b.Since)
	a.Since = b.Since
	return same && a == b
}

// With returns the book with the leftovers. What a rule says of one now, its version
// and its policy, counts wherever the rule has left it before.
func (b Book) With(leftovers ...plan.Leftover) Book {
	now := map[plan.Leftover]plan.Leftover{}
	for _, l := range leftovers {
		now[everywhere(l)] = l
	}
	all := slices.Clone(leftovers)
	for _, l := range b.leftovers {
		if said, found := now[everywhere(l)]; found {
			said.Namespace = l.Namespace
			l = said
		}
		all = append(all, l)
	}
	return NewBook(all...).Pausing(b.pauses...).Counting(b.counts...)
}

// Without returns the book without what has been cleaned up. A rule may have come
// back in the meantime, so what rules leave now is to be added again in the same
// update: b.Without(done...).With(current...).
func (b Book) Without(done ...plan.Leftover) Book {
	at := placesOf(done)
	return Book{slices.DeleteFunc(b.All(), at.cover), b.pauses, b.counts}
}

// Stale returns what is in the book although no rule leaves it any more: of sets
// that still exist, where a rule was removed or changed, and of sets that are gone
// altogether. Current is what the rules leave now, and rules are all that exist,
// among them those that leave nothing.
//
// What a rule still leaves on objects of the resource is not stale, whatever the
// version or policy was that it was recorded with. Where a rule was everywhere and
// now keeps to some namespaces, that stays in the book until the rule is gone.
func (b Book) Stale(current []plan.Leftover, rules []plan.Rule) (removed, gone Book) {
	at := placesOf(current)
	sets := map[plan.Rule]bool{}
	for _, rule := range rules {
		sets[rule.OfSet()] = true
	}
	for _, l := range b.leftovers {
		switch {
		case at.meet(l):
		case sets[l.Rule.OfSet()]:
			removed.leftovers = append(removed.leftovers, l)
		default:
			gone.leftovers = append(gone.leftovers, l)
		}
	}
	return removed, gone
}

// Covered returns those of the leftovers that the book has, wherever it has them.
func (b Book) Covered(leftovers []plan.Leftover) []plan.Leftover {
	at := placesOf(b.leftovers)
	return slices.DeleteFunc(slices.Clone(leftovers), func(l plan.Leftover) bool { return !at.cover(l) })
}

// split is the part of a book that is somebody's, and the rest. A pause is whose a
// leftover of the process itself would be.
func (b Book) split(mine func(plan.Leftover) bool) (own, others Book) {
	for _, p := range b.pauses {
		if mine(plan.Leftover{Rule: p.Rule}) {
			own.pauses = append(own.pauses, p)
		} else {
			others.pauses = append(others.pauses, p)
		}
	}
	for _, c := range b.counts {
		if mine(plan.Leftover{Rule: c.Rule}) {
			own.counts = append(own.counts, c)
		} else {
			others.counts = append(others.counts, c)
		}
	}
	for _, l := range b.leftovers {
		if mine(l) {
			own.leftovers = append(own.leftovers, l)
		} else {
			others.leftovers = append(others.leftovers, l)
		}
	}
	return own, others
}

// places are the namespaces of leftovers, by what they are wherever they are.
type places map[plan.Leftover]map[string]bool

func placesOf(leftovers []plan.Leftover) places {
	p := places{}
	for _, l := range leftovers {
		key := everywhere(l)
		if p[key] == nil {
			p[key] = map[string]bool{}
		}
		p[key][l.Namespace] = true
	}
	return p
}

func everywhere(l plan.Leftover) plan.Leftover {
	l.Namespace = ""
	return l.Thing()
}

// cover reports whether one of the leftovers covers l.
func (p places) cover(l plan.Leftover) bool {
	at := p[everywhere(l)]
	return at[""] || at[l.Namespace]
}

// meet reports whether one of the leftovers may be on an object that l is on.
func (p places) meet(l plan.Leftover) bool {
	return p.cover(l) || l.Namespace == "" && len(p[everywhere(l)]) > 0
}

// sets splits the book by the id of the set.
func (b Book) sets() map[string]Book {
	out := map[string]Book{}
	for _, l := range b.leftovers {
		of := out[l.Rule.SetID()]
		of.leftovers = append(of.leftovers, l)
		out[l.Rule.SetID()] = of
	}
	for _, p := range b.pauses {
		of := out[p.Rule.SetID()]
		of.pauses = append(of.pauses, p)
		out[p.Rule.SetID()] = of
	}
	for _, c := range b.counts {
		of := out[c.Rule.SetID()]
		of.counts = append(of.counts, c)
		out[c.Rule.SetID()] = of
	}
	return out
}

// Package clause takes conditions apart, to tell whether two of them can hold for the
// same object.
//
//	Program -> Of -> Condition -> Exclusive
//
// It is careful in one direction: two conditions that it calls exclusive surely are,
// but of two that it does not call so nothing is known.
package clause

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Names says what the names of a condition stand for.
type Names interface {
	// Definition returns the expression of a let, nil for other names.
	Definition(name string) *expression.Program
	// Root returns how a name that is no let is called in all conditions that are to be
	// compared: in two rules the same name may mean different things. stored says that
	// it is what the cluster stores: an object, or a list of them.
	Root(name string) (called string, stored bool)
	// Constant returns the value of a name if it is known.
	Constant(name string) (v any, known bool)
}

// Condition is a condition taken apart. It is immutable. The zero value always holds.
type Condition struct {
	// ways are the ways in which it can hold, nil for any, and empty for none.
	ways []way
	// always is what is the same in all ways: where that differs, nothing else matters.
	always way
}

// way is what has to be so, all at once, in the order of the terms. Each is there once.
type way []literal

// literal says which values a term can have.
type literal struct {
	term    string
	allowed values
}

// mostWays is how many ways a condition keeps apart. Of one that has more some part is
// taken to hold always, which is careful.
const mostWays = 64

// Of takes a condition apart, as far as the work goes.
func Of(p *expression.Program, names Names, work *Work) Condition {
	r := &reader{names: names, work: work, left: mostNodes, text: mostText}
	return condition(r.ways(p.Tree().Node, true))
}

func condition(ways []way) Condition {
	if len(ways) == 0 {
		return Condition{ways: ways}
	}
	always := ways[0]
	for _, other := range ways[1:] {
		always = always.common(other)
	}
	return Condition{ways, always}
}

// And returns the condition that both hold.
func And(a, b Condition, work *Work) Condition { return condition(both(a.ways, b.ways, work)) }

// Exclusive reports whether it is certain that two conditions never hold at once. Once
// the work is spent, nothing is certain any more.
func Exclusive(a, b Condition, work *Work) bool {
	never := func(c Condition) bool { return c.ways != nil && len(c.ways) == 0 }
	if a.ways == nil || b.ways == nil {
		return never(a) || never(b)
	}
	if _, possible := a.always.and(b.always, work); !possible {
		return true
	}
	for _, one := range a.ways {
		for _, other := range b.ways {
			if _, possible := one.and(other, work); possible {
				return false
			}
		}
	}
	return true
}

// common is what a part of a condition has left in both ways.
func (w way) common(other way) (out way) {
	for len(w) > 0 && len(other) > 0 {
		switch order := strings.Compare(w[0].term, other[0].term); {
		case order < 0:
			w = w[1:]
		case order > 0:
			other = other[1:]
		default:
			if w[0].allowed.is(other[0].allowed) {
				out = append(out, w[0])
			}
			w, other = w[1:], other[1:]
		}
	}
	return out
}

// and joins two ways, unless a term would have to have two values at once. Whatever is
// not looked at for want of work is possible.
func (w way) and(other way, work *Work) (joined way, possible bool) {
	if !work.Spend(len(w) + len(other)) {
		return w, true
	}
	joined = make(way, 0, len(w)+len(other))
	for len(w) > 0 && len(other) > 0 {
		switch order := strings.Compare(w[0].term, other[0].term); {
		case order < 0:
			joined, w = append(joined, w[0]), w[1:]
		case order > 0:
			joined, other = append(joined, other[0]), other[1:]
		default:
			allowed := w[0].allowed.and(other[0].allowed, work)
			if allowed.empty(work) {
				return nil, false
			}
			joined = append(joined, literal{w[0].term, allowed})
			w, other = w[1:], other[1:]
		}
	}
	return slices.Concat(joined, w, other), true
}

// both joins each way of the one with each of the other. Where these are too many, the
// one alone stands for both.
func both(a, b []way, work *Work) []way {
	switch {
	case a == nil:
		return b
	case b == nil, len(a)*len(b) > mostWays:
		return a
	}
	out := make([]way, 0, len(a)*len(b))
	for _, one := range a {
		for _, other := range b {
			if joined, possible := one.and(other, work); possible {
				out = append(out, joined)
			}
		}
	}
	return out
}

// either is what holds where one of two does.
func either(a, b []way) []way {
	if a == nil || b == nil || len(a)+len(b) > mostWays {
		return nil
	}
	return append(slices.Clip(a), b...)
}

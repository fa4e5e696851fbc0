package clause

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// values is a set of values that a term can have. Those that it names are scalars.
type values struct {
	nothing bool  // it can be nil
	only    []any // nil for all, but those of not
	not     []any
	// low and high bound numbers; nil for no bound.
	low, high *bound
}

// mostValues is how many values a set names.
const mostValues = 64

// bound is a number that values end at, or before.
type bound struct {
	at   any // an int64 or a float64, which are compared exactly
	open bool
}

// scalar reports whether two values of this kind are compared in one step.
func scalar(v any) bool {
	switch v.(type) {
	case nil, bool, string, int64, float64:
		return true
	default:
		return false
	}
}

// compared returns the values that compare so with a constant; ok is false where that
// is not understood.
func compared(operator string, against any) (v values, ok bool) {
	switch {
	case !scalar(against):
		return values{}, false
	case operator == "==":
		return among([]any{against}, true), true
	case operator == "!=":
		return among([]any{against}, false), true
	case value.KindOf(against)&value.Number == 0:
		return values{}, false
	}
	at := &bound{at: against, open: operator == "<" || operator == ">"}
	if operator == "<" || operator == "<=" {
		return values{high: at}, true
	}
	return values{low: at}, true
}

// among returns the values of a list, or all others.
func among(list []any, in bool) values {
	named := slices.DeleteFunc(slices.Clone(list), func(one any) bool { return one == nil })
	null := len(named) < len(list)
	if in {
		return values{only: slices.Clip(named), nothing: null}
	}
	return values{not: slices.Clip(named), nothing: !null}
}

// or lets a default stand in for nil; nil is no default.
func (v values) or(otherwise any, work *Work) values {
	if otherwise != nil {
		v.nothing = v.has(otherwise, work)
	}
	return v
}

// is reports whether two sets are the same one, and not only alike.
func (v values) is(w values) bool {
	same := func(a, b []any) bool {
		return (a == nil) == (b == nil) && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	}
	return v.nothing == w.nothing && same(v.only, w.only) && same(v.not, w.not) && v.low == w.low && v.high == w.high
}

// mirrored is the operator with its sides exchanged.
func mirrored(operator string) string {
	switch operator {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	default:
		return operator
	}
}

// negated is the operator that holds where a comparison does not.
func negated(operator string) string {
	switch operator {
	case "==":
		return "!="
	case "!=":
		return "=="
	case "<":
		return ">="
	case "<=":
		return ">"
	case ">":
		return "<="
	default:
		return "<"
	}
}

// and returns the values of both sets. Of very many that it excludes some are forgotten,
// which is careful.
func (v values) and(w values, work *Work) values {
	out := values{
		nothing: v.nothing && w.nothing, only: v.only, not: v.not,
		low: v.low, high: v.high,
	}
	if len(v.not)+len(w.not) <= mostValues {
		out.not = slices.Concat(v.not, w.not)
	}
	switch {
	case v.only == nil:
		out.only = w.only
	case w.only != nil:
		out.only = slices.DeleteFunc(slices.Clone(v.only), func(one any) bool { return !contains(w.only, one, work) })
	}
	if w.low.narrows(v.low, 1) {
		out.low = w.low
	}
	if w.high.narrows(v.high, -1) {
		out.high = w.high
	}
	return out
}

// narrows reports whether a bound leaves out more than another, in the direction in
// which it bounds.
func (b *bound) narrows(other *bound, direction int) bool {
	if b == nil || other == nil {
		return b != nil
	}
	order := direction * compare(b.at, other.at)
	return order > 0 || order == 0 && b.open
}

// empty reports whether there is surely no such value.
func (v values) empty(work *Work) bool {
	if v.nothing {
		return false
	}
	if v.only != nil {
		return !slices.ContainsFunc(v.only, func(one any) bool { return v.has(one, work) })
	}
	if v.low == nil || v.high == nil {
		return false
	}
	order := compare(v.low.at, v.high.at)
	return order > 0 || order == 0 && (v.low.open || v.high.open)
}

// has reports whether a value is in the set. Without work it may be.
func (v values) has(one any, work *Work) bool {
	if v.only != nil && !contains(v.only, one, work) || len(v.not) > 0 && contains(v.not, one, work) && !work.Spent() {
		return false
	}
	if value.KindOf(one)&value.Number == 0 {
		return v.low == nil && v.high == nil
	}
	return v.low.admits(one, 1) && v.high.admits(one, -1)
}

// admits reports whether a number is within a bound.
func (b *bound) admits(number any, direction int) bool {
	if b == nil {
		return true
	}
	order := direction * compare(number, b.at)
	return order > 0 || order == 0 && !b.open
}

// contains reports whether a value is among others, which takes them to be it where
// there is no work to look.
func contains(all []any, one any, work *Work) bool {
	return !work.Spend(len(all)) || slices.ContainsFunc(all, func(other any) bool { return same(one, other) })
}

func same(a, b any) bool {
	order, ok := value.Compare(a, b)
	return ok && order == 0 || a == b
}

// compare orders two numbers.
func compare(a, b any) int {
	order, _ := value.Compare(a, b)
	return order
}

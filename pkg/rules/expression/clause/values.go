package clause

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// values is a set of values that a term can have.
type values struct {
	nothing bool  // it can be nil
	only    []any // nil for all, but those of not
	not     []any
	// low and high bound numbers; nil for no bound.
	low, high *bound
}

// bound is a number that values end at, or before.
type bound struct {
	at   float64
	open bool
}

func anything() values { return values{nothing: true} }

// compared returns the values that compare so with a constant; ok is false where that
// is not understood.
func compared(operator string, against any) (v values, ok bool) {
	if against == nil {
		switch operator {
		case "==":
			return values{only: []any{}, nothing: true}, true
		case "!=":
			return values{}, true
		default:
			return values{}, false
		}
	}
	switch operator {
	case "==":
		return values{only: []any{against}}, true
	case "!=":
		return values{not: []any{against}, nothing: true}, true
	}
	number, isNumber := float(against)
	if !isNumber {
		return values{}, false
	}
	switch operator {
	case "<":
		return values{high: &bound{number, true}}, true
	case "<=":
		return values{high: &bound{number, false}}, true
	case ">":
		return values{low: &bound{number, true}}, true
	case ">=":
		return values{low: &bound{number, false}}, true
	default:
		return values{}, false
	}
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

// negated is the operator that holds where the other does not.
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
	case ">=":
		return "<"
	default:
		return "" // Not understood.
	}
}

func float(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	default:
		return 0, false
	}
}

// and returns the values of both sets.
func (v values) and(w values) values {
	out := values{
		nothing: v.nothing && w.nothing, only: v.only, not: slices.Concat(v.not, w.not),
		low: v.low, high: v.high,
	}
	switch {
	case v.only == nil:
		out.only = w.only
	case w.only != nil:
		out.only = slices.DeleteFunc(slices.Clone(v.only), func(one any) bool { return !contains(w.only, one) })
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
func (b *bound) narrows(other *bound, direction float64) bool {
	if b == nil || other == nil {
		return b != nil
	}
	return direction*b.at > direction*other.at || b.at == other.at && b.open
}

// empty reports whether there is surely no such value.
func (v values) empty() bool {
	if v.nothing {
		return false
	}
	if v.only != nil {
		return !slices.ContainsFunc(v.only, v.has)
	}
	if v.low == nil || v.high == nil {
		return false
	}
	return v.low.at > v.high.at || v.low.at == v.high.at && (v.low.open || v.high.open)
}

// has reports whether a value is in the set.
func (v values) has(one any) bool {
	if v.only != nil && !contains(v.only, one) || contains(v.not, one) {
		return false
	}
	number, isNumber := float(one)
	if !isNumber {
		return v.low == nil && v.high == nil
	}
	return v.low.admits(number, 1) && v.high.admits(number, -1)
}

// admits reports whether a number is within a bound.
func (b *bound) admits(number, direction float64) bool {
	return b == nil || direction*number > direction*b.at || number == b.at && !b.open
}

func contains(all []any, one any) bool {
	return slices.ContainsFunc(all, func(other any) bool {
		same, err := value.Equal(one, other, value.NewBudget(0))
		return err == nil && same
	})
}

package check

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// known is what is known where a node is evaluated.
type known struct {
	// names is of the names of the scope, which other expressions share, and own of what
	// only this expression has: its variables and the elements of its predicates.
	names, own *typing.Facts
	// never says that evaluation does not come here.
	never bool
}

// with adds that there is something at a place.
func (k known) with(p place) known {
	if p.own {
		k.own = k.own.With(p.root, p.path...)
	} else {
		k.names = k.names.With(p.root, p.path...)
	}
	return k
}

// has reports whether there is something at a place.
func (k known) has(p place) bool {
	if p.own {
		return k.own.Has(p.root, p.path...)
	}
	return k.names.Has(p.root, p.path...)
}

// or is what is known where evaluation comes from either of two places.
func (k known) or(l known) known {
	switch {
	case k.never:
		return l
	case l.never || k == l:
		return k
	default:
		return known{names: k.names.Common(l.names), own: k.own.Common(l.own)}
	}
}

// result is what a node gives: its type, and what is known once it has been
// evaluated, where it is true and where it is not.
type result struct {
	of      typing.Type
	yes, no known
	// quantity says that it can be a text of the schema that writes a quantity.
	quantity bool
	// zero is the one that is never stored of the field: absence is in its place.
	zero value.Kind
	made *made // nil where that is not written out
}

// gives is the result of a node that is no condition.
func gives(t typing.Type, after known) result { return result{of: t, yes: after, no: after} }

// after is what is known once the node has been evaluated.
func (r result) after() known { return r.yes.or(r.no) }

// but is the result with another type.
func (r result) but(t typing.Type) result {
	r.of = t
	return r
}

// where adds to what is known in any case.
func (r result) where(add func(known) known) result {
	r.yes, r.no = add(r.yes), add(r.no)
	return r
}

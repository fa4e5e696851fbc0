package check

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// decided says where evaluation never comes, for a condition that is a constant, such as
// a parameter.
func (r result) decided() result {
	if v, only := written(r.of); only {
		holds, is := v.(bool)
		r.yes.never = r.yes.never || is && !holds
		r.no.never = r.no.never || is && holds
	}
	return r
}

// decide is decided for a comparison of constants.
func (c *checker) decide(n *expression.Binary, left, right typing.Type, r result) result {
	one, isOne := written(left)
	other, isOther := constantOf(n.Right, right)
	if !isOne || !isOther || n.Operator != "in" && right.Literals() == nil {
		return r
	}
	outcome, known := holds(n.Operator, one, other)
	if !known {
		return r
	}
	r.yes.never = r.yes.never || !outcome
	r.no.never = r.no.never || outcome
	return r
}

// written returns the only value that there can be, if it stands in the rules: what a
// schema says may not hold yet.
func written(t typing.Type) (v any, only bool) {
	all, known := t.Constants()
	if !known || len(all) != 1 || len(t.Literals()) != 1 || t.CanBeNil() {
		return nil, false
	}
	return all[0], true
}

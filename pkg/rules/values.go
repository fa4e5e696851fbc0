package rules

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// values resolves the names of one evaluation, each at most once. It is not for
// concurrent use.
type values struct {
	rule        *Rule
	object      any
	memos       []memo  // by slot
	spare       *[]memo // room for them, left by the rule before
	expressions *expression.Evaluation
	reader      *relation.Reader
}

type memo struct {
	done  bool
	value any
	err   error
}

// Value implements [expression.Names].
func (n *values) Value(slot int) (any, error) {
	switch slot {
	case names.Object:
		return n.object, nil
	case names.Rule:
		return n.rule.about, nil
	case names.Params:
		return n.rule.params, nil
	}
	if n.memos == nil {
		slots := n.rule.names.Slots()
		n.memos = slices.Grow((*n.spare)[:0], slots)[:slots]
		clear(n.memos)
		*n.spare = n.memos
	}
	at := &n.memos[slot]
	if !at.done {
		at.value, at.err = n.evaluate(n.rule.names.At(slot))
		at.done = true
	}
	return at.value, at.err
}

func (n *values) evaluate(d *names.Definition) (any, error) {
	if d.Related != nil {
		return d.Related.Evaluate(n.expressions, n.reader)
	}
	return d.Value.Eval(n.expressions)
}

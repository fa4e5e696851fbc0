package action

import "github.com/dyncontroller/dyncontroller/pkg/rules/body"

// Turn is one time that a step is carried out.
type Turn struct {
	// Element is that of forEach, nil without it.
	Element any

	step  *Step
	index int64
}

// Turns lists the times that the step is carried out: once without forEach. To carry out
// all of them is [Step.Evaluate].
func (s *Step) Turns(e *Evaluation) ([]Turn, error) {
	if s.each == nil {
		return []Turn{{step: s}}, nil
	}
	list, err := s.each.elements(e.Expressions)
	if err != nil {
		return nil, err
	}
	out := make([]Turn, len(list))
	for i, element := range list {
		out[i] = Turn{Element: element, step: s, index: int64(i)}
	}
	return out, nil
}

// Evaluate adds what the turn wants to the evaluation; the condition of the step, if it has
// one, is asked for by ask.
func (t Turn) Evaluate(e *Evaluation, ask func(when *body.Expression) (bool, error)) error {
	if t.step.each != nil {
		outer := e.Expressions.Names
		defer func() { e.Expressions.Names = outer }()
		e.Expressions.Names = loop{outer: outer, first: t.step.each.slot, element: t.Element, index: t.index}
	}
	if t.step.when != nil {
		if holds, err := ask(t.step.when); err != nil || !holds {
			return err
		}
	}
	return t.step.action.Evaluate(e)
}

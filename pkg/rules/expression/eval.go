package expression

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// iterationSize is what running a predicate allocates, in bytes.
const iterationSize = 256

// eval evaluates a part of a condition, which an explanation tells of.
func (e *Evaluation) eval(n Node) (any, error) {
	if e.recorder != nil {
		return e.recorder.eval(e, n)
	}
	return n.eval(e)
}

// holds is eval for what has to be a boolean: nil, 0 and "" are errors and not false.
func (e *Evaluation) holds(n Node, user string) (bool, error) {
	v, err := e.eval(n)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, wants(n, user, value.Bool, v)
	}
	return b, nil
}

func (l *Literal) eval(*Evaluation) (any, error) { return l.Value, nil }

func (l *List) eval(e *Evaluation) (any, error) {
	if l.constant {
		return l.value, nil
	}
	if err := e.Budget.List(len(l.Items)); err != nil {
		return nil, l.At.Locate(err)
	}
	list := make([]any, 0, len(l.Items))
	for _, item := range l.Items {
		v, err := item.eval(e)
		if err != nil {
			return nil, err
		}
		list = value.Append(list, v)
	}
	return list, nil
}

func (m *Map) eval(e *Evaluation) (any, error) {
	if m.constant {
		return m.value, nil
	}
	if err := e.Budget.Map(len(m.Entries)); err != nil {
		return nil, m.At.Locate(err)
	}
	out := make(map[string]any, len(m.Entries))
	for _, entry := range m.Entries {
		key, err := entry.Key.eval(e)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, wants(entry.Key, "a map key", value.String, key)
		}
		v, err := entry.Value.eval(e)
		if err != nil {
			return nil, err
		}
		value.Put(out, name, v)
	}
	return out, nil
}

func (n *Name) eval(e *Evaluation) (any, error) {
	v, err := e.Names.Value(n.Slot)
	if err != nil {
		return nil, n.At.Errorf("%s has no value: %v", n.Name, err).Because(err)
	}
	if e.recorder != nil && !n.begins {
		e.recorder.read(n.Text, v)
	}
	return v, nil
}

func (v *Variable) eval(e *Evaluation) (any, error) {
	out := e.stack[e.base+v.Let.slot]
	if e.recorder != nil && !v.begins {
		e.recorder.read(v.Text, out)
	}
	return out, nil
}

func (l *Let) eval(e *Evaluation) (any, error) {
	var v any
	var err error
	if e.recorder == nil {
		v, err = l.Value.eval(e)
	} else {
		v, err = e.recorder.before(e, l.Value)
	}
	if err != nil {
		return nil, err
	}
	e.stack[e.base+l.slot] = v
	return e.eval(l.Body)
}

func (n *Element) eval(e *Evaluation) (any, error) { return e.stack[e.base+n.slot], nil }

func (n *Conditional) eval(e *Evaluation) (any, error) {
	ok, err := e.holds(n.Condition, "a condition")
	if err != nil {
		return nil, err
	}
	if ok {
		return e.eval(n.Yes)
	}
	return e.eval(n.No)
}

func (c *Call) eval(e *Evaluation) (any, error) {
	recorder := e.recorder
	if c.counts { // A cache may keep no more than the length or the kind, so that is told.
		e.recorder = nil
	}
	call, err := c.with(e)
	e.recorder = recorder
	if err != nil {
		return nil, err
	}
	result, err := c.Function.Call(call)
	if err != nil {
		return nil, c.At.Locate(err)
	}
	if recorder != nil && c.counts {
		recorder.read(c.Function.Name+"("+c.Args[0].Written().Text+")", result)
	}
	return result, nil
}

// with is the call with its arguments, which are kept on the stack.
func (c *Call) with(e *Evaluation) (function.Call, error) {
	call := function.Call{Instant: e.Instant, Budget: e.Budget}
	from := e.base + c.first
	for i, arg := range c.Args {
		if p, is := arg.(*Predicate); is {
			if err := e.Budget.Bytes(iterationSize); err != nil {
				return call, c.At.Locate(err)
			}
			call.Descending, call.SeveralKeys, call.Predicate = p.Descending, p.Several, p.each(e, c.At)
			e.stack[from+i] = nil
			continue
		}
		v, err := c.argument(e, i)
		if err != nil {
			return call, err
		}
		e.stack[from+i] = v
	}
	call.Args = e.stack[from : from+len(c.Args)]
	return call, nil
}

// argument evaluates an argument and reads the form of it that the function wants.
func (c *Call) argument(e *Evaluation, i int) (any, error) {
	if v, parsed := c.parsed[i]; parsed {
		return v, nil
	}
	v, err := c.Args[i].eval(e)
	if err != nil {
		return nil, err
	}
	return c.read(e.Budget, i, v)
}

func (c *Call) read(b *Budget, i int, v any) (any, error) {
	p := c.Function.Param(i)
	if value.KindOf(v)&p.Kinds == 0 {
		return nil, wants(c.Args[i], c.Function.Name, p.Kinds, v)
	}
	if p.Parse == nil {
		return v, nil
	}
	parsed, err := p.Parse(b, v)
	return parsed, c.Args[i].Written().At.Locate(err)
}

// each evaluates the predicate for an element. An explanation does not tell what that reads: it is the same for every
// element.
func (p *Predicate) each(e *Evaluation, at syntax.Span) func(i int, element, accumulator any) (any, error) {
	kinds := p.function.Param(1).Kinds
	return func(i int, element, accumulator any) (any, error) {
		if err := e.Budget.Steps(p.cost); err != nil {
			return nil, at.Locate(err)
		}
		variables := e.stack[e.base+p.element:]
		variables[0], variables[2] = element, accumulator
		if p.readsIndex {
			variables[1] = int64(i) // Boxing allocates.
		}
		recorder := e.recorder
		e.recorder = nil
		result, err := p.Body.eval(e)
		e.recorder = recorder
		if err != nil {
			return nil, err
		}
		if value.KindOf(result)&kinds == 0 {
			return nil, wants(p, p.function.Name, kinds, result)
		}
		return result, nil
	}
}

// eval is never called: [Call] evaluates the body for each element.
func (p *Predicate) eval(e *Evaluation) (any, error) { return p.Body.eval(e) }

package expression

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// iterationSize is what running a predicate allocates, in bytes.
const iterationSize = 256

// must ends an evaluation with an error, if there is one, about the operand.
func (o *Operand) must(err error) {
	if err != nil {
		value.Must(o.At.Locate(err))
	}
}

// eval evaluates a part of a condition, which an explanation tells of.
func (e *Evaluation) eval(n Node) any {
	if e.recorder != nil {
		return e.recorder.eval(e, n)
	}
	return n.eval(e)
}

// holds is eval for what has to be a boolean: nil, 0 and "" are errors and not false.
func (e *Evaluation) holds(n Node, user string) bool {
	v := e.eval(n)
	b, ok := v.(bool)
	if !ok {
		value.Must(wants(n, user, value.Bool, v))
	}
	return b
}

func (l *Literal) eval(*Evaluation) any { return l.Value }

func (l *List) eval(e *Evaluation) any {
	if l.constant {
		return l.value
	}
	l.must(e.Budget.List(len(l.Items)))
	list := make([]any, 0, len(l.Items))
	for _, item := range l.Items {
		list = value.Append(list, item.eval(e))
	}
	return list
}

func (m *Map) eval(e *Evaluation) any {
	if m.constant {
		return m.value
	}
	m.must(e.Budget.Map(len(m.Entries)))
	out := make(map[string]any, len(m.Entries))
	for _, entry := range m.Entries {
		key := entry.Key.eval(e)
		name, ok := key.(string)
		if !ok {
			value.Must(wants(entry.Key, "a map key", value.String, key))
		}
		value.Put(out, name, entry.Value.eval(e))
	}
	return out
}

func (n *Name) eval(e *Evaluation) any {
	v, err := e.Names.Value(n.Slot)
	if err != nil {
		value.Must(n.At.Errorf("%s has no value: %v", n.Name, err).Because(err))
	}
	if e.recorder != nil && !n.begins {
		e.recorder.read(n.Text, v)
	}
	return v
}

func (v *Variable) eval(e *Evaluation) any {
	out := e.stack[e.base+v.Let.slot]
	if e.recorder != nil && !v.begins {
		e.recorder.read(v.Text, out)
	}
	return out
}

func (l *Let) eval(e *Evaluation) any {
	var v any
	if e.recorder == nil {
		v = l.Value.eval(e)
	} else {
		v = e.recorder.before(e, l.Value)
	}
	e.stack[e.base+l.slot] = v
	return e.eval(l.Body)
}

func (n *Element) eval(e *Evaluation) any { return e.stack[e.base+n.slot] }

func (n *Conditional) eval(e *Evaluation) any {
	if e.holds(n.Condition, "a condition") {
		return e.eval(n.Yes)
	}
	return e.eval(n.No)
}

func (c *Call) eval(e *Evaluation) any {
	recorder := e.recorder
	if c.counts != "" { // A cache may keep no more than the length or the kind, so that is told.
		e.recorder = nil
	}
	call := function.Call{Instant: e.Instant, Budget: e.Budget}
	from := e.base + c.first
	for i, arg := range c.Args {
		var v any
		if p, is := arg.(*Predicate); is {
			c.must(e.Budget.Bytes(iterationSize))
			call.Descending, call.SeveralKeys, call.Predicate = p.Descending, p.Several, p.each(e, c)
		} else {
			v = c.argument(e, i)
		}
		e.stack[from+i] = v
	}
	e.recorder = recorder
	call.Args = e.stack[from : from+len(c.Args)]
	result, err := c.Function.Call(call)
	c.must(err)
	if recorder != nil && c.counts != "" {
		recorder.read(c.counts, result)
	}
	return result
}

// argument evaluates an argument and reads the form of it that the function wants.
func (c *Call) argument(e *Evaluation, i int) any {
	if v, parsed := c.parsed[i]; parsed {
		return v
	}
	return c.read(e.Budget, i, c.Args[i].eval(e))
}

func (c *Call) read(b *value.Budget, i int, v any) any {
	p := c.Function.Param(i)
	if value.KindOf(v)&p.Kinds == 0 {
		value.Must(wants(c.Args[i], c.Function.Name, p.Kinds, v))
	}
	if p.Parse == nil {
		return v
	}
	parsed, err := p.Parse(b, v)
	c.Args[i].Written().must(err)
	return parsed
}

// each evaluates the predicate for an element. An explanation does not tell what that reads: it is the same for every
// element.
func (p *Predicate) each(e *Evaluation, call *Call) func(i int, element, accumulator any) any {
	kinds := p.function.Param(1).Kinds
	return func(i int, element, accumulator any) any {
		call.must(e.Budget.Steps(p.cost))
		variables := e.stack[e.base+p.element:]
		variables[0], variables[2] = element, accumulator
		if p.readsIndex {
			variables[1] = int64(i) // Boxing allocates.
		}
		recorder := e.recorder
		e.recorder = nil
		result := p.Body.eval(e)
		e.recorder = recorder
		if value.KindOf(result)&kinds == 0 {
			value.Must(wants(p, p.function.Name, kinds, result))
		}
		return result
	}
}

// eval is never called: [Call] evaluates the body for each element.
func (p *Predicate) eval(e *Evaluation) any { return p.Body.eval(e) }

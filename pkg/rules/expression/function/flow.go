package function

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// Flow is a call as the footprint sees it: shapes in the place of values. That
// the kinds of arguments matter has been recorded.
type Flow struct {
	// Arguments are those that are no predicate, and Constants the strings and
	// integers among them, nil elsewhere.
	Arguments []shape.Shape
	Constants []any
	// Predicate analyses the predicate for an element; it is nil where there is none.
	Predicate func(element, accumulator shape.Shape) shape.Shape

	function *Function
}

// Flow records what a call reads and returns the shape of its result. A row
// without a flow of its own reads its arguments by value, and its result holds
// no part of them.
func (f *Function) Flow(call *Flow) shape.Shape {
	call.function = f
	if f.flow == nil {
		return call.whole()
	}
	return f.flow(call)
}

// whole reads all arguments, but of the elements of an iteration only what the
// predicate reads.
func (c *Flow) whole() shape.Shape {
	rest := c.Arguments
	if c.Predicate != nil {
		c.list()
		c.each().Read(footprint.Value)
		rest = rest[1:]
	}
	for _, argument := range rest {
		argument.Read(footprint.Value)
	}
	return shape.Other()
}

// list is the first argument, of which the length or the keys are read.
func (c *Flow) list() shape.Shape {
	c.Arguments[0].Read(footprint.Length)
	return c.Arguments[0]
}

// each is the predicate for any element.
func (c *Flow) each() shape.Shape {
	return c.Predicate(c.Arguments[0].Items(), shape.Other())
}

// elements is any element of the arguments that are lists. Their lengths, the
// predicate and the other arguments are read.
func (c *Flow) elements() shape.Shape {
	if c.Predicate != nil {
		c.each().Read(footprint.Value)
	}
	var elements shape.Shape
	for i, argument := range c.Arguments {
		at := i
		if c.Predicate != nil && i > 0 {
			at++ // The predicate is the second parameter.
		}
		if c.function.Param(at).Kinds&value.List == 0 {
			argument.Read(footprint.Value)
			continue
		}
		argument.Read(footprint.Length)
		elements = shape.Union(elements, argument.Items())
	}
	return elements
}

// The flows of the rows, by what they give.

// flowElements gives elements of the arguments that are lists.
func flowElements(c *Flow) shape.Shape { return shape.List(c.elements()) }

// flowOrdered gives elements which it compares.
func flowOrdered(c *Flow) shape.Shape {
	c.whole()
	return flowElements(c)
}

// flowElement gives an element, or nil.
func flowElement(c *Flow) shape.Shape { return shape.Union(c.elements(), shape.Other()) }

// flowResults gives a list of what the predicate gives.
func flowResults(c *Flow) shape.Shape {
	c.list()
	return shape.List(c.each())
}

// flowLength looks at nothing but the length or the keys.
func flowLength(c *Flow) shape.Shape {
	c.list()
	return shape.Other()
}

// flowKind looks at nothing but the kind.
func flowKind(*Flow) shape.Shape { return shape.Other() }

// flowChoice gives one of the arguments.
func flowChoice(c *Flow) shape.Shape {
	c.list()
	return shape.Union(c.Arguments...)
}

// flowNothing gives no value.
func flowNothing(*Flow) shape.Shape { return shape.Shape{} }

func flowMerge(c *Flow) shape.Shape {
	return shape.Union(append([]shape.Shape{shape.Map(nil)}, c.Arguments...)...)
}

// flowPick looks whether there are the keys.
func flowPick(c *Flow) shape.Shape {
	from, fields := c.Arguments[0], map[string]shape.Shape{}
	var others []shape.Shape
	for i, key := range c.Constants[1:] {
		if key, known := key.(string); known {
			from.Has(key)
			fields[key] = from.Key(key)
			continue
		}
		c.Arguments[i+1].Read(footprint.Value)
		others = append(others, c.list().Values())
	}
	return shape.Map(fields, others...)
}

func flowValues(c *Flow) shape.Shape { return shape.List(c.list().Values()) }

func flowPairs(c *Flow) shape.Shape {
	return shape.List(shape.List(shape.Union(shape.Other(), c.list().Values())))
}

func flowFromPairs(c *Flow) shape.Shape {
	pairs := c.list().Items()
	pairs.Read(footprint.Length)
	pairs.Index(0).Read(footprint.Value)
	return shape.Map(nil, pairs.Index(1))
}

// flowSetCondition compares all of the list and hands on what it leaves alone.
func flowSetCondition(c *Flow) shape.Shape {
	return shape.Union(c.Arguments[0], shape.List(c.whole()))
}

func flowFlatten(c *Flow) shape.Shape { return shape.List(c.list().Flat()) }

// flowByKey follows the elements into the items of their group.
func flowByKey(c *Flow) shape.Shape {
	return shape.List(shape.Map(map[string]shape.Shape{"key": c.each(), "items": shape.List(c.elements())}))
}

func flowGroups(c *Flow) shape.Shape {
	return shape.Map(nil, shape.List(c.elements()))
}

func flowGet(c *Flow) shape.Shape {
	c.Arguments[1].Read(footprint.Value)
	return c.Arguments[0].At(c.Constants[1])
}

// entry is a map in the list at a path of the first argument, of which a key is read, or nil.
func (c *Flow) entry(key string, path ...string) shape.Shape {
	list := c.Arguments[0]
	for _, step := range path {
		list = list.Key(step)
	}
	list.Read(footprint.Length)
	list.Items().Key(key).Read(footprint.Value)
	return shape.Union(list.Items(), shape.Other())
}

func flowCondition(c *Flow) shape.Shape {
	c.Arguments[1].Read(footprint.Value)
	return c.entry("type", "status", "conditions")
}

func flowControllerOf(c *Flow) shape.Shape {
	return c.entry("controller", "metadata", "ownerReferences")
}

func flowControllerRef(c *Flow) shape.Shape {
	object := c.Arguments[0]
	for _, field := range []shape.Shape{object.Key("apiVersion"), object.Key("kind"), object.Key("metadata").Key("name"), object.Key("metadata").Key("uid")} {
		field.Read(footprint.Value)
	}
	return shape.Other()
}

func flowLabelsMatch(c *Flow) shape.Shape {
	c.Arguments[0].Key("metadata").Key("labels").Read(footprint.Value)
	c.Arguments[1].Read(footprint.Value)
	return shape.Other()
}

// maxRounds is how often flowReduce follows a result into the next round.
const maxRounds = 3

func flowReduce(c *Flow) shape.Shape {
	items := c.list().Items()
	accumulator := items
	if len(c.Arguments) > 1 {
		accumulator = c.Arguments[1]
	}
	for range maxRounds {
		before := accumulator
		accumulator = shape.Union(accumulator, c.Predicate(items, accumulator))
		if accumulator.Same(before) {
			return accumulator
		}
	}
	accumulator.Read(footprint.Value)
	return shape.Other()
}

package function

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// Flow is a call as the footprint sees it: shapes in the place of values. That
// the kinds of arguments matter has been recorded.
type Flow struct {
	// Arguments are those that are no predicate, and Constants the strings and
	// integers among them, nil elsewhere.
	Arguments []footprint.Shape
	Constants []any
	// Predicate analyses the predicate for an element; it is nil where there is none.
	Predicate func(element, accumulator footprint.Shape) footprint.Shape

	function *Function
}

// Flow records what a call reads and returns the shape of its result. A row
// without a flow of its own reads its arguments by value, and its result holds
// no part of them.
func (f *Function) Flow(call *Flow) footprint.Shape {
	call.function = f
	if f.flow == nil {
		return call.whole()
	}
	return f.flow(call)
}

// whole reads all arguments, but of the elements of an iteration only what the
// predicate reads.
func (c *Flow) whole() footprint.Shape {
	rest := c.Arguments
	if c.Predicate != nil {
		c.list()
		c.each().Read(footprint.Value)
		rest = rest[1:]
	}
	for _, argument := range rest {
		argument.Read(footprint.Value)
	}
	return footprint.Other()
}

// list is the first argument, of which the length or the keys are read.
func (c *Flow) list() footprint.Shape {
	c.Arguments[0].Read(footprint.Length)
	return c.Arguments[0]
}

// each is the predicate for any element.
func (c *Flow) each() footprint.Shape {
	return c.Predicate(c.Arguments[0].Items(), footprint.Other())
}

// elements is any element of the arguments that are lists. Their lengths, the
// predicate and the other arguments are read.
func (c *Flow) elements() footprint.Shape {
	if c.Predicate != nil {
		c.each().Read(footprint.Value)
	}
	var elements footprint.Shape
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
		elements = footprint.OneOf(elements, argument.Items())
	}
	return elements
}

// The flows of the rows, by what they give.

// flowElements gives elements of the arguments that are lists.
func flowElements(c *Flow) footprint.Shape { return footprint.List(c.elements()) }

// flowOrdered gives elements which it compares.
func flowOrdered(c *Flow) footprint.Shape {
	c.whole()
	return flowElements(c)
}

// flowElement gives an element, or nil.
func flowElement(c *Flow) footprint.Shape { return footprint.OneOf(c.elements(), footprint.Other()) }

// flowResults gives a list of what the predicate gives.
func flowResults(c *Flow) footprint.Shape {
	c.list()
	return footprint.List(c.each())
}

// flowLength looks at nothing but the length or the keys.
func flowLength(c *Flow) footprint.Shape {
	c.list()
	return footprint.Other()
}

// flowKind looks at nothing but the kind.
func flowKind(*Flow) footprint.Shape { return footprint.Other() }

// flowChoice gives one of the arguments.
func flowChoice(c *Flow) footprint.Shape {
	c.list()
	return footprint.OneOf(c.Arguments...)
}

// flowNothing gives no value.
func flowNothing(*Flow) footprint.Shape { return footprint.Shape{} }

func flowMerge(c *Flow) footprint.Shape {
	return footprint.OneOf(append([]footprint.Shape{footprint.Map(nil)}, c.Arguments...)...)
}

// flowPick looks whether there are the keys.
func flowPick(c *Flow) footprint.Shape {
	from, fields := c.Arguments[0], map[string]footprint.Shape{}
	var others []footprint.Shape
	for i, key := range c.Constants[1:] {
		if key, known := key.(string); known {
			from.Has(key)
			fields[key] = from.Key(key)
			continue
		}
		c.Arguments[i+1].Read(footprint.Value)
		others = append(others, c.list().Values())
	}
	return footprint.Map(fields, others...)
}

func flowValues(c *Flow) footprint.Shape { return footprint.List(c.list().Values()) }

func flowPairs(c *Flow) footprint.Shape {
	return footprint.List(footprint.List(footprint.OneOf(footprint.Other(), c.list().Values())))
}

func flowFromPairs(c *Flow) footprint.Shape {
	pairs := c.list().Items()
	pairs.Read(footprint.Length)
	pairs.Index(0).Read(footprint.Value)
	return footprint.Map(nil, pairs.Index(1))
}

// flowSetCondition compares all of the list and hands on what it leaves alone.
func flowSetCondition(c *Flow) footprint.Shape {
	return footprint.OneOf(c.Arguments[0], footprint.List(c.whole()))
}

func flowFlatten(c *Flow) footprint.Shape { return footprint.List(c.list().Flat()) }

// flowByKey follows the elements into the items of their group.
func flowByKey(c *Flow) footprint.Shape {
	return footprint.List(footprint.Map(map[string]footprint.Shape{"key": c.each(), "items": footprint.List(c.elements())}))
}

func flowGroups(c *Flow) footprint.Shape {
	return footprint.Map(nil, footprint.List(c.elements()))
}

func flowGet(c *Flow) footprint.Shape {
	c.Arguments[1].Read(footprint.Value)
	return c.Arguments[0].At(c.Constants[1])
}

// entry is a map in the list at a path of the first argument, of which a key is read, or nil.
func (c *Flow) entry(key string, path ...string) footprint.Shape {
	list := c.Arguments[0]
	for _, step := range path {
		list = list.Key(step)
	}
	list.Read(footprint.Length)
	list.Items().Key(key).Read(footprint.Value)
	return footprint.OneOf(list.Items(), footprint.Other())
}

func flowCondition(c *Flow) footprint.Shape {
	c.Arguments[1].Read(footprint.Value)
	return c.entry("type", "status", "conditions")
}

func flowControllerOf(c *Flow) footprint.Shape {
	return c.entry("controller", "metadata", "ownerReferences")
}

func flowControllerRef(c *Flow) footprint.Shape {
	object := c.Arguments[0]
	for _, field := range []footprint.Shape{object.Key("apiVersion"), object.Key("kind"), object.Key("metadata").Key("name"), object.Key("metadata").Key("uid")} {
		field.Read(footprint.Value)
	}
	return footprint.Other()
}

func flowLabelsMatch(c *Flow) footprint.Shape {
	c.Arguments[0].Key("metadata").Key("labels").Read(footprint.Value)
	c.Arguments[1].Read(footprint.Value)
	return footprint.Other()
}

// maxRounds is how often flowReduce follows a result into the next round.
const maxRounds = 3

func flowReduce(c *Flow) footprint.Shape {
	items := c.list().Items()
	accumulator := items
	if len(c.Arguments) > 1 {
		accumulator = c.Arguments[1]
	}
	for range maxRounds {
		before := accumulator
		accumulator = footprint.OneOf(accumulator, c.Predicate(items, accumulator))
		if accumulator.Same(before) {
			return accumulator
		}
	}
	return accumulator.Untracked()
}

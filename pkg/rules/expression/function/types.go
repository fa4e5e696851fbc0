package function

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// TypeCall is a call as the checker sees it: types in the place of values.
type TypeCall struct {
	// Arguments are those that are no predicate. Their kinds are for the caller to check.
	Arguments []typing.Type
	// Predicate returns what the predicate gives for an element; it is nil where there
	// is none. reduce calls it several times, and the last call is for everything that
	// the accumulator can be.
	Predicate func(element, accumulator typing.Type) typing.Type
	// Narrowed returns what an element can be where the predicate holds. Without it
	// elements are as they were.
	Narrowed func(element typing.Type) typing.Type
}

// Type returns what the result of a call can be. A row without types of its own gives
// any value of the kinds of its result.
func (f *Function) Type(call *TypeCall) typing.Type {
	if f.types == nil {
		return typing.Of(f.Result)
	}
	return f.types(call)
}

func (c *TypeCall) argument(i int) typing.Type {
	if i >= len(c.Arguments) {
		return typing.Unknown()
	}
	return c.Arguments[i]
}

func (c *TypeCall) elements() typing.Type { return c.argument(0).Items() }

// kept is any element for which the predicate holds.
func (c *TypeCall) kept() typing.Type {
	if c.Narrowed == nil {
		return c.elements()
	}
	return c.Narrowed(c.elements())
}

// results is what the predicate gives for any element, or else the element.
func (c *TypeCall) results() typing.Type {
	if c.Predicate == nil {
		return c.elements()
	}
	return c.Predicate(c.elements(), typing.Unknown())
}

// The types of the rows, by what they give.

// typeElements gives elements of the list.
func typeElements(c *TypeCall) typing.Type { return typing.List(c.elements()) }

// typeElement gives an element, or nil.
func typeElement(c *TypeCall) typing.Type { return c.elements().Nilable() }

// typeKept gives those elements for which the predicate holds, and typeFound one or nil.
func typeKept(c *TypeCall) typing.Type  { return typing.List(c.kept()) }
func typeFound(c *TypeCall) typing.Type { return c.kept().Nilable() }

// typeSame gives its argument.
func typeSame(c *TypeCall) typing.Type { return c.argument(0) }

// typeResults gives a list of what the predicate gives.
func typeResults(c *TypeCall) typing.Type { return typing.List(c.results()) }

// typeTexts gives a list of texts.
func typeTexts(*TypeCall) typing.Type { return typing.List(typing.Of(value.String)) }

func typeConcat(c *TypeCall) typing.Type {
	var elements typing.Type
	for _, list := range c.Arguments {
		elements = typing.Union(elements, list.Items())
	}
	return typing.List(elements)
}

func typeFlatten(c *TypeCall) typing.Type { return typing.List(c.argument(0).Flat()) }

func typeGet(c *TypeCall) typing.Type {
	from := c.argument(0)
	keys, known := c.argument(1).Constants()
	if !known || !from.Known() {
		return typing.Unknown()
	}
	var found typing.Type
	for _, key := range keys {
		below := from.At(key)
		if value.KindOf(key) == value.Int || from.CanBeNil() {
			below = below.Nilable()
		}
		found = typing.Union(found, below)
	}
	return found
}

func typeValues(c *TypeCall) typing.Type { return typing.List(c.argument(0).Values()) }

// typePairs does not tell the key of a pair from its value, so that it knows nothing of
// either where one can be nil.
func typePairs(c *TypeCall) typing.Type {
	values := c.argument(0).Values()
	if values.CanBeNil() {
		values = typing.Unknown()
	}
	return typing.List(typing.List(typing.Union(typing.Of(value.String), values)))
}

func typeFromPairs(c *TypeCall) typing.Type {
	return typing.Map(nil, c.elements().Items())
}

func typeMerge(c *TypeCall) typing.Type {
	merged := typing.Map(nil)
	for _, m := range c.Arguments {
		merged = typing.Merge(merged, m)
	}
	return merged
}

func typeGroupBy(c *TypeCall) typing.Type {
	return typing.Map(nil, typing.List(c.elements()))
}

func typeGroups(c *TypeCall) typing.Type {
	return typing.List(typing.Map(map[string]typing.Type{
		"key": c.results(), "items": typing.List(c.elements()),
	}))
}

// typeDefault gives the first argument, where that is something, or the second.
func typeDefault(c *TypeCall) typing.Type {
	return typing.Union(c.argument(0).NonNil(), c.argument(1))
}

// typeReduce follows the accumulator until it can be nothing new.
func typeReduce(c *TypeCall) typing.Type {
	if c.Predicate == nil {
		return typing.Unknown()
	}
	items := c.elements()
	accumulator := items
	if len(c.Arguments) > 1 {
		accumulator = c.argument(1)
	}
	for range maxRounds {
		before := accumulator
		accumulator = typing.Union(before, c.Predicate(items, before))
		if accumulator.Equal(before) {
			return accumulator
		}
	}
	c.Predicate(items, typing.Unknown())
	return typing.Unknown()
}

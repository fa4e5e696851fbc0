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

func typePick(c *TypeCall) typing.Type {
	fields, perhaps := map[string]typing.Type{}, c.argument(0).CanBeNil()
	for _, key := range c.Arguments[1:] {
		keys, known := key.Constants()
		if !known || !c.argument(0).Known() {
			return typing.Of(value.Map)
		}
		perhaps = perhaps || len(keys) > 1 // Any of them.
		for _, key := range keys {
			if text, is := key.(string); is {
				fields[text] = typing.Union(fields[text], c.argument(0).At(text))
			}
		}
	}
	for key, field := range fields {
		if perhaps {
			fields[key] = field.Nilable()
		}
	}
	return typing.Map(fields)
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

// Types of rows whose result has kinds that depend on those of the arguments.

// typeSum is an integer for an empty list.
func typeSum(c *TypeCall) typing.Type {
	return typing.Of(value.Int | c.results().Kinds()&aSummand)
}

// typeExtreme gives one of the numbers.
func typeExtreme(c *TypeCall) typing.Type { return c.among(aMeasure) }

// typeMiddle computes a float of them.
func typeMiddle(c *TypeCall) typing.Type {
	numbers := c.among(aNumber)
	if !numbers.Known() {
		return numbers
	}
	return typing.Of(value.Float | numbers.Kinds()&value.Nil)
}

// among is any of the arguments and of the elements of those that are lists; there is
// none only if all arguments can be empty lists or nil.
func (c *TypeCall) among(kinds value.Kind) typing.Type {
	var all value.Kind
	none, unknown := true, false
	for _, argument := range c.Arguments {
		unknown = unknown || !argument.Known()
		all |= argument.Kinds() & kinds
		if argument.Kinds()&value.List != 0 {
			all |= argument.Items().Kinds() & kinds
		}
		none = none && argument.Kinds()&aList != 0
	}
	switch {
	case !none:
		return typing.Of(all)
	case unknown:
		return typing.Unknown() // Whether it can be nil is not certain.
	default:
		return typing.Of(all | value.Nil)
	}
}

// typeType gives the names of the kinds that the argument can have.
func typeType(c *TypeCall) typing.Type {
	var names typing.Type
	kinds := c.argument(0).Kinds() & anything
	for kind := value.Nil; kind <= kinds; kind <<= 1 {
		if kinds&kind != 0 {
			names = typing.Union(names, typing.Constant(kind.Name()))
		}
	}
	return names
}

// Types of rows that know the objects of Kubernetes, or give maps of their own.

// typeCondition gives one of the object's conditions, which has a type.
func typeCondition(c *TypeCall) typing.Type { return c.entry("type", "status", "conditions") }

// typeControllerOf gives one of the object's owners, which says controller.
func typeControllerOf(c *TypeCall) typing.Type {
	return c.entry("controller", "metadata", "ownerReferences")
}

// entry is a map with a key in the list at a path of the first argument, or nil.
func (c *TypeCall) entry(key string, path ...string) typing.Type {
	list := c.argument(0)
	for _, step := range path {
		list = list.At(step)
	}
	if found := list.Items().Only(value.Map); !found.None() {
		return found.Present([]string{key}).Nilable()
	}
	return typing.Of(value.Nil)
}

func typeControllerRef(*TypeCall) typing.Type {
	text, yes := typing.Of(value.String), typing.Constant(true)
	return typing.Map(map[string]typing.Type{
		"apiVersion": text, "kind": text, "name": text, "uid": text, "controller": yes, "blockOwnerDeletion": yes,
	})
}

// typeSetCondition gives the list itself, or one with the condition in it. Its time is that of any of the two, or new.
func typeSetCondition(c *TypeCall) typing.Type {
	list := c.argument(0).Only(aList)
	for i := 1; i < len(c.Arguments); i++ {
		condition := c.argument(i)
		set := typing.Merge(condition, typing.Map(map[string]typing.Type{lastTransition: typing.Unknown()}))
		result := typing.List(typing.Union(list.Items(), set))
		if condition.Kinds()&value.Nil != 0 {
			result = typing.Union(list, result)
		}
		list = result
	}
	return list
}

func typeWindow(*TypeCall) typing.Type {
	text := typing.Of(value.String)
	return typing.Map(map[string]typing.Type{"start": text, "end": text}).Nilable()
}

func typeURL(*TypeCall) typing.Type {
	text := typing.Of(value.String)
	return typing.Map(map[string]typing.Type{
		"scheme": text, "user": text, "host": text, "hostname": text, "path": text, "fragment": text,
		"port": typing.Of(value.Int | value.Nil), "query": typing.Map(nil, typing.List(text)),
	})
}

package function

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

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

func typeAbs(c *TypeCall) typing.Type { return typing.Of(c.argument(0).Kinds() & aNumber) }

// typeJitter is an integer between integers.
func typeJitter(c *TypeCall) typing.Type {
	low, high := c.argument(1).Kinds(), c.argument(2).Kinds()
	var kinds value.Kind
	if low&high&value.Int != 0 {
		kinds = value.Int
	}
	if (low|high)&(aDuration&^value.Int) != 0 {
		kinds |= value.Duration
	}
	return typing.Of(kinds)
}

// typeType gives the names of the kinds that the argument can have.
func typeType(c *TypeCall) typing.Type {
	var names typing.Type
	kinds := c.argument(0).Kinds() & anything
	for kind := value.Nil; kind <= kinds; kind <<= 1 {
		if kinds&kind != 0 {
			names = typing.Union(names, typing.Constant(nameOf(kind)))
		}
	}
	return names
}

package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// result is what the predicate gives for element i.
func (c Call) result(i int, accumulator any) any {
	return c.Predicate(i, c.list()[i], accumulator)
}

// search returns the index of the first element, of those that one comes across in
// steps from an index on, for which the condition is what is wanted, or -1.
func (c Call) search(from, step int, wanted bool) int {
	for i := from; i >= 0 && i < len(c.list()); i += step {
		if c.result(i, nil) == wanted {
			return i
		}
	}
	return -1
}

func (c Call) first() int { return c.search(0, 1, true) }
func (c Call) last() int  { return c.search(len(c.list())-1, -1, true) }

func one(c Call) any {
	i := c.first()
	return i >= 0 && c.search(i+1, 1, true) < 0
}

// at gives the element at an index, or nil for -1.
func (c Call) at(i int) any {
	if i < 0 {
		return nil
	}
	return c.list()[i]
}

// index gives an index, or nil for -1.
func (c Call) index(i int) any {
	if i < 0 {
		return nil
	}
	return int64(i)
}

func filter(c Call) any {
	value.Must(c.Budget.List(2 * len(c.list())))
	kept := []any{}
	for i, element := range c.list() {
		if as[bool](c.result(i, nil)) {
			kept = append(kept, element)
		}
	}
	return kept
}

func mapEach(c Call) any {
	// The results may be boxed anew.
	value.Must(c.Budget.List(2 * len(c.list())))
	results := make([]any, 0, len(c.list()))
	for i := range c.list() {
		results = value.Append(results, c.result(i, nil))
	}
	return results
}

func count(c Call) any {
	passed := int64(0)
	for i := range c.list() {
		if as[bool](c.own(i, value.Bool)) {
			passed++
		}
	}
	return passed
}

func sum(c Call) any {
	total := any(int64(0))
	for i := range c.list() {
		result := c.own(i, aSummand)
		if value.KindOf(result)&value.Computed != 0 {
			value.Must(c.Budget.Conversion())
		}
		total = value.Got(value.Compute(total, "+", result))
	}
	return total
}

// own is what the predicate gives for element i or, where it was left out, the element itself, which must be of those kinds.
func (c Call) own(i int, kinds value.Kind) any {
	value.Must(c.Budget.Steps(2))
	if c.Predicate != nil {
		return c.result(i, nil)
	}
	element := c.list()[i]
	if kind := value.KindOf(element); kind&kinds == 0 {
		fail("%s wants %s, and element %d is %s", c.name, kinds, i, kind)
	}
	return element
}

func reduce(c Call) any {
	list, offset := c.list(), 0
	var accumulator any
	switch {
	case len(c.Args) > 2:
		accumulator = c.Args[2]
	case len(list) > 0:
		accumulator, offset = list[0], 1
	default:
		value.Must(value.Faultf("reduce has nothing to start from in an empty list").
			WithHint("give an initial value: reduce(list, #acc + #, 0)"))
	}
	for i := offset; i < len(list); i++ {
		accumulator = c.result(i, accumulator)
	}
	return accumulator
}

func groupBy(c Call) any {
	// With each element its group grows, and is boxed anew.
	value.Must(c.Budget.List(5 * len(c.list())))
	groups := map[string]any{}
	for i, element := range c.list() {
		key := as[string](c.result(i, nil))
		if groups[key] == nil {
			value.Must(c.Budget.Map(0))
		}
		groups[key] = append(as[[]any](groups[key]), element)
	}
	return groups
}

func groups(c Call) any {
	value.Must(c.Budget.List(8 * len(c.list())))
	places := map[any]int{}
	var groups []map[string]any
	for i, element := range c.list() {
		key := c.result(i, nil)
		id := identity(key, c.Budget)
		place, known := places[id]
		if !known {
			value.Must(c.Budget.Map(2))
			place = len(groups)
			places[id] = place
			groups = append(groups, map[string]any{"key": key})
		}
		groups[place]["items"] = append(as[[]any](groups[place]["items"]), element)
	}
	list := make([]any, len(groups))
	for i, group := range groups {
		list[i] = group
	}
	return list
}

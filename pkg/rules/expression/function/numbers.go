package function

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func abs(c Call) any {
	if order, _ := value.Compare(c.Args[0], int64(0)); order < 0 {
		return value.Got(value.Negate(c.Args[0]))
	}
	return c.Args[0]
}

// whole gives an integer, because fields of Kubernetes that take one refuse 2.5
// and nobody rounds to get a float.
func whole(toWhole func(float64) float64) func(c Call) any {
	return func(c Call) any {
		f, ok := c.Args[0].(float64)
		if !ok {
			return c.Args[0]
		}
		rounded := toWhole(f)
		if rounded < -1<<63 || rounded >= 1<<63 || math.IsNaN(rounded) {
			fail("%v does not fit a 64-bit integer", f)
		}
		return int64(rounded)
	}
}

func toInt(c Call) any {
	switch x := c.Args[0].(type) {
	case time.Duration:
		return int64(x / time.Second)
	case time.Time:
		return x.Unix()
	case value.Amount:
		value.Must(c.Budget.Conversion())
		return x.Int()
	case string:
		i, err := strconv.ParseInt(x, 10, 64)
		if err == nil {
			return i
		}
		fault := value.Faultf("%q is not a 64-bit integer", value.Excerpt(x))
		if x != "" && '0' <= x[0] && x[0] <= '9' {
			fault = fault.WithHint("a text with a unit is read by quantity(...) or duration(...)")
		}
		value.Must(fault)
	}
	return whole(math.Trunc)(c)
}

func toFloat(c Call) any {
	switch x := c.Args[0].(type) {
	case time.Duration:
		return float64(x/time.Second) + float64(x%time.Second)/1e9
	case time.Time:
		return float64(x.Unix()) + float64(x.Nanosecond())/1e9
	case int64:
		return float64(x)
	case value.Amount:
		value.Must(c.Budget.Conversion())
		return x.Float()
	case string:
		f, err := strconv.ParseFloat(x, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(x, "xX_") {
			fail("%q is not a number", value.Excerpt(x))
		}
		return f
	default:
		return x
	}
}

// extreme returns the value that compares to all others as sign says, or nil if
// there are none.
func extreme(sign int) func(c Call) any {
	return func(c Call) any {
		var best any
		for _, candidate := range c.gather(aMeasure) {
			value.Must(c.Budget.Steps(stepsOfVersions))
			order, ok := value.Compare(candidate, best)
			if best != nil && !ok {
				fail("%s cannot order %s beside %s", c.name, value.KindOf(candidate), value.KindOf(best))
			}
			if best == nil || order == sign {
				best = candidate
			}
		}
		return best
	}
}

// gather returns the values of those kinds among the arguments and in the lists among
// them, which must hold no others.
func (c Call) gather(kinds value.Kind) []any {
	total := 0
	for _, argument := range c.Args {
		total += 1 + len(as[[]any](argument))
	}
	value.Must(c.Budget.List(total))
	numbers := make([]any, 0, total)
	for _, argument := range c.Args {
		if value.KindOf(argument)&kinds != 0 {
			numbers = append(numbers, argument)
		}
		for i, element := range as[[]any](argument) {
			if value.KindOf(element)&kinds == 0 {
				fail("%s wants numbers, and element %d is %s", c.name, i, value.KindOf(element))
			}
			numbers = append(numbers, element)
		}
	}
	return numbers
}

// average is the mean of numbers, nil if there are none.
func average(numbers []any) any {
	if len(numbers) == 0 {
		return nil
	}
	total := any(0.0)
	for _, number := range numbers {
		total = value.Got(value.Compute(total, "+", number))
	}
	return value.Got(value.Compute(total, "/", int64(len(numbers))))
}

func mean(c Call) any { return average(c.gather(aNumber)) }

func median(c Call) any {
	numbers := c.gather(aNumber)
	value.Must(c.Budget.Sort(len(numbers)))
	slices.SortFunc(numbers, func(x, y any) int {
		order, _ := value.Compare(x, y)
		return order
	})
	half := (len(numbers) - 1) / 2
	return average(numbers[half : len(numbers)-half])
}

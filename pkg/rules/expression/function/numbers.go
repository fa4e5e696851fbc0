package function

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func div(_ *value.Budget, args []any) (any, error) {
	return value.Quotient(intArg(args, 0), intArg(args, 1))
}

func abs(_ *value.Budget, args []any) (any, error) {
	if order, _ := value.Compare(args[0], int64(0)); order < 0 {
		return value.Negate(args[0])
	}
	return args[0], nil
}

func ceil(_ *value.Budget, args []any) (any, error)  { return whole(args[0], math.Ceil) }
func floor(_ *value.Budget, args []any) (any, error) { return whole(args[0], math.Floor) }
func round(_ *value.Budget, args []any) (any, error) { return whole(args[0], math.Round) }

// whole gives an integer, because fields of Kubernetes that take one refuse 2.5
// and nobody rounds to get a float.
func whole(number any, toWhole func(float64) float64) (any, error) {
	f, ok := number.(float64)
	if !ok {
		return number, nil
	}
	rounded := toWhole(f)
	if rounded < -1<<63 || rounded >= 1<<63 || math.IsNaN(rounded) {
		return nil, value.Faultf("%v does not fit a 64-bit integer", f)
	}
	return int64(rounded), nil
}

func toInt(_ *value.Budget, args []any) (any, error) {
	text, ok := args[0].(string)
	if !ok {
		return whole(args[0], math.Trunc)
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, value.Faultf("%q is not a 64-bit integer", value.Excerpt(text))
	}
	return i, nil
}

func toFloat(_ *value.Budget, args []any) (any, error) {
	switch x := args[0].(type) {
	case int64:
		return float64(x), nil
	case float64:
		return x, nil
	default:
		text := textArg(args, 0)
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(text, "xX_") {
			return nil, value.Faultf("%q is not a number", value.Excerpt(text))
		}
		return f, nil
	}
}

func minimum(b *value.Budget, args []any) (any, error) { return extreme(b, "min", args, -1) }
func maximum(b *value.Budget, args []any) (any, error) { return extreme(b, "max", args, 1) }

// extreme returns the number that compares to all others as sign says, or nil if
// there are none.
func extreme(b *value.Budget, name string, args []any, sign int) (any, error) {
	numbers, err := gather(b, name, args)
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	best := numbers[0]
	for _, number := range numbers[1:] {
		if order, _ := value.Compare(number, best); order == sign {
			best = number
		}
	}
	return best, nil
}

// gather returns the numbers among args, which may also be lists of numbers.
func gather(b *value.Budget, name string, args []any) ([]any, error) {
	total := 0
	for _, arg := range args {
		total += 1 + len(asList(arg))
	}
	if err := b.List(total); err != nil {
		return nil, err
	}
	numbers := make([]any, 0, total)
	for _, arg := range args {
		if isNumber(arg) {
			numbers = append(numbers, arg)
		}
		for i, element := range asList(arg) {
			if !isNumber(element) {
				return nil, value.Faultf("%s wants numbers, and element %d is %s", name, i, value.KindOf(element))
			}
			numbers = append(numbers, element)
		}
	}
	return numbers, nil
}

func mean(b *value.Budget, args []any) (any, error) {
	numbers, err := gather(b, "mean", args)
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	total := any(0.0)
	for _, number := range numbers {
		if total, err = value.Add(total, number); err != nil {
			return nil, err
		}
	}
	return value.Divide(total, int64(len(numbers)))
}

func median(b *value.Budget, args []any) (any, error) {
	numbers, err := gather(b, "median", args)
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	if err := b.Sort(len(numbers)); err != nil {
		return nil, err
	}
	slices.SortFunc(numbers, func(x, y any) int {
		order, _ := value.Compare(x, y)
		return order
	})
	middle := len(numbers) / 2
	if len(numbers)%2 == 1 {
		return value.Divide(numbers[middle], int64(1))
	}
	sum, err := value.Add(numbers[middle-1], numbers[middle])
	if err != nil {
		return nil, err
	}
	return value.Divide(sum, int64(2))
}

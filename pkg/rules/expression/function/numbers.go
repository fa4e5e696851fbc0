package function

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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
	if seconds, _, ok := seconds(args[0]); ok {
		return seconds, nil
	}
	if quantity, ok := args[0].(value.Amount); ok {
		return quantity.Int(), nil
	}
	text, ok := args[0].(string)
	if !ok {
		return whole(args[0], math.Trunc)
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fault := value.Faultf("%q is not a 64-bit integer", value.Excerpt(text))
		if hasUnit(text) {
			return nil, fault.WithHint("write quantity(...) for a quantity, or duration(...) for a duration")
		}
		return nil, fault
	}
	return i, nil
}

// hasUnit reports whether a text begins like a number and ends like 5Gi or 30s.
func hasUnit(text string) bool {
	trimmed := strings.TrimRight(text, "numkKMGTPEihsdw")
	return trimmed != text && trimmed != "" && strings.Trim(trimmed, "+-.0123456789") == ""
}

func toFloat(b *value.Budget, args []any) (any, error) {
	if seconds, billionths, ok := seconds(args[0]); ok {
		return float64(seconds) + float64(billionths)/1e9, nil
	}
	switch x := args[0].(type) {
	case int64:
		return float64(x), nil
	case float64:
		return x, nil
	case value.Amount:
		return x.Float(), b.Conversion()
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

// extreme returns the value that compares to all others as sign says, or nil if
// there are none.
func extreme(b *value.Budget, name string, args []any, sign int) (any, error) {
	candidates, err := gather(b, name, aMeasure, args)
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	if err := b.Steps(stepsOfVersions * len(candidates)); err != nil {
		return nil, err
	}
	best := candidates[0]
	for _, candidate := range candidates[1:] {
		order, ok := value.Compare(candidate, best)
		if !ok {
			return nil, value.Faultf("%s cannot order %s beside %s", name, value.KindOf(candidate), value.KindOf(best))
		}
		if order == sign {
			best = candidate
		}
	}
	return best, nil
}

// gather returns the values of those kinds among args and in the lists among them,
// which must hold no others.
func gather(b *value.Budget, name string, kinds value.Kind, args []any) ([]any, error) {
	total := 0
	for _, arg := range args {
		total += 1 + len(asList(arg))
	}
	if err := b.List(total); err != nil {
		return nil, err
	}
	numbers := make([]any, 0, total)
	for _, arg := range args {
		if value.KindOf(arg)&kinds != 0 {
			numbers = append(numbers, arg)
		}
		for i, element := range asList(arg) {
			if value.KindOf(element)&kinds == 0 {
				return nil, value.Faultf("%s wants numbers, and element %d is %s", name, i, value.KindOf(element))
			}
			numbers = append(numbers, element)
		}
	}
	return numbers, nil
}

func mean(b *value.Budget, args []any) (any, error) {
	numbers, err := gather(b, "mean", aNumber, args)
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
	numbers, err := gather(b, "median", aNumber, args)
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

// readQuantity and readSemver read arguments once; see [Param.Parse].
func readQuantity(b *value.Budget, v any) (any, error) {
	if err := b.Conversion(); err != nil {
		return nil, err
	}
	return boxed(value.ParseAmount(v))
}

func readSemver(b *value.Budget, v any) (any, error) {
	if err := b.Conversion(); err != nil {
		return nil, err
	}
	return boxed(value.ParseVersion(v))
}

// given returns what the parameter has read.
func given(_ *value.Budget, args []any) (any, error) { return args[0], nil }

// seconds returns a duration, or a time since 1970, as whole seconds and the
// billionths beyond them; ok is false for anything else.
func seconds(v any) (whole, billionths int64, ok bool) {
	switch v := v.(type) {
	case time.Duration:
		return int64(v / time.Second), int64(v % time.Second), true
	case time.Time:
		return v.Unix(), int64(v.Nanosecond()), true
	default:
		return 0, 0, false
	}
}

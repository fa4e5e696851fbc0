package value

import (
	"math"
	"time"
)

// ErrStamp is the error of whatever needs to know what [Stamp] will be.
var ErrStamp = Faultf("stamp() cannot be read: it may only be a value in a body")

var (
	errDuration = Faultf("the duration is longer than 292 years")
	errYear     = Faultf("the time is outside of the years 0 to 9999")
)

func isComputed(a, b any) bool { return (KindOf(a)|KindOf(b))&Computed != 0 }

// Align makes two values comparable: where one is a computed value, a string or a
// number beside it is read as another of its kind. What has no such reading stays
// as it is.
func Align(a, b any, budget *Budget) (x, y any, err error) {
	kindOfA, kindOfB := KindOf(a), KindOf(b)
	switch {
	case (kindOfA|kindOfB)&Computed == 0:
		return a, b, nil
	case kindOfA == kindOfB:
		return a, b, budget.Steps(stepsOfComparison)
	case kindOfA&Computed != 0:
		y, err = readAs(kindOfA, b, kindOfB)
		x = a
	default:
		x, err = readAs(kindOfB, a, kindOfA)
		y = b
	}
	if err == nil {
		err = budget.Conversion()
	}
	return x, y, err
}

// readAs makes a value of a kind out of v where v can stand for one.
func readAs(wanted Kind, v any, kind Kind) (any, error) {
	switch {
	case wanted == Quantity && kind&(Number|String) != 0:
		return boxed(ParseAmount(v))
	case wanted == Semver && kind == String:
		return boxed(ParseVersion(v))
	case wanted == Duration && kind&(Int|String) != 0:
		return boxed(ParseDuration(v))
	case wanted == Time && kind == String:
		return boxed(ParseTime(v))
	default:
		return v, nil
	}
}

func boxed[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// terms reads a string or a number beside a quantity as one and beside a time or
// a duration as what it looks like. No duration has a dash after four characters.
func terms(a, b any) (x, y any, err error) {
	if x, err = term(a, KindOf(b)); err != nil {
		return nil, nil, err
	}
	y, err = term(b, KindOf(a))
	return x, y, err
}

func term(v any, other Kind) (any, error) {
	switch other {
	case Duration, Time:
		if text, ok := v.(string); ok && len(text) > 4 && text[4] == '-' {
			return boxed(ParseTime(text))
		}
		return readAs(Duration, v, KindOf(v))
	default:
		return readAs(other, v, KindOf(v))
	}
}

func addComputed(a, b any) (any, error) {
	a, b, err := terms(a, b)
	if err != nil {
		return nil, err
	}
	switch x := a.(type) {
	case Amount:
		if y, ok := b.(Amount); ok {
			return boxed(x.plus(y))
		}
	case time.Duration:
		switch y := b.(type) {
		case time.Duration:
			return addDurations(x, y)
		case time.Time:
			return move(y, x)
		}
	case time.Time:
		if y, ok := b.(time.Duration); ok {
			return move(x, y)
		}
	}
	return nil, meaningless(a, "+", b)
}

func subtractComputed(a, b any) (any, error) {
	a, b, err := terms(a, b)
	if err != nil {
		return nil, err
	}
	switch x := a.(type) {
	case Amount:
		if y, ok := b.(Amount); ok {
			return boxed(x.plus(y.negated()))
		}
	case time.Duration:
		if y, ok := b.(time.Duration); ok {
			return addDurations(x, -y)
		}
	case time.Time:
		switch y := b.(type) {
		case time.Duration:
			return move(x, -y)
		case time.Time:
			return between(y, x)
		}
	}
	return nil, meaningless(a, "-", b)
}

func multiplyComputed(a, b any) (any, error) {
	d, n, ok := scaled(a, b)
	if !ok {
		d, n, ok = scaled(b, a)
	}
	if !ok {
		return nil, meaningless(a, "*", b)
	}
	product, ok := multiply(int64(d), n)
	if !ok || product == math.MinInt64 {
		return nil, errDuration
	}
	return time.Duration(product), nil
}

func scaled(a, b any) (time.Duration, int64, bool) {
	d, first := a.(time.Duration)
	n, second := b.(int64)
	return d, n, first && second
}

func divideComputed(a, b any) (any, error) {
	if d, n, ok := scaled(a, b); ok {
		if n == 0 {
			return nil, errZero
		}
		return d / time.Duration(n), nil
	}
	if KindOf(a)|KindOf(b) == Duration|String {
		var err error
		if a, b, err = Align(a, b, nil); err != nil {
			return nil, err
		}
	}
	x, first := a.(time.Duration)
	y, second := b.(time.Duration)
	switch {
	case !first || !second:
		return nil, meaningless(a, "/", b)
	case y == 0:
		return nil, errZero
	default:
		return float64(x) / float64(y), nil
	}
}

// addDurations keeps out the one duration that has no opposite.
func addDurations(x, y time.Duration) (any, error) {
	sum := x + y
	if (sum > x) != (y > 0) || sum == math.MinInt64 {
		return nil, errDuration
	}
	return sum, nil
}

func move(t time.Time, d time.Duration) (any, error) {
	if t = t.Add(d); !withinYears(t) {
		return nil, errYear
	}
	return t, nil
}

// between returns how long it is from one time to another.
func between(from, to time.Time) (any, error) {
	d := to.Sub(from)
	if !from.Add(d).Equal(to) || d == math.MinInt64 { // Sub stops at what a duration holds.
		return nil, errDuration
	}
	return d, nil
}

func meaningless(a any, operator string, b any) *Fault {
	return Faultf("%s %s %s has no meaning", KindOf(a), operator, KindOf(b))
}

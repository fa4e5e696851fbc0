package value

import (
	"math"
	"time"
)

var (
	errZero     = Faultf("division by zero")
	errDuration = Faultf("the duration is longer than 292 years")
	errYear     = Faultf("the time is outside of the years 0 to 9999")
)

// Compute returns what an operator gives for two numbers, of which one may be a quantity, a duration or a time, or a text for
// one: an integer for two integers, but for / and a negative exponent, which give a float.
func Compute(a any, operator string, b any) (result any, err error) {
	defer Catch(&err)
	x, first := a.(int64)
	y, second := b.(int64)
	switch {
	case first && second && operator == "%" && y == 0:
		return nil, errZero
	case first && second && operator != "/" && (y >= 0 || operator != "**" && operator != "^"):
		return integers(x, operator, y), nil
	case isComputed(a, b):
		return ofComputed(a, operator, b), nil
	default:
		return floats(a, operator, b), nil
	}
}

// integers is an operation on integers that gives one, if that is what mathematics gives.
func integers(x int64, operator string, y int64) int64 {
	var result int64
	ok := true
	switch operator {
	case "+":
		result = x + y
		ok = (result > x) == (y > 0)
	case "-":
		result = x - y
		ok = (result < x) == (y > 0)
	case "*":
		result, ok = multiply(x, y)
	case "%":
		result = x % y
	default:
		result, ok = power(x, y)
	}
	if !ok {
		Must(overflow(x, operator, y))
	}
	return result
}

func overflow(x int64, operator string, y int64) error {
	return Faultf("%d %s %d overflows a 64-bit integer", x, operator, y)
}

// Quotient returns the integer a / b, truncated toward zero.
func Quotient(a, b int64) (any, error) {
	switch {
	case b == 0:
		return nil, errZero
	case a == math.MinInt64 && b == -1:
		return nil, overflow(a, "/", b)
	default:
		return a / b, nil
	}
}

// Negate returns -a of a number, a quantity or a duration.
func Negate(a any) (any, error) {
	if a == any(int64(math.MinInt64)) {
		return nil, Faultf("-(%d) overflows a 64-bit integer", a)
	}
	return Compute(int64(0), "-", a)
}

// floats is an operation on numbers that gives a float. An integer beyond 2^53 is rounded.
func floats(a any, operator string, b any) float64 {
	x, y := float(a), float(b)
	var result float64
	switch operator {
	case "+":
		result = x + y
	case "-":
		result = x - y
	case "*":
		result = x * y
	case "/":
		if y == 0 {
			Must(errZero)
		}
		result = x / y
	default:
		result = math.Pow(x, y)
	}
	if math.IsNaN(result) || math.IsInf(result, 0) {
		Must(Faultf("the result is not a finite number"))
	}
	return result
}

func float(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	default:
		Must(Faultf("arithmetic wants two numbers")) // Callers check kinds first.
		return 0
	}
}

func multiply(x, y int64) (product int64, ok bool) {
	product = x * y
	return product, x == 0 || product/x == y && (x != -1 || y != math.MinInt64)
}

// power squares and multiplies, so that it takes at most 63 rounds.
func power(base, exponent int64) (int64, bool) {
	result := int64(1)
	for {
		var ok bool
		if exponent&1 == 1 {
			if result, ok = multiply(result, base); !ok {
				return 0, false
			}
		}
		if exponent >>= 1; exponent == 0 {
			return result, true
		}
		if base, ok = multiply(base, base); !ok {
			return 0, false
		}
	}
}

func isComputed(a, b any) bool { return (KindOf(a)|KindOf(b))&Computed != 0 }

// Align makes two values comparable: where one is a computed value, a string or a
// number beside it is read as another of its kind. What has no such reading stays
// as it is.
func Align(a, b any, budget *Budget) (x, y any, err error) {
	switch {
	case !isComputed(a, b):
		return a, b, nil
	case KindOf(a) == KindOf(b):
		return a, b, budget.Steps(stepsOfComparison)
	}
	defer Catch(&err)
	Must(budget.Conversion())
	return readAs(KindOf(b), a), readAs(KindOf(a), b), nil
}

// readAs makes a value of a kind out of v where v can stand for one.
func readAs(wanted Kind, v any) any {
	kind := KindOf(v)
	switch {
	case wanted == Quantity && kind&(Number|String) != 0:
		return Got(ParseAmount(v))
	case wanted == Semver && kind == String:
		return Got(ParseVersion(v))
	case wanted == Duration && kind&(Int|String) != 0:
		return Got(ParseDuration(v))
	case wanted == Time && kind == String:
		return Got(ParseTime(v))
	default:
		return v
	}
}

// term reads a string or a number beside a quantity as one and beside a time or
// a duration as what it looks like. No duration has a dash after four characters.
func term(v any, other Kind) any {
	switch text, isText := v.(string); {
	case other&(Duration|Time) == 0:
		return readAs(other, v)
	case isText && len(text) > 4 && text[4] == '-':
		return readAs(Time, v)
	default:
		return readAs(Duration, v)
	}
}

// ofComputed is an operation on values of which one is computed.
func ofComputed(a any, operator string, b any) any {
	if result, is := byInteger(a, operator, b); is {
		return result
	}
	switch y := term(b, KindOf(a)).(type) {
	case Amount:
		if x, is := term(a, KindOf(b)).(Amount); is && operator == "+" {
			return Got(x.plus(y))
		} else if is && operator == "-" {
			return Got(x.plus(y.negated()))
		}
	case time.Duration:
		switch x := term(a, KindOf(b)).(type) {
		case time.Duration:
			switch operator {
			case "+":
				return duration(x+y, (x+y > x) == (y > 0))
			case "-":
				return duration(x-y, (x-y < x) == (y > 0))
			case "/":
				return floats(int64(x), operator, int64(y))
			}
		case time.Time:
			switch operator {
			case "+":
				return within(x.Add(y))
			case "-":
				return within(x.Add(-y))
			}
		}
	case time.Time:
		switch x := term(a, KindOf(b)).(type) {
		case time.Duration:
			if operator == "+" {
				return ofComputed(y, operator, x)
			}
		case time.Time:
			if operator == "-" { // Sub stops at what a duration holds.
				return duration(x.Sub(y), y.Add(x.Sub(y)).Equal(x))
			}
		}
	}
	Must(Faultf("%s %s %s has no meaning", KindOf(a), operator, KindOf(b)))
	return nil
}

// byInteger multiplies or divides a duration by an integer.
func byInteger(a any, operator string, b any) (result time.Duration, is bool) {
	d, n, is := scaled(a, b)
	if !is && operator == "*" {
		d, n, is = scaled(b, a)
	}
	switch {
	case is && operator == "*":
		product, ok := multiply(int64(d), n)
		return duration(time.Duration(product), ok), true
	case is && operator == "/" && n != 0:
		return d / time.Duration(n), true
	default:
		return 0, false
	}
}

func scaled(a, b any) (time.Duration, int64, bool) {
	d, first := a.(time.Duration)
	n, second := b.(int64)
	return d, n, first && second
}

// within returns a time that RFC 3339 can write.
func within(t time.Time) time.Time {
	if !withinYears(t) {
		Must(errYear)
	}
	return t
}

// duration returns a result, if that is what mathematics gives, and has an opposite.
func duration(d time.Duration, ok bool) time.Duration {
	if !ok || d == math.MinInt64 {
		Must(errDuration)
	}
	return d
}

package value

import (
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
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
	if other&(Duration|Time) != 0 {
		if text, ok := v.(string); ok && len(text) > 4 && text[4] == '-' {
			return readAs(Time, v)
		}
		return readAs(Duration, v)
	}
	return readAs(other, v)
}

// compute is an operation on values of which one is computed.
func compute(operation func(a, b any) any, a, b any) (result any, err error) {
	defer Catch(&err)
	return operation(a, b), nil
}

func addComputed(a, b any) any { return sum(term(a, KindOf(b)), "+", term(b, KindOf(a))) }

func subtractComputed(a, b any) any {
	a, b = term(a, KindOf(b)), term(b, KindOf(a))
	switch y := b.(type) {
	case Amount:
		return sum(a, "-", y.negated())
	case time.Duration:
		return sum(a, "-", -y)
	case time.Time:
		if x, ok := a.(time.Time); ok {
			d := x.Sub(y)
			if !y.Add(d).Equal(x) || d == math.MinInt64 { // Sub stops at what a duration holds.
				Must(errDuration)
			}
			return d
		}
	}
	return meaningless(a, "-", b)
}

func sum(a any, operator string, b any) any {
	switch x := a.(type) {
	case Amount:
		if y, ok := b.(Amount); ok {
			return Got(x.plus(y))
		}
	case time.Duration:
		switch y := b.(type) {
		case time.Duration:
			total := x + y
			if (total > x) != (y > 0) || total == math.MinInt64 { // It has no opposite.
				Must(errDuration)
			}
			return total
		case time.Time:
			return sum(y, operator, x)
		}
	case time.Time:
		if y, ok := b.(time.Duration); ok {
			if x = x.Add(y); !withinYears(x) {
				Must(errYear)
			}
			return x
		}
	}
	return meaningless(a, operator, b)
}

func multiplyComputed(a, b any) any {
	d, n, ok := scaled(a, b)
	if !ok {
		d, n, ok = scaled(b, a)
	}
	if !ok {
		return meaningless(a, "*", b)
	}
	product, ok := multiply(int64(d), n)
	if !ok || product == math.MinInt64 {
		Must(errDuration)
	}
	return time.Duration(product)
}

func scaled(a, b any) (time.Duration, int64, bool) {
	d, first := a.(time.Duration)
	n, second := b.(int64)
	return d, n, first && second
}

func divideComputed(a, b any) any {
	d, n, byInteger := scaled(a, b)
	if KindOf(a)|KindOf(b) == Duration|String {
		a, b = readAs(Duration, a), readAs(Duration, b)
	}
	x, first := a.(time.Duration)
	y, second := b.(time.Duration)
	switch {
	case byInteger && n != 0:
		return d / time.Duration(n)
	case !byInteger && (!first || !second):
		return meaningless(a, "/", b)
	case y == 0:
		Must(errZero)
	}
	return float64(x) / float64(y)
}

func meaningless(a any, operator string, b any) any {
	Must(Faultf("%s %s %s has no meaning", KindOf(a), operator, KindOf(b)))
	return nil
}

// Amount is a quantity, as of memory or of processors: less than 2^63 either way and
// exact to a billionth. The zero value is the quantity 0. Use Equal, since == also sees
// how an amount was written.
type Amount struct{ of resource.Quantity }

// ParseAmount reads a quantity, a string such as "512Mi" or "1.5", or a number. Of
// a string that is finer than a billionth it rounds up, as Kubernetes does, and a
// float to the nearest one.
func ParseAmount(v any) (Amount, error) {
	switch v := v.(type) {
	case Amount:
		return v, nil
	case int64:
		return bounded(*resource.NewQuantity(v, resource.DecimalSI))
	case float64:
		if !(math.Abs(v) < 1<<63) { // This way round also for what is no number.
			return Amount{}, errAmount
		}
		return parseAmount(strconv.FormatFloat(v, 'f', 9, 64))
	case string:
		return parseAmount(v)
	default:
		return Amount{}, Faultf("want a quantity, have %s", KindOf(v))
	}
}

// worthParsing refuses what would make the parser compute for long, and what it
// takes for 0 although there is no number before the suffix.
func worthParsing(text string) bool {
	const longest, digits, longestExponent = 70, "0123456789", 2
	number := text
	if text != "" && (text[0] == '-' || text[0] == '+') {
		number = text[1:]
	}
	first := strings.IndexAny(number, digits)
	if len(text) > longest || first < 0 || strings.TrimPrefix(number[:first], ".") != "" {
		return false
	}
	exponent := strings.LastIndexAny(number, "eE")
	return exponent < 0 || len(strings.Trim(number[exponent+1:], "+-")) <= longestExponent
}

func parseAmount(text string) (Amount, error) {
	wrong := Faultf("%q is not a quantity", Excerpt(text)).
		WithHint(`write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`)
	if !worthParsing(text) {
		return Amount{}, wrong
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return Amount{}, wrong
	}
	// Kubernetes silently takes the largest integer for more than that in binary units.
	if q.Format == resource.BinarySI && q.CmpInt64(math.MaxInt64) == 0 {
		return Amount{}, errAmount
	}
	return bounded(q)
}

var (
	errAmount        = Faultf("a quantity has to be less than 2^63")
	tooLarge, tooLow = resource.MustParse("9223372036854775808"), resource.MustParse("-9223372036854775808")
)

// bounded keeps the number as a decimal, without the text that it was read from.
func bounded(q resource.Quantity) (Amount, error) {
	if q.Cmp(tooLarge) >= 0 || q.Cmp(tooLow) <= 0 {
		return Amount{}, errAmount
	}
	return Amount{*resource.NewDecimalQuantity(*q.AsDec(), q.Format)}, nil
}

func (a Amount) negated() Amount {
	q := a.of.DeepCopy()
	q.Neg()
	return Amount{q}
}

// Equal reports whether both are the same quantity, however written.
func (a Amount) Equal(b Amount) bool { return a.compare(b) == 0 }

func (a Amount) compare(b Amount) int { return a.of.Cmp(b.of) }

// plus writes the sum like a, or like b where a is 0.
func (a Amount) plus(b Amount) (Amount, error) {
	sum := a.of.DeepCopy()
	sum.Add(b.of)
	return bounded(sum)
}

// String returns the canonical form, as Kubernetes writes it.
func (a Amount) String() string { return a.of.String() }

// identity is a text that equal amounts have, and no others.
func (a Amount) identity() string {
	a.of.Format = resource.DecimalSI
	return a.of.String()
}

// Int returns the quantity without its fraction.
func (a Amount) Int() int64 {
	whole, _, _ := strings.Cut(a.of.AsDec().String(), ".")
	i, _ := strconv.ParseInt(whole, 10, 64)
	return i
}

// Float returns the nearest float.
func (a Amount) Float() float64 { return a.of.AsFloat64Slow() }

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
	return sum(a, "+", b)
}

func subtractComputed(a, b any) (any, error) {
	a, b, err := terms(a, b)
	if err != nil {
		return nil, err
	}
	switch y := b.(type) {
	case Amount:
		return sum(a, "-", y.negated())
	case time.Duration:
		return sum(a, "-", -y)
	case time.Time:
		if x, ok := a.(time.Time); ok {
			return between(y, x)
		}
	}
	return nil, meaningless(a, "-", b)
}

func sum(a any, operator string, b any) (any, error) {
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
	return nil, meaningless(a, operator, b)
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

package value

import (
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// ErrStamp is the error of whatever needs to know what [Stamp] will be.
var ErrStamp = Faultf("stamp() cannot be read: it may only be a value in a body")

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

// QuickQuantity reports whether a text is parsed as a quantity, or refused, at once: an exponent is a number of digits to compute with.
func QuickQuantity(text string) bool {
	const longest, longestExponent = 70, 2
	at := strings.LastIndexAny(text, "eE")
	return len(text) <= longest && (at < 0 || len(strings.Trim(text[at+1:], "+-")) <= longestExponent)
}

func parseAmount(text string) (Amount, error) {
	wrong := Faultf("%q is not a quantity", Excerpt(text)).
		WithHint(`write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`)
	// The parser takes a suffix alone for 0.
	if number := strings.TrimLeft(text, "+-."); !QuickQuantity(text) || number == "" || number[0] < '0' || number[0] > '9' {
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

package value

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is a quantity, as of memory or of processors, in the units of
// Kubernetes: less than 2^63 either way and exact to a billionth. The zero value
// is the quantity 0. Use Equal, since == also sees how an amount was written.
type Amount struct {
	// high and low are the number of billionths, in two's complement.
	high int64
	low  uint64
	// format is how it was written, with suffixes like Gi, like G or like e9.
	format resource.Format
}

const billion = 1_000_000_000

// ParseAmount reads a quantity, a string such as "512Mi" or "1.5", or a number. Of
// a string that is finer than a billionth it rounds up, as Kubernetes does, and a
// float to the nearest one.
func ParseAmount(v any) (Amount, error) {
	switch v := v.(type) {
	case Amount:
		return v, nil
	case int64:
		return wholeAmount(v)
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

func wholeAmount(n int64) (Amount, error) {
	high, low := bits.Mul64(magnitude(n), billion)
	return Amount{high: int64(high), low: low, format: resource.DecimalSI}.signed(n < 0)
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
	decimal := q.AsDec() // No copy is needed, as nobody else has q.
	billionths := new(big.Int).Exp(big.NewInt(10), big.NewInt(9-int64(decimal.Scale())), nil)
	billionths.Mul(billionths, decimal.UnscaledBig())
	negative := billionths.Sign() < 0
	if billionths.Abs(billionths).BitLen() > 127 {
		return Amount{}, errAmount
	}
	low := new(big.Int).And(billionths, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	high := billionths.Rsh(billionths, 64).Int64()
	return Amount{high: high, low: low, format: q.Format}.signed(negative)
}

var errAmount = Faultf("a quantity has to be less than 2^63")

// signed gives a positive amount its sign and makes sure that it is not too large.
func (a Amount) signed(negative bool) (Amount, error) {
	if a.compare(largestAmount) > 0 {
		return Amount{}, errAmount
	}
	if negative {
		return a.negated(), nil
	}
	return a, nil
}

// largestAmount is 2^63 less a billionth.
var largestAmount = Amount{high: billion/2 - 1, low: math.MaxUint64}

func (a Amount) negated() Amount {
	low, borrow := bits.Sub64(0, a.low, 0)
	return Amount{high: -a.high - int64(borrow), low: low, format: a.format}
}

func (a Amount) negative() bool { return a.high < 0 }

func (a Amount) isZero() bool { return a.high == 0 && a.low == 0 }

// Equal reports whether both are the same quantity, however written.
func (a Amount) Equal(b Amount) bool { return a.compare(b) == 0 }

func (a Amount) compare(b Amount) int {
	return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low))
}

// plus writes the sum like a, or like b where a is 0.
func (a Amount) plus(b Amount) (Amount, error) {
	low, carry := bits.Add64(a.low, b.low, 0)
	sum := Amount{high: a.high + b.high + int64(carry), low: low, format: a.format}
	if a.isZero() {
		sum.format = b.format
	}
	if sum.negative() {
		positive, err := sum.negated().signed(false)
		return positive.negated(), err
	}
	return sum.signed(false)
}

// decimal returns the number as Kubernetes has it.
func (a Amount) decimal() resource.Quantity {
	size := a
	if a.negative() {
		size = a.negated()
	}
	billionths := new(big.Int).SetUint64(uint64(size.high))
	billionths.Lsh(billionths, 64).Or(billionths, new(big.Int).SetUint64(size.low))
	if a.negative() {
		billionths.Neg(billionths)
	}
	q := resource.Quantity{Format: a.format}
	q.AsDec().SetUnscaledBig(billionths)
	q.AsDec().SetScale(9)
	return q
}

// String returns the canonical form, as Kubernetes writes it.
func (a Amount) String() string {
	if a.isZero() {
		return "0"
	}
	q := a.decimal()
	return q.String()
}

// MarshalText returns the canonical form.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Int returns the quantity without its fraction.
func (a Amount) Int() int64 {
	if a.negative() {
		return -a.negated().Int()
	}
	whole, _ := bits.Div64(uint64(a.high), a.low, billion)
	return int64(whole)
}

// Float returns the nearest float.
func (a Amount) Float() float64 {
	q := a.decimal()
	return q.AsFloat64Slow()
}

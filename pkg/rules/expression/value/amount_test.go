package value

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

func TestParseAmount(t *testing.T) {
	tests := map[string]struct {
		reason string
		v      any
		want   string
	}{
		"binary":                     {"memory", "2Gi", "2Gi"},
		"binary with a fraction":     {"it is a whole number of the next unit", "1.5Gi", "1536Mi"},
		"milli":                      {"processors", "500m", "500m"},
		"an exponent":                {"keeps being written as one", "1e3", "1e3"},
		"a capital exponent":         {"is an exponent", "12E2", "1200"},
		"exa":                        {"a capital E alone is a suffix", "9E", "9E"},
		"a point at the end":         {"Kubernetes allows it", "1.", "1"},
		"negative":                   {"the sign is kept", "-1.5Gi", "-1536Mi"},
		"nothing of something":       {"0 has no unit", "-0Mi", "0"},
		"less than a billionth":      {"Kubernetes rounds up", "0.1n", "1n"},
		"far less than a billionth":  {"Kubernetes rounds up", "1e-99", "1e-9"},
		"the largest but a bit":      {"billionths are kept everywhere", "9223372036854775807.999999999", "9223372036854775807999999999n"},
		"an integer":                 {"fields may hold numbers", int64(-3), "-3"},
		"a float":                    {"fields may hold numbers", 0.25, "250m"},
		"a float that is not exact":  {"the nearest billionth is what is meant", 0.1 + 0.2, "300m"},
		"a quantity":                 {"it is one already", amountOf("5m"), "5m"},
		"the zero value":             {"it is 0", Amount{}, "0"},
		"as many zeros as one wants": {"up to a point", strings.Repeat("0", 60) + "7k", "7k"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, err := ParseAmount(tt.v)
			if err != nil || a.String() != tt.want {
				t.Errorf("ParseAmount(%v) = %v, %v, want %s: %s", tt.v, a, err, tt.want, tt.reason)
			}
		})
	}
}

func TestParseAmountErrors(t *testing.T) {
	const form = `is not a quantity; write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`
	const size = "a quantity has to be less than 2^63"
	tests := map[string]struct {
		reason string
		v      any
		want   string
	}{
		"empty":                   {"no number", "", `"" ` + form},
		"a small k in binary":     {"suffixes are exact", "5ki", `"5ki" ` + form},
		"white space":             {"Kubernetes refuses it", " 5", `" 5" ` + form},
		"a long exponent":         {"would take for ever", "1e999999999", `"1e999999999" ` + form},
		"a long negative one":     {"would take for ever", "1e-999999999", `"1e-999999999" ` + form},
		"many digits":             {"would take long", "1" + strings.Repeat("0", 100_000), `"1` + strings.Repeat("0", 59) + `..." ` + form},
		"too large":               {"Kubernetes has no such number", "10E", size},
		"too large in binary":     {"Kubernetes silently takes less", "8Ei", size},
		"one more":                {"it is 2^63", "9223372036854775808", size},
		"the smallest integer":    {"it is -2^63", int64(math.MinInt64), size},
		"no number":               {"nothing compares to it", math.NaN(), size},
		"a duration":              {"it is none", true, "want a quantity, have a boolean"},
		"nothing but a point":     {"no number", ".", `"." ` + form},
		"a suffix and more of it": {"no number", "1Gi2", `"1Gi2" ` + form},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if a, err := ParseAmount(tt.v); err == nil || err.Error() != tt.want {
				t.Errorf("ParseAmount(%.80v) = %v, %v, want %s: %s", tt.v, a, err, tt.want, tt.reason)
			}
		})
	}
}

func TestAmountConversions(t *testing.T) {
	tests := map[string]struct {
		i int64
		f float64
	}{
		"1500m":                {1, 1.5},
		"-1500m":               {-1, -1.5},
		"1Gi":                  {1 << 30, 1 << 30},
		"1n":                   {0, 1e-9},
		"0":                    {0, 0},
		"9223372036854775807":  {math.MaxInt64, math.MaxInt64},
		"-9223372036854775807": {-math.MaxInt64, -math.MaxInt64},
	}
	for text, want := range tests {
		a, err := ParseAmount(text)
		if err != nil || a.Int() != want.i || a.Float() != want.f {
			t.Errorf("%s is %d and %v (%v), want %d and %v", text, a.Int(), a.Float(), err, want.i, want.f)
		}
	}
}

func amountOf(text string) Amount { return Amount{resource.MustParse(text)} }

// amounts draws quantities as people and Kubernetes write them.
func amounts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		sign := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "sign")
		number := rapid.StringMatching(`[0-9]{1,9}(\.[0-9]{0,12})?`).Draw(t, "number")
		suffix := rapid.SampledFrom([]string{"", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-2", "e-9"}).Draw(t, "suffix")
		return sign + number + suffix
	})
}

// exact is the number as the library of Kubernetes reads it, without help of ours.
func exact(t *rapid.T, text string) *big.Rat {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := new(big.Rat).SetString(q.AsDec().String())
	if !ok {
		t.Fatalf("%s is no number", q.AsDec())
	}
	return r
}

// TestAmountProperties compares with numbers of any size: parsing, the canonical
// form, order, sum and difference.
func TestAmountProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := amounts().Draw(t, "first"), amounts().Draw(t, "second")
		a, b := drawn(t, first), drawn(t, second)
		x, y := exact(t, first), exact(t, second)
		if !a.Equal(drawn(t, a.String())) {
			t.Fatalf("%s became %s", first, a)
		}
		if got := exact(t, a.String()); got.Cmp(x) != 0 {
			t.Fatalf("%s became %s", first, a)
		}
		if order, ok := Compare(a, b); !ok || order != x.Cmp(y) {
			t.Fatalf("%s and %s: order %d, want %d", a, b, order, x.Cmp(y))
		}
		sum, err := Compute(a, "+", b)
		if got := rat(t, sum, err); got.Cmp(new(big.Rat).Add(x, y)) != 0 {
			t.Fatalf("%s + %s = %s", a, b, got)
		}
		difference, err := Compute(a, "-", b)
		if got := rat(t, difference, err); got.Cmp(new(big.Rat).Sub(x, y)) != 0 {
			t.Fatalf("%s - %s = %s", a, b, got)
		}
	})
}

func drawn(t *rapid.T, text string) Amount {
	a, err := ParseAmount(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

func rat(t *rapid.T, v any, err error) *big.Rat {
	a, ok := v.(Amount)
	if err != nil || !ok {
		t.Fatalf("%v, %v", v, err)
	}
	r, _ := new(big.Rat).SetString(a.of.AsDec().String())
	return r
}

// TestAmountOverflow adds up to the limit and beyond.
func TestAmountOverflow(t *testing.T) {
	largest, err := ParseAmount("9223372036854775807.999999999")
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := Compute(largest, "+", "1n"); err == nil {
		t.Errorf("largest + 1n = %v", sum)
	}
	smallest, err := Negate(largest)
	if err != nil {
		t.Fatal(err)
	}
	if difference, err := Compute(smallest, "-", "1n"); err == nil {
		t.Errorf("smallest - 1n = %v", difference)
	}
	if sum, err := Compute(largest, "+", smallest); err != nil || sum.(Amount).String() != "0" {
		t.Errorf("largest + smallest = %v, %v", sum, err)
	}
}

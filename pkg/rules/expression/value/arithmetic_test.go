package value

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"testing/quick"
)

const (
	least = int64(math.MinInt64)
	most  = int64(math.MaxInt64)
)

// TestIntegersAreExact compares each operation with arbitrary precision, for
// random operands and for all pairs of those where overflow begins.
func TestIntegersAreExact(t *testing.T) {
	operations := map[string]func(z, x, y *big.Int) *big.Int{"+": (*big.Int).Add, "-": (*big.Int).Sub, "*": (*big.Int).Mul}
	edges := []int64{
		0, 1, -1, 2, -2, 3, 7, -7, 1 << 31, -1 << 31, 1 << 32, 1<<32 - 1, 3037000499, 3037000500, -3037000500,
		most, most - 1, most / 2, most/2 + 1, least, least + 1, least / 2, least/2 - 1,
	}
	for name, exact := range operations {
		check := func(x, y int64) bool {
			want := exact(new(big.Int), big.NewInt(x), big.NewInt(y))
			got, err := Compute(x, name, y)
			if want.IsInt64() {
				return err == nil && got == any(want.Int64())
			}
			var fault *Fault
			return errors.As(err, &fault) && got == nil
		}
		for _, x := range edges {
			for _, y := range edges {
				if !check(x, y) {
					t.Errorf("%d %s %d is not exact", x, name, y)
				}
			}
		}
		if err := quick.Check(check, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPowerIsExact(t *testing.T) {
	for base := int64(-12); base <= 12; base++ {
		for exponent := int64(0); exponent <= 70; exponent++ {
			want := new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
			got, err := Compute(base, "**", exponent)
			if want.IsInt64() != (err == nil) || err == nil && got != any(want.Int64()) {
				t.Errorf("%d ** %d = %v, %v, want %v", base, exponent, got, err, want)
			}
		}
	}
}

func TestArithmetic(t *testing.T) {
	tests := map[string]struct {
		got  func() (any, error)
		want any
		err  string
	}{
		"quotient":                         {func() (any, error) { return Quotient(-7, 2) }, int64(-3), ""},
		"quotient by zero":                 {func() (any, error) { return Quotient(1, 0) }, nil, "division by zero"},
		"quotient that overflows":          {func() (any, error) { return Quotient(least, -1) }, nil, "-9223372036854775808 / -1 overflows a 64-bit integer"},
		"remainder":                        {func() (any, error) { return Compute(int64(-7), "%", int64(2)) }, int64(-1), ""},
		"remainder by minus one":           {func() (any, error) { return Compute(least, "%", int64(-1)) }, int64(0), ""},
		"remainder by zero":                {func() (any, error) { return Compute(int64(1), "%", int64(0)) }, nil, "division by zero"},
		"division of integers":             {func() (any, error) { return Compute(int64(1), "/", int64(4)) }, 0.25, ""},
		"division by zero":                 {func() (any, error) { return Compute(int64(1), "/", int64(0)) }, nil, "division by zero"},
		"division by minus zero":           {func() (any, error) { return Compute(1.0, "/", math.Copysign(0, -1)) }, nil, "division by zero"},
		"a float and an integer":           {func() (any, error) { return Compute(0.5, "+", int64(1)) }, 1.5, ""},
		"an infinite sum":                  {func() (any, error) { return Compute(math.MaxFloat64, "+", math.MaxFloat64) }, nil, "the result is not a finite number"},
		"negation":                         {func() (any, error) { return Negate(int64(5)) }, int64(-5), ""},
		"negation of a float":              {func() (any, error) { return Negate(0.5) }, -0.5, ""},
		"negation of the smallest integer": {func() (any, error) { return Negate(least) }, nil, "-(-9223372036854775808) overflows a 64-bit integer"},
		"a negative exponent":              {func() (any, error) { return Compute(int64(2), "**", int64(-2)) }, 0.25, ""},
		"zero to a negative exponent":      {func() (any, error) { return Compute(int64(0), "**", int64(-1)) }, nil, "the result is not a finite number"},
		"a large exponent of one":          {func() (any, error) { return Compute(int64(-1), "**", most) }, int64(-1), ""},
		"texts":                            {func() (any, error) { return Compute("a", "+", "b") }, nil, "arithmetic wants two numbers"},
		"nil":                              {func() (any, error) { return Compute(nil, "*", int64(1)) }, nil, "arithmetic wants two numbers"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.got()
			if message := messageOf(err); got != tt.want || message != tt.err {
				t.Errorf("%v, %q, want %v, %q", got, message, tt.want, tt.err)
			}
		})
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

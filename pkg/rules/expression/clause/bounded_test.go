package clause_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
)

// repeated joins n parts, each with its number.
func repeated(n int, format, between string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(format, "%d", fmt.Sprint(i))
	}
	return strings.Join(parts, between)
}

// TestBounded holds that conditions which want to take very long are given up, and that a pair of them is cheap.
func TestBounded(t *testing.T) {
	hot := repeated(16, "object.spec.x%d == 1", " || ")
	tests := map[string]struct {
		reason, a, b string
		exclusive    bool
		most         int // steps
	}{
		"Plain":    {"What people write.", `prod && object.spec.n > 3`, `prod && object.spec.n < 2`, true, 50},
		"Ways":     {"Very many ways.", repeated(60, "(object.spec.a == 1 || object.spec.b%d == 2)", " && "), "prod", false, 100_000},
		"Literals": {"Very many conditions at once.", repeated(200, "object.spec.x%d == 1", " && "), "prod", false, 100_000},
		"Both":     {"Two of many ways that differ in one thing.", "(" + hot + ") && object.spec.y == 1", "(" + hot + ") && object.spec.y == 2", true, 500},
		"In":       {"A long list.", "object.spec.x in [" + repeated(1900, "%d", ",") + "] && object.spec.y == 1", "object.spec.x in [" + repeated(1900, "%d", ",") + "] && object.spec.y == 2", true, 30_000},
		"Not":      {"Many exceptions.", repeated(200, "object.spec.x != %d", " && "), "object.spec.x == -1", false, 100_000},
		"Text":     {"Long texts.", repeated(100, `object.spec.x matches "`+strings.Repeat("x", 100)+`%d"`, " || "), "prod", false, 100_000},
		"Deep":     {"Deep down.", strings.Repeat("!(", 40) + "prod" + strings.Repeat(")", 40), "!prod", true, 1000},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			work := clause.NewWork(tc.most)
			a, b := clause.Of(compile(t, tc.a), lets(t), work), clause.Of(compile(t, tc.b), lets(t), work)
			if got := clause.Exclusive(a, b, work); got != tc.exclusive {
				t.Errorf("%s They exclude each other: %t, want %t", tc.reason, got, tc.exclusive)
			}
			if work.Spent() {
				t.Errorf("%s It took more than %d steps", tc.reason, tc.most)
			}
		})
	}
}

// TestLets holds that lets which use one another ever more often are given up.
func TestLets(t *testing.T) {
	names := scope{}
	all := []string{"object"}
	for i := range 60 {
		all = append(all, fmt.Sprintf("l%d", i))
	}
	of := func(text string) *expression.Program {
		p, err := expression.Compile(text, expression.NewScope(all...))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	names["l0"] = of(`object.spec.a == 1`)
	for i := 1; i < 60; i++ {
		names[fmt.Sprintf("l%d", i)] = of(fmt.Sprintf("l%d && object.spec.b == %d || l%d", i-1, i, i-1))
	}
	work := clause.NewWork(100_000)
	if clause.Exclusive(clause.Of(of("l59"), names, work), clause.Of(of("!l59"), names, work), work) {
		t.Error("it is not known that they exclude each other")
	}
	if work.Spent() {
		t.Error("it took too long")
	}
}

// TestNoWork holds that nothing is certain where there is no work left.
func TestNoWork(t *testing.T) {
	a, b := compile(t, `object.spec.a == 1`), compile(t, `object.spec.a == 2`)
	for steps := range 40 {
		work := clause.NewWork(steps)
		exclusive := clause.Exclusive(clause.Of(a, lets(t), work), clause.Of(b, lets(t), work), work)
		if exclusive && work.Spent() {
			t.Errorf("with %d steps they exclude each other, and there were not enough", steps)
		}
		if steps == 39 && !exclusive {
			t.Error("39 steps are not enough")
		}
	}
}

func TestWork(t *testing.T) {
	work := clause.NewWork(10)
	if !work.Spend(4) || !work.Spend(6) || work.Spent() {
		t.Error("ten steps are not ten")
	}
	for _, steps := range []int{1 << 62, 1 << 62, 0} {
		if work.Spend(steps) || !work.Spent() {
			t.Error("there are more than ten")
		}
	}
}

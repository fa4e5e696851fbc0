package expression_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
	"github.com/dyncontroller/dyncontroller/test/oracle"
)

// samples are values of each kind, and texts that can be read as others.
var samples = []string{
	"nil", "true", "false", "0", "3", "-2", "2.5", `""`, `"abc"`, `"3"`, `"1Gi"`, `"5m"`, `"1.2.3"`, `"2026-01-01T00:00:00Z"`, "[]", "[1]", `["abc", nil]`, "{}", `{abc: 1}`,
	`quantity("1Gi")`, `quantity(3)`, `semver("1.2.3")`, `duration("5m")`, `duration(0)`, `timestamp("2026-01-01T00:00:00Z")`, "stamp()", "omit()",
}

// two are the names of operators' operands.
type two struct {
	types  [2]typing.Type
	values [2]any
}

func (n two) Type(slot int, facts *typing.Facts) typing.Type { return facts.Apply(slot, n.types[slot]) }

func (n two) Definition(int) *expression.Program { return nil }

func (n two) Value(slot int) (any, error) { return n.values[slot], nil }

func evaluated(tb testing.TB, source string) any {
	tb.Helper()
	p, err := expression.Compile(source, expression.NewScope())
	if err != nil {
		tb.Fatal(err)
	}
	v, err := p.Eval(&expression.Evaluation{})
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// TestOperators compares every operator between any two kinds with the evaluator: a result is of the type that was
// foreseen, and a mistake was no false alarm for any value of the kinds.
func TestOperators(t *testing.T) {
	scope := expression.NewScope("a", "b")
	operators := []string{"+", "-", "*", "/", "%", "**", "^", "..", "<", "<=", ">", ">=", "==", "!=", "in", "contains", "startsWith", "endsWith", "&&", "||", "??"}
	never := map[string]any{"==": false, "!=": true, "in": false}
	type pair struct {
		operator    string
		left, right value.Kind
	}
	complained, worked, tried := map[pair]string{}, map[pair]string{}, map[pair]bool{}
	for _, operator := range operators {
		p, err := expression.Compile("(a) "+operator+" b", scope)
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range samples {
			for _, right := range samples {
				a, b := evaluated(t, left), evaluated(t, right)
				kinds := pair{operator, value.KindOf(a), value.KindOf(b)}
				tried[kinds] = true
				names := two{[2]typing.Type{typing.Of(kinds.left), typing.Of(kinds.right)}, [2]any{a, b}}
				of, errs := check.Program(p, names, nil)
				v, err := p.Eval(&expression.Evaluation{Names: names})
				source := left + " " + operator + " " + right
				if err == nil && len(errs) == 0 && !oracle.Admits(of, v) {
					t.Errorf("%s is %v, not %s", source, v, of)
				}
				if len(errs) > 0 {
					complained[kinds] = fmt.Sprint(errs[0])
				}
				if err == nil && v != never[operator] && !isShortcut(operator) {
					worked[kinds] = source
				}
				if err != nil && len(errs) == 0 && isAboutKinds(err) {
					t.Errorf("%s fails: %v", source, err)
				}
			}
		}
	}
	for kinds := range tried {
		takesAll := slices.Contains([]string{"==", "!=", "in", "??", "&&", "||"}, kinds.operator)
		if complained[kinds] == "" && worked[kinds] == "" && !takesAll {
			t.Errorf("%s %s %s never works, and nothing is said", kinds.left, kinds.operator, kinds.right)
		}
	}
	for kinds, source := range worked {
		if complaint := complained[kinds]; complaint != "" {
			t.Errorf("%s works, but: %s", source, complaint)
		}
	}
}

// isShortcut is for operators that may not look at their right side.
func isShortcut(operator string) bool { return operator == "&&" || operator == "||" }

// isAboutKinds reports whether an evaluation failed because of what kind of value something is.
func isAboutKinds(err error) bool {
	if _, fault := errors.AsType[*value.Fault](err); fault || errors.Is(err, value.ErrBudget) {
		return false
	}
	return true
}

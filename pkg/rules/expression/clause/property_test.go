package clause_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
)

// conditions draws conditions about one or two subjects and a few constants, so that many of them have to do with each other.
type conditions struct {
	*rapid.T
	subjects, constants []string
}

func newConditions(t *rapid.T) conditions {
	c := conditions{T: t}
	alike := rapid.SampledFrom([][]string{
		{"1", "2", "1.0", "2.5"}, {"9007199254740992", "9007199254740993", "1"}, {`"1Gi"`, `"1024Mi"`, "1"}, {`"1h"`, `"60m"`}, {"true", "false", "nil"}, {`"1"`, `"a"`, "nil", "1"},
	}).Draw(t, "constants")
	c.constants = alike
	for range rapid.IntRange(1, 2).Draw(t, "subjects") {
		c.subjects = append(c.subjects, c.anySubject())
	}
	return c
}

func (c conditions) subject() string { return c.of(c.subjects...) }

func (c conditions) of(texts ...string) string { return rapid.SampledFrom(texts).Draw(c.T, "part") }

func (c conditions) constant() string { return c.of(c.constants...) }

func (c conditions) anySubject() string {
	field := c.of("object.spec.a", "object.spec.b", "object.spec?.a")
	switch c.of("plain", "plain", "plain", "default", "quantity", "duration", "int", "let") {
	case "default":
		return "(" + field + " ?? " + c.constant() + ")"
	case "quantity":
		return "quantity(" + field + ")"
	case "duration":
		return "duration(" + field + ")"
	case "int":
		return "int(" + field + ")"
	case "let":
		return c.of("size", "replicas")
	default:
		return field
	}
}

func (c conditions) draw(depth int) string {
	kind := c.of("comparison", "comparison", "in", "key", "flag", "and", "or", "not")
	if depth == 0 && (kind == "and" || kind == "or" || kind == "not") {
		kind = "comparison"
	}
	switch kind {
	case "in":
		return c.subject() + " in [" + c.constant() + ", " + c.constant() + "]"
	case "key":
		return c.of(`"a"`, `"b"`) + " in object.spec"
	case "flag":
		return "(" + c.subject() + " ?? " + c.of("true", "false") + ")"
	case "and":
		return "(" + c.draw(depth-1) + " && " + c.draw(depth-1) + ")"
	case "or":
		return "(" + c.draw(depth-1) + " || " + c.draw(depth-1) + ")"
	case "not":
		return "!(" + c.draw(depth-1) + ")"
	}
	left, right := c.subject(), c.constant()
	if c.of("straight", "straight", "mirrored") == "mirrored" {
		left, right = right, left
	}
	return "(" + left + c.of(" == ", " != ", " < ", " <= ", " > ", " >= ") + right + ")"
}

// objects are all that the conditions can tell from one another.
func objects() (out []map[string]any) {
	values := []any{nil, true, false, int64(1), int64(2), 1.0, 2.5, int64(9007199254740992), int64(9007199254740993), "1", "1Gi", "1024Mi", "1h", "60m", "a"}
	for _, a := range values {
		for _, b := range values {
			spec := map[string]any{}
			if a != nil {
				spec["a"] = a
			}
			if b != nil {
				spec["b"] = b
			}
			out = append(out, map[string]any{"spec": spec})
		}
	}
	return out
}

// resolved is an object and the names of the tests.
type resolved struct {
	object map[string]any
	lets   []*expression.Program // by slot
}

func (r resolved) Value(slot int) (any, error) {
	if slot == 0 {
		return r.object, nil
	}
	if r.lets[slot] == nil {
		return nil, nil
	}
	return r.lets[slot].Eval(&expression.Evaluation{Names: r})
}

// TestExclusiveIsCertain is the promise of the package: of two conditions that exclude each other, never both hold.
func TestExclusiveIsCertain(t *testing.T) {
	all := objects()
	names := lets(t)
	bySlot := []*expression.Program{nil, nil, nil, names["prod"], names["replicas"], nil, nil, names["size"], names["sizes"]}
	exclusive := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := newConditions(rt)
		of := func(text string) (*expression.Program, clause.Condition) {
			p, err := expression.Compile(text, names["prod"].Scope())
			if err != nil {
				return nil, clause.Condition{} // A constant that a function or an operator never takes.
			}
			return p, clause.Of(p, names, clause.NewWork(plenty))
		}
		for range 40 {
			texts := [2]string{c.draw(1), c.draw(2)}
			a, one := of(texts[0])
			b, other := of(texts[1])
			if a == nil || b == nil || !clause.Exclusive(one, other, clause.NewWork(plenty)) {
				continue
			}
			exclusive++
			for _, object := range all {
				e := &expression.Evaluation{Names: resolved{object, bySlot}}
				if holds(a, e) && holds(b, e) {
					rt.Fatalf("%s and %s both hold for %v", texts[0], texts[1], object)
				}
			}
		}
	})
	if exclusive < 100 {
		t.Errorf("%d conditions exclude each other", exclusive)
	}
}

func holds(p *expression.Program, e *expression.Evaluation) bool {
	v, err := p.EvalBool(e)
	return err == nil && v
}

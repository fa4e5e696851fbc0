package expression

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// world is what the names of a test hold. Lets are evaluated when they are used.
type world struct {
	object, other map[string]any
	pods          []any
	lets          []*Program
	evaluation    *Evaluation
}

var worldScope = NewScope("object", "other", "pods", "params", "l0", "l1")

func (w *world) Value(slot int) (any, error) {
	switch slot {
	case 0:
		return w.object, nil
	case 1:
		if w.other == nil {
			return nil, nil
		}
		return w.other, nil
	case 2:
		return w.pods, nil
	case 3:
		return map[string]any{"key": "a", "n": int64(1)}, nil
	default:
		return w.lets[slot-4].Eval(w.evaluation)
	}
}

func (w *world) eval(p *Program) (any, error) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w.evaluation = &Evaluation{Names: w, Budget: value.NewBudget(1 << 20), Instant: value.NewInstant(now)}
	return p.Eval(w.evaluation)
}

// worldShapes is what the names of a world are to the footprint.
type worldShapes struct {
	object, other, pods footprint.Tree
	lets                []*Program
}

func (s *worldShapes) Shape(slot int) footprint.Shape {
	switch slot {
	case 0:
		return footprint.Object(&s.object)
	case 1:
		return footprint.OneOf(footprint.Object(&s.other), footprint.Other())
	case 2:
		return footprint.List(footprint.Object(&s.pods))
	case 3:
		return footprint.Other()
	default:
		return s.lets[slot-4].Shape(s)
	}
}

// project reduces the objects of a world to what the footprint says.
func (s *worldShapes) project(w *world) *world {
	reduced := &world{object: projection.New(&s.object).Project(w.object), lets: w.lets}
	if w.other != nil {
		reduced.other = projection.New(&s.other).Project(w.other)
	}
	for _, pod := range w.pods {
		m, _ := pod.(map[string]any)
		reduced.pods = append(reduced.pods, projection.New(&s.pods).Project(m))
	}
	return reduced
}

// seen is what a result says to whoever reads it that strongly.
func seen(v any, how footprint.Strength) any {
	switch how {
	case footprint.Value:
		return v
	case footprint.Length:
		switch v := v.(type) {
		case []any:
			return len(v)
		case map[string]any:
			keys, _ := value.SortedKeys(v, nil)
			return keys
		}
	default:
	}
	return value.KindOf(v)
}

// located is an error as users see it.
func located(err error) any {
	if err == nil {
		return nil
	}
	failure, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	return Error{Offset: failure.Offset, Length: failure.Length, Message: failure.Message, Hint: failure.Hint}
}

// checkSame compares what a program says of a world and of one reduced to the
// footprint.
func checkSame(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, p *Program, w *world, how footprint.Strength,
) (*worldShapes, error) {
	t.Helper()
	shapes := &worldShapes{lets: w.lets}
	p.Shape(shapes).Read(how)
	reduced := shapes.project(w)
	want, wantErr := w.eval(p)
	got, gotErr := reduced.eval(p)
	if !reflect.DeepEqual(located(wantErr), located(gotErr)) {
		t.Fatalf("%s\n full: %v, %v\n reduced: %v, %v\n reads %v", p.Source(), want, wantErr, got, gotErr, shapes.object.Paths())
	}
	if next, reducedNext := w.evaluation.Instant.Next(), reduced.evaluation.Instant.Next(); !next.Equal(reducedNext) {
		t.Fatalf("%s\n changes at %v, reduced at %v", p.Source(), next, reducedNext)
	}
	if wantErr == nil && !reflect.DeepEqual(seen(want, how), seen(got, how)) {
		t.Fatalf("%s\n full: %v\n reduced: %v\n reads %v", p.Source(), want, got, shapes.object.Paths())
	}
	return shapes, wantErr
}

// TestFootprintIsEnough is the promise of the footprint: whoever keeps no more of
// the objects gets the same value and the same error.
func TestFootprintIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range 100 { // Generating objects takes most of the time.
			p := drawProgram(t, "expression", "l0", "l1")
			if p == nil {
				continue
			}
			how := rapid.SampledFrom([]footprint.Strength{footprint.Exists, footprint.Length, footprint.Value}).Draw(t, "how")
			_, _ = checkSame(t, p, w, how)
		}
	})
}

// drawProgram returns nil if the expression does not compile.
func drawProgram(t *rapid.T, label string, names ...string) *Program {
	p, err := Compile(generateExpression(names...).Draw(t, label), worldScope)
	if err != nil {
		return nil
	}
	return p
}

func drawWorld(t *rapid.T) *world {
	w := &world{object: generateObject().Draw(t, "object")}
	if rapid.Bool().Draw(t, "has other") {
		w.other = generateObject().Draw(t, "other")
	}
	for range rapid.IntRange(0, 2).Draw(t, "pods") {
		w.pods = append(w.pods, generateObject().Draw(t, "pod"))
	}
	for i, names := range [][]string{nil, {"l0"}} {
		l := drawProgram(t, fmt.Sprint("l", i), names...)
		if l == nil {
			t.Skip("the let does not compile")
		}
		w.lets = append(w.lets, l)
	}
	return w
}

// TestGeneratedExpressionsSaySomething makes sure that the promise is not kept by
// expressions that all fail or by footprints that keep everything.
func TestGeneratedExpressionsSaySomething(t *testing.T) {
	const all = 1000
	var failed, whole, empty int
	for seed := range all {
		p, err := Compile(generateExpression().Example(seed), worldScope)
		if err != nil {
			failed++
			continue
		}
		w := &world{object: generateObject().Example(seed)}
		shapes, err := checkSame(t, p, w, footprint.Value)
		switch {
		case err != nil:
			failed++
		case shapes.object.All():
			whole++
		case shapes.object.Empty():
			empty++
		}
	}
	if failed > all/3 || whole > all/6 || empty > all*3/4 {
		t.Errorf("of %d expressions %d fail, %d read all and %d read nothing", all, failed, whole, empty)
	}
}

package expression

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// nonMatching is a typical condition of a rule that leaves the object alone.
const nonMatching = `object.metadata.labels.env == "prod" && (object.spec.pd?.replicas ?? 0) > 0 && object.spec.pd.replicas % 2 == 0`

// one resolves a single name without any work of its own.
type one struct{ object any }

func (o *one) Value(int) (any, error) { return o.object, nil }

func evaluateOnce(p *Program, names Names) (bool, error) {
	e := &Evaluation{Names: names, Budget: value.NewLazyBudget(nil)}
	return p.EvalBool(e)
}

// TestAllocations holds the part of the target of 10 allocations per rule that
// does not match which is this package's.
func TestAllocations(t *testing.T) {
	p := compiled(t, nonMatching, NewScope("object"))
	names := &one{sample()}
	got := testing.AllocsPerRun(100, func() {
		if ok, err := evaluateOnce(p, names); ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	})
	if got > 4 {
		t.Errorf("%v allocations, want at most 4", got)
	}
}

func BenchmarkNonMatchingWhen(b *testing.B) {
	p, err := Compile(nonMatching, NewScope("object"))
	if err != nil {
		b.Fatal(err)
	}
	names := &one{sample()}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := evaluateOnce(p, names); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkPredicate(b *testing.B) {
	p, err := Compile(`any(object.spec.ports, .name == "status" && .port > 1024)`, NewScope("object"))
	if err != nil {
		b.Fatal(err)
	}
	names := &one{sample()}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := evaluateOnce(p, names); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkTemplate(b *testing.B) {
	template, err := CompileTemplate("PD had ${object.spec.pd.replicas} members, an even number", NewScope("object"))
	if err != nil {
		b.Fatal(err)
	}
	names := &one{sample()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := template.Eval(&Evaluation{Names: names, Budget: value.NewLazyBudget(nil)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	scope := NewScope("object")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(nonMatching, scope); err != nil {
			b.Fatal(err)
		}
	}
}

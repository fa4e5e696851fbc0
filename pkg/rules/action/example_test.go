package action_test

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// just is the one name of a scope.
type just map[string]any

func (j just) Value(int) (any, error) { return map[string]any(j), nil }

func ExampleCompile() {
	nodes, errs := document.Parse(document.File{Name: "rules.yaml", Data: []byte(`
when: object.spec.replicas % 2 == 0
patch:
  merge: {spec: {replicas: "${object.spec.replicas + 1}"}}
`)})
	if len(errs) > 0 {
		fmt.Print(errs.Render())
		return
	}
	step, errs := action.Compile(nodes[0], action.Env{Scope: expression.NewScope("object")})
	if len(errs) > 0 {
		fmt.Print(errs.Render())
		return
	}
	object := map[string]any{"spec": map[string]any{"replicas": int64(2)}}
	e := &action.Evaluation{
		Object:      plan.Object{Namespace: "tidb", Name: "basic"},
		Current:     object,
		Expressions: &expression.Evaluation{Names: just(object), Instant: value.NewInstant(now)},
		Related:     &lookup.Reader{Current: object},
	}
	if err := step.Evaluate(e); err != nil {
		fmt.Println(err)
		return
	}
	for _, wish := range e.Wishes {
		fmt.Println(wish.Type, wish.Body)
	}
	// Output: merge map[spec:map[replicas:3]]
}

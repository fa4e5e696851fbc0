package main

import (
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// harmless touches what is set up only once, so that no case pays for it: a rule, a template, a patch, an error.
const harmless = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: harmless}
spec:
  resources: {things: {group: hostile.test, version: v1, resource: things}}
  rules:
  - name: harmless
    watch: things
    when: object.spec.small.a == 1 && "a" matches "[a-z]+"
    actions:
    - patch: {merge: {spec: {small: {a: "${object.spec.small.a + 1}"}}}}
`

// load compiles a case. Of one that is refused it returns the reason instead.
func load(kind hostile.Kind, text string, known *schema.Catalog) (evaluate func(object map[string]any) (failure string), refusal string) {
	switch kind {
	case hostile.Expression:
		program, err := expression.Compile(text, scope())
		if err != nil {
			return nil, err.Error()
		}
		return func(object map[string]any) string { return finish(program.Eval, object) }, ""
	case hostile.Template:
		template, err := expression.CompileTemplate(text, scope())
		if err != nil {
			return nil, err.Error()
		}
		return func(object map[string]any) string { return finish(template.Eval, object) }, ""
	default:
		return loadDocument(text, known)
	}
}

func scope() *expression.Scope { return expression.NewScope("object") }

// finish evaluates up to the value that is ready to be written.
func finish(eval func(*expression.Evaluation) (any, error), object map[string]any) (failure string) {
	e := &expression.Evaluation{
		Names:   only{object},
		Budget:  value.NewLazyBudget(func() int { return value.Size(object) }),
		Instant: value.NewInstant(instant()),
	}
	v, err := eval(e)
	if err == nil {
		_, err = value.Strip(v, e.Budget)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// only is the names of an expression that is in no rule.
type only struct{ object map[string]any }

// Value implements [expression.Names].
func (o only) Value(int) (any, error) { return o.object, nil }

func instant() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// loadDocument renders the mistakes too, as they would be shown.
func loadDocument(text string, known *schema.Catalog) (evaluate func(object map[string]any) (failure string), refusal string) {
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default", Schemas: known})
	if len(errs) > 0 {
		errs.Render()
		return nil, errs.Of(document.Mistake)[0].Error()
	}
	things := apischema.GroupVersionResource{Group: "hostile.test", Version: "v1", Resource: "things"}
	return func(object map[string]any) string {
		out := set.Evaluate(rules.Snapshot{
			GVR: things, Object: object, SelectedBy: set.Selections(), Now: instant(), Explain: true,
			Kinds: map[apischema.GroupVersionResource]plan.Kind{things: {Name: "Thing", Namespaced: true}},
		})
		for _, decision := range out.Decisions {
			if decision.Outcome.Troubled() {
				return decision.Reason
			}
		}
		return ""
	}, ""
}

// mistake is the first of those that make a text no strict YAML, which say more about a case than what it lacks as a
// file of rules.
func mistake(text string) string {
	_, errs := document.Parse(document.File{Name: "rules.yaml", Data: []byte(text)})
	if len(errs) == 0 {
		return ""
	}
	return errs[0].Error()
}

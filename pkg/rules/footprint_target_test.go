package rules_test

import (
	"slices"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// TestFootprintOfTargets holds that what a rule can patch is in its footprint, by
// whichever way an expression hands it on.
func TestFootprintOfTargets(t *testing.T) {
	for _, target := range []string{
		"every[0]", "find(every, true)", "flatten([every, [p]])", "concat(every, [p])", "p ?? every", "{a: every}.a", "merge({a: p}).a",
		"groups(every, [.metadata.name])[0].items", "groupBy(every, .metadata.name).p", "map(every, {{o: #}})[0].o", "toPairs({a: p})[0][1]",
		"fromPairs([['a', p]]).a", "setCondition([p], nil)", "setCondition([p], {type: 'A', status: 'True'})[0]", "reduce(every, #acc ?? #, nil)", "values({a: p})",
	} {
		t.Run(target, func(t *testing.T) {
			s := scene{
				rules: `
  rules:
  - name: r
    watch: tidbclusters
    with: {every: {resource: pods, all: true}, p: {resource: pods, name: p}}
    let: {chosen: "` + target + `"}
    actions: [{patch: {target: chosen, merge: {spec: {a: 1}}}}]`,
				object: `{}`, pods: []string{`{metadata: {name: p}}`},
			}
			p := s.evaluate(t)
			if p.Decisions[0].Outcome != plan.Matched || len(p.Operations) != 1 || p.Operations[0].Target.GVR != pods {
				t.Fatalf("the plan is\n%s", told(t, p))
			}
			access := mustLoad(t, world+s.rules).Footprint().Of(pods, "pods")
			if !slices.Contains(access.Verbs(), footprint.Verb{Name: "patch"}) || !access.Writes.Touches(footprint.Fields("spec", "a")) {
				t.Errorf("verbs %v, writes %v", access.Verbs(), access.Writes.Paths())
			}
		})
	}
}

// TestTargetReduced holds that it is known of a target that it is no object, or that elements of it are none.
func TestTargetReduced(t *testing.T) {
	for _, object := range []string{`{spec: {to: text}}`, `{spec: {to: [text]}}`, `{spec: {to: {a: 1}}}`, `{spec: {to: []}}`, `{spec: {}}`, `{}`} {
		s := scene{object: object, rules: `
  rules:
  - name: one
    watch: tidbclusters
    let: {to: object.spec.to}
    actions: [{patch: {target: to, merge: {status: {a: 1}}}}]
`}
		s.evaluate(t) // As of the whole object.
	}
}

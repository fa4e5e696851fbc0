package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// TestFootprintOfTargets holds that what a rule can patch is in its footprint, by
// whichever way an expression hands it on.
func TestFootprintOfTargets(t *testing.T) {
	large := "1"
	for i := range 100 {
		large += fmt.Sprintf(", k%d: object", i)
	}
	deep := "#acc ?? [1" + strings.Repeat(", 1", 1800) + "]"
	for range 3 {
		deep = "reduce([1], " + deep + ", #acc)"
	}
	for _, target := range []string{
		"len(every) == 1 ? p : {k: " + large + "}", "{k: " + large + ", p: p}.p", "[[p], {k: " + large + "}][0]",
		"reduce([1, 2, 3, 4, 5], {{a: #acc.b, b: #acc.c, c: #acc.d, d: #acc.e, e: #acc.f, f: nil}}, {f: p}).a", "reduce([1], " + deep + ", p)",
		"every[0]", "find(every, true)", "flatten([every, [p]])", "concat(every, [p])", "p ?? every", "{a: every}.a", "merge({a: p}).a",
		"groups(every, [.metadata.name])[0].items", "groupBy(every, .metadata.name).p", "map(every, {{o: #}})[0].o", "toPairs({a: p})[0][1]",
		"fromPairs([['a', p]]).a", "setCondition([p], nil)", "setCondition([p], {type: 'A', status: 'True'})[0]", "reduce(every, #acc ?? #, nil)", "values({a: p})", "forEach",
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
			if target == "forEach" {
				s.rules = strings.Replace(s.rules, "{patch:", "{forEach: {each: [\"${p}\", \"${every[0]}\"]}, patch:", 1)
				s.rules = strings.NewReplacer("let: {chosen: \"forEach\"}", "", "target: chosen", "target: each").Replace(s.rules)
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

// TestFootprintOfAbsent holds that a rule writes the whole field where its value may be nil: one of several maps has the key, or leaves it out.
func TestFootprintOfAbsent(t *testing.T) {
	for _, value := range []string{
		"(object.spec.a == 1 ? {b: 2} : {a: {x: '1'}}).a", "{a: object.spec.a == 1 ? omit() : {x: '1'}}.a",
		"merge({a: {x: '1'}}, {a: object.spec.a == 1 ? omit() : {x: '2'}}).a", "(object.spec.a == 1 ? {} : {a: {x: '1'}}).a",
	} {
		text := `
  rules:
  - name: r
    watch: tidbclusters
    let: {v: "` + value + `"}
    actions: [{patch: {merge: {status: "${v}"}}}]`
		access := mustLoad(t, world+text).Footprint().Of(tidbclusters, "tidbclusters")
		if !access.Writes.Touches(footprint.Fields("status", "other")) {
			t.Errorf("%s writes %v", value, access.Writes.Paths())
		}
	}
}

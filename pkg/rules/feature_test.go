package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const everyFeature = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: every-feature, namespace: ns}
spec:
  serviceAccountName: somebody
  resources: {pods: {version: v1, resource: pods}}
  rules:
  - name: one
    watch: pods
    with: {others: {resource: pods, all: true}}
    limits: {maxObjects: 1}
    onDelete: {actions: [{delete: {target: others}}]}
    actions:
    - patch: {apply: {spec: {a: 1}}, release: Remove}
    - apply: {resource: pods, manifest: {metadata: {name: a}}}
    - create: {in: others, manifest: {metadata: {generateName: c-}}}
    - delete: {target: others}
    - delete: {}
  - name: two
    watch: pods
    actions: [{event: {reason: Seen, message: seen}}]
`

// TestCarries holds that a feature that is lacking is refused once a rule, where it
// is first asked for, and a feature of the set once.
func TestCarries(t *testing.T) {
	var asked []rules.Feature
	none := func(feature rules.Feature) bool {
		asked = append(asked, feature)
		return false
	}
	file := document.File{Name: "r.yaml", Data: []byte(everyFeature)}
	set, errs := rules.Load([]document.File{file}, rules.Options{})
	if len(errs) > 0 {
		t.Fatalf("for checking alone, everything is there: %v", errs)
	}
	want := `r.yaml:6:3: spec.serviceAccountName: field "serviceAccountName" is not supported yet, except by validate; remove it
r.yaml:11:5: spec.rules[0].with: field "with" is not supported yet, except by validate; remove it
r.yaml:12:5: spec.rules[0].limits: field "limits" is not supported yet, except by validate; remove it
r.yaml:13:5: spec.rules[0].onDelete: field "onDelete" is not supported yet, except by validate; remove it
r.yaml:15:7: spec.rules[0].actions[0].patch: field "patch" is not supported yet, except by validate; remove it
r.yaml:15:38: spec.rules[0].actions[0].patch.release: field "release" is not supported yet, except by validate; remove it
r.yaml:16:7: spec.rules[0].actions[1].apply: field "apply" is not supported yet, except by validate; remove it
r.yaml:17:7: spec.rules[0].actions[2].create: field "create" is not supported yet, except by validate; remove it
r.yaml:18:7: spec.rules[0].actions[3].delete: field "delete" is not supported yet, except by validate; remove it
r.yaml:22:16: spec.rules[1].actions[0].event: field "event" is not supported yet, except by validate; remove it`
	if diff := cmp.Diff(want, set.NotCarried(none).Error()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if len(asked) < 8 {
		t.Errorf("asked about %v only", asked)
	}
	if _, errs = rules.Load([]document.File{file}, rules.Options{Carries: none}); errs.Error() != want {
		t.Errorf("errors (-want +got):\n%s", cmp.Diff(want, errs.Error()))
	}
	named := strings.NewReplacer(", except by validate", " by test and eval", "remove it", "leave its file out there").Replace(want)
	if _, errs = rules.Load([]document.File{file}, rules.Options{Carries: none, Runner: "test and eval"}); errs.Error() != named {
		t.Errorf("errors of who runs them (-want +got):\n%s", cmp.Diff(named, errs.Error()))
	}
	allButWith := func(feature rules.Feature) bool { return feature != rules.FeatureWith }
	if errs := set.NotCarried(allButWith); len(errs) != 1 || !strings.Contains(errs.Error(), `"with" is not`) {
		t.Errorf("want with alone refused, have %v", errs)
	}
}

// TestCarriesWithinOnDelete holds that a rule which may wait for the end of an
// object may still not do then what it may not do before.
func TestCarriesWithinOnDelete(t *testing.T) {
	const text = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules:
  - name: one
    watch: pods
    onDelete: {actions: [{patch: {apply: {spec: {a: 1}}, release: Remove}}, {delete: {}}]}
  - name: two
    watch: pods
    actions: [{delete: {}}]
`
	carries := func(feature rules.Feature) bool { return feature == rules.FeatureOnDelete }
	_, errs := rules.Load([]document.File{{Name: "r.yaml", Data: []byte(text)}}, rules.Options{Carries: carries})
	want := `r.yaml:10:27: spec.rules[0].onDelete.actions[0].patch: field "patch" is not supported yet, except by validate; remove it
r.yaml:10:58: spec.rules[0].onDelete.actions[0].patch.release: field "release" is not supported yet, except by validate; remove it
r.yaml:10:78: spec.rules[0].onDelete.actions[1].delete: field "delete" is not supported yet, except by validate; remove it
r.yaml:13:16: spec.rules[1].actions[0].delete: field "delete" is not supported yet, except by validate; remove it`
	if diff := cmp.Diff(want, errs.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

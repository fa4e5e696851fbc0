package rules_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPruneConfirms holds that neither the deletion nor the release of a child that
// the absence of a named object led to is sent without a live look at it.
func TestPruneConfirms(t *testing.T) {
	s := scene{
		rules: `
  rules:
  - name: r
    watch: tidbclusters
    with: {gate: {resource: pods, name: gate}}
    when: gate != nil
    actions: [{apply: {resource: configmaps, adopt: true, prune: true, manifest: {metadata: {name: made}}}}]`,
		object: `{}`,
	}
	id := mustLoad(t, world+s.rules).Rules()[0].ID
	for name, annotations := range map[string]string{"adopted": `{dyncontroller.dev/adopted: "true"}`, "made": `{}`} {
		s.maps = append(s.maps, fmt.Sprintf(`{metadata: {name: %s, annotations: %s, managedFields: [{manager: %s, operation: Apply}],
			labels: {dyncontroller.dev/set: %s, dyncontroller.dev/rule: r, dyncontroller.dev/owner-uid: u-basic}}}`,
			name, annotations, id.FieldManager(), id.SetID()))
	}
	got := map[string]string{}
	for _, o := range s.evaluate(t).Operations {
		for _, read := range o.ToConfirm() {
			got[o.Target.Name] += fmt.Sprint(o.Type, read.Names)
		}
	}
	if diff := cmp.Diff(map[string]string{"adopted": "json[gate]", "made": "delete[gate]"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

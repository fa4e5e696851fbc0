package rules_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// TestExplainHidden holds that what the caller hides is masked wherever it comes from, and
// before anything is cut: no rule here reads a Secret.
func TestExplainHidden(t *testing.T) {
	set := mustLoad(t, world+`
  rules:
  - name: reads
    watch: tidbclusters
    with: {found: {resource: configmaps, names: "${[object.spec.filler, object.spec.copy]}"}}
    let: {copy: "object.spec.copy == 'canary-in-a-mine'"}
    when: copy && object.spec["copy"] != "canary-in-a-mine-too" && len(found) == 0
    actions:
    - patch: {merge: {metadata: {annotations: {copy: "${object.spec.copy}"}}}}
    - event: {reason: Seen, message: "it is ${object.spec.copy}"}
`)
	hidden := redact.New(redact.Fingerprint)
	hidden.Learn(map[string]any{"stringData": map[string]any{"token": "canary-in-a-mine"}})
	filler := strings.Repeat("f", 285) // A question about it and the next name is cut in that.
	snapshot := rules.Snapshot{
		GVR: tidbclusters, SelectedBy: set.Selections(), Now: noon, Related: lookup.Objects{},
		Kinds: map[schema.GroupVersionResource]plan.Kind{configMaps: {Name: "ConfigMap", Namespaced: true}},
		Object: named(t, "TidbCluster", `{metadata: {name: basic, namespace: db, uid: u-1, labels: {copy: canary-in-a-mine}},
			spec: {filler: `+filler+`, copy: canary-in-a-mine}}`),
	}
	id := plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "reads"}
	if shown := set.Explain(snapshot, id).Tree(); strings.Count(shown, "canary-in-a-mine") < 5 {
		t.Fatalf("it shows nothing that could be hidden:\n%s", shown)
	}
	shown := set.Explain(snapshot, id, hidden).Tree()
	if strings.Contains(shown, "canary") || !strings.Contains(shown, "(masked)") || !strings.Contains(shown, "result  matched") {
		t.Errorf("have:\n%s", shown)
	}
	snapshot.SelectedBy = nil
	if shown := set.Explain(snapshot, id, hidden).Tree(); strings.Contains(shown, "canary") {
		t.Errorf("what is in the way tells it:\n%s", shown)
	}
}

// TestExplainNames holds that a name is masked like any other value where rules have made the
// object: they may have it from a Secret.
func TestExplainNames(t *testing.T) {
	set := mustLoad(t, world+`
  rules:
  - name: reads
    watch: tidbclusters
    actions: [{event: {reason: Seen, message: "it is ${object.spec.copy}"}}]
`)
	hidden := redact.New(redact.Plain)
	hidden.Learn(map[string]any{"stringData": map[string]any{"token": "canary-in-a-mine"}})
	for labels, want := range map[string]string{"{}": "it is canary-in-a-mine", "{dyncontroller.dev/set: any}": "it is (masked)"} {
		snapshot := rules.Snapshot{
			GVR: tidbclusters, SelectedBy: set.Selections(), Now: noon, Related: lookup.Objects{},
			Object: named(t, "TidbCluster", `{metadata: {name: canary-in-a-mine, namespace: db, uid: u-1, labels: `+labels+`}, spec: {copy: canary-in-a-mine}}`),
		}
		told := set.Explain(snapshot, plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "reads"}, hidden)
		if got := told.Actions[0].Turns[0].Events[0].Message; got != want {
			t.Errorf("labelled %s it says %q, want %q", labels, got, want)
		}
		if masked := told.Object.Name == "(masked)"; masked != strings.HasSuffix(want, "(masked)") {
			t.Errorf("labelled %s it is called %q", labels, told.Object.Name)
		}
	}
}

package rules_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

var tidbclusters = schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}

const head = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}}
`

func mustLoad(t testing.TB, text string) *rules.Set {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default"})
	if len(errs) > 0 {
		t.Fatalf("loading the rules:\n%s", errs.Render())
	}
	return set
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	out["apiVersion"], out["kind"] = "pingcap.com/v1alpha1", "TidbCluster"
	return out
}

func snapshot(set *rules.Set, object map[string]any) rules.Snapshot {
	return rules.Snapshot{GVR: tidbclusters, Object: object, SelectedBy: set.Selections(), Now: time.Unix(0, 0), Explain: true}
}

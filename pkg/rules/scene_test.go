package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

var (
	pods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

const world = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    pods: {version: v1, resource: pods}
    configmaps: {version: v1, resource: configmaps}
    secrets: {version: v1, resource: secrets}
`

// noon is the moment of the evaluations.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// scene is an object and what is around it.
type scene struct {
	rules   string // under spec
	object  string // empty for one that is gone
	pods    []string
	maps    []string
	secrets []string
	held    time.Duration // before noon; 0 for not at all
	left    bool          // the object left the selection
}

func (s scene) evaluate(t *testing.T) plan.Plan {
	t.Helper()
	set := mustLoad(t, world+s.rules)
	snapshot := rules.Snapshot{
		GVR: tidbclusters, SelectedBy: set.Selections(), Now: noon, Explain: true,
		Gone: plan.Object{GVR: tidbclusters, Kind: "TidbCluster", Namespace: "db", Name: "basic", UID: "u-basic"},
		Kinds: map[schema.GroupVersionResource]plan.Kind{
			pods: {Name: "Pod", Namespaced: true}, configMaps: {Name: "ConfigMap", Namespaced: true}, secrets: {Name: "Secret", Namespaced: true},
		},
		Related: lookup.Objects{
			pods: objects(t, "Pod", s.pods), configMaps: objects(t, "ConfigMap", s.maps), secrets: objects(t, "Secret", s.secrets),
		},
	}
	if s.object != "" {
		snapshot.Object = named(t, "TidbCluster", s.object)
	}
	if s.left {
		snapshot.SelectedBy, snapshot.LeftBy = nil, set.Selections()
	}
	if s.held > 0 {
		snapshot.State.HeldSince = map[plan.Rule]time.Time{}
		for _, rule := range set.Rules() {
			snapshot.State.HeldSince[rule.ID] = noon.Add(-s.held)
		}
	}
	sameWhenReduced(t, set, snapshot)
	before := runtime.DeepCopyJSON(snapshot.Object)
	p := set.Evaluate(snapshot)
	if diff := cmp.Diff(before, snapshot.Object); diff != "" {
		t.Errorf("the object was changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(told(t, p), told(t, set.Evaluate(snapshot))); diff != "" {
		t.Errorf("a second evaluation differs (-first +second):\n%s", diff)
	}
	return p
}

func objects(t *testing.T, kind string, texts []string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, text := range texts {
		out = append(out, named(t, kind, text))
	}
	return out
}

// named reads an object that is called name, in the namespace db.
func named(t *testing.T, kind, text string) map[string]any {
	t.Helper()
	out := object(t, text)
	out["apiVersion"], out["kind"] = "v1", kind
	if kind == "TidbCluster" {
		out["apiVersion"] = "pingcap.com/v1alpha1"
	}
	metadata, _ := out["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{"name": "basic"}
		out["metadata"] = metadata
	}
	metadata["namespace"], metadata["uid"], metadata["resourceVersion"] = "db", "u-"+fmt.Sprint(metadata["name"]), "7"
	return out
}

// told writes all of a plan as lines.
func told(t *testing.T, p plan.Plan) string {
	t.Helper()
	var b strings.Builder
	for _, d := range p.Decisions {
		fmt.Fprintf(&b, "%s %s", d.Rule.Name, d.Outcome)
		if d.Audited {
			b.WriteString(" (audit)")
		}
		if d.Reason != "" {
			b.WriteString(": " + d.Reason)
		}
		b.WriteString("\n")
	}
	for _, o := range p.Operations {
		b.WriteString(toldOperation(t, o) + "\n")
	}
	for _, o := range p.Audited {
		b.WriteString("would " + toldOperation(t, o) + "\n")
	}
	for _, e := range p.Events {
		fmt.Fprintf(&b, "event on %s: %s %s\n", e.Regarding, e.Reason, e.Message)
	}
	for _, r := range p.Reads {
		fmt.Fprintf(&b, "read %s by %s %s\n", r.From[0].GVR.Resource, r.By, strings.Join(r.Names, ",")+r.Labels)
	}
	if !p.LookAgainAt.IsZero() {
		b.WriteString("look again after " + p.LookAgainAt.Sub(noon).String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func toldOperation(t *testing.T, o plan.Operation) string {
	t.Helper()
	body, err := json.Marshal(o.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%s %s %s", o.Type, o.Target, body)
	for _, read := range o.ToConfirm() {
		text += " if there is no " + strings.Join(read.Names, ",")
	}
	if o.Unseen != nil {
		text += " or tell: " + o.Unseen.Event.Message
	}
	return text
}

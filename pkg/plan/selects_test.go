package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const somePod = `
metadata:
  name: p
  namespace: ns
  labels: {app: web, tier: front}
  ownerReferences:
  - {kind: Node, uid: u-node}
  - {kind: ReplicaSet, uid: u-rs, controller: true}
spec: {nodeName: node-1, priority: 5, hostNetwork: true, tags: [a]}
status: {phase: Running}
`

func TestGuarantees(t *testing.T) {
	got := Selection{
		LabelSelector: "app=web,tier in (front, back),!canary,env!=test,zone notin (a),owner", FieldSelector: "spec.nodeName=n,status.phase!=Running,spec.hostPID=false,spec.x=",
	}.Guarantees()
	var all []string
	for _, g := range got {
		all = append(all, g.Path.String()+"="+g.Text)
	}
	want := []string{"metadata.labels.app=web", "metadata.labels.owner=", "metadata.labels.tier=", "spec.nodeName=n"}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Selection{LabelSelector: "app in web", FieldSelector: "spec"}).Guarantees(); len(got) > 0 {
		t.Errorf("selectors that the API server refuses guarantee %v", got)
	}
}

func TestLacks(t *testing.T) {
	got := Selection{
		LabelSelector: "app in (db,web),tier=back,!app,zone", FieldSelector: `spec.nodeName!=node-1,spec.x=a\,b,spec.tags=a,spec.hostNetwork=true`,
	}.Parse().Lacks(decode[map[string]any](t, somePod))
	want := []string{
		"labelSelector wants !app, and the label app is \"web\"",
		"labelSelector wants tier=back, and the label tier is \"front\"",
		"labelSelector wants zone, and the object has no label zone",
		"fieldSelector wants spec.nodeName!=node-1, and the field spec.nodeName is \"node-1\"",
		"fieldSelector wants spec.tags=a, and the field spec.tags is no text or number",
		"fieldSelector wants spec.x=a\\,b, and the object has no field spec.x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAdmits(t *testing.T) {
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	tests := map[string]struct {
		reason    string
		selection Selection
		want      bool
	}{
		"Everything":       {"No condition holds nothing back.", Selection{}, true},
		"Namespace":        {"It is in the namespace.", Selection{Namespace: "ns"}, true},
		"OtherNamespace":   {"It is in another.", Selection{Namespace: "n"}, false},
		"Labels":           {"All requirements hold.", Selection{LabelSelector: "app=web,tier in (front, back),!canary"}, true},
		"OtherLabel":       {"One does not.", Selection{LabelSelector: "app=web,tier=back"}, false},
		"NotLabel":         {"An absent label is not equal.", Selection{LabelSelector: "canary!=true"}, true},
		"WrongLabels":      {"The API server refuses the selector, so nothing is listed.", Selection{LabelSelector: "app in web"}, false},
		"Name":             {"A field of the metadata.", Selection{FieldSelector: "metadata.name=p,metadata.namespace=ns"}, true},
		"OtherName":        {"It has another name.", Selection{FieldSelector: "metadata.name=q"}, false},
		"Field":            {"A field of the spec.", Selection{FieldSelector: "spec.nodeName==node-1"}, true},
		"NotField":         {"It differs.", Selection{FieldSelector: "status.phase!=Running"}, false},
		"Scheduled":        {"It is not empty.", Selection{FieldSelector: "spec.nodeName!="}, true},
		"AbsentField":      {"What is absent is empty.", Selection{FieldSelector: "spec.schedulerName="}, true},
		"AbsentIsNot":      {"It is not what is asked for.", Selection{FieldSelector: "spec.schedulerName=x"}, false},
		"Number":           {"A number is compared as it is written.", Selection{FieldSelector: "spec.priority=5"}, true},
		"Boolean":          {"So is a boolean.", Selection{FieldSelector: "spec.hostNetwork=true"}, true},
		"AbsentFalse":      {"Kubernetes' own types have false where nothing is stored.", Selection{FieldSelector: "spec.hostPID=false"}, true},
		"AbsentNotFalse":   {"And then it is not unequal.", Selection{FieldSelector: "spec.hostPID!=false"}, false},
		"AbsentFalseOther": {"Other types are not known so well.", Selection{GVR: deployments, FieldSelector: "spec.hostPID=false"}, false},
		"List":             {"A list cannot be named.", Selection{FieldSelector: "spec.tags=[a]"}, false},
		"WrongFields":      {"The API server refuses the selector.", Selection{FieldSelector: "spec.nodeName"}, false},
		"Together":         {"All of it must hold.", Selection{Namespace: "ns", LabelSelector: "app=web", FieldSelector: "status.phase=Pending"}, false},
	}
	object := decode[map[string]any](t, somePod)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.selection.Admits(object); got != tc.want {
				t.Errorf("%s got %v", tc.reason, got)
			}
		})
	}
}

func TestSelects(t *testing.T) {
	anywhere := []Selection{{}}
	tests := map[string]struct {
		reason string
		read   Read
		want   bool
	}{
		"All":           {"All that is declared.", Read{From: anywhere, By: ByAll}, true},
		"NotDeclared":   {"What no declaration selects is absent.", Read{From: []Selection{{Namespace: "n"}, {LabelSelector: "app=db"}}, By: ByAll}, false},
		"OneDeclares":   {"One declaration is enough.", Read{From: []Selection{{Namespace: "n"}, {LabelSelector: "app=web"}}, By: ByAll}, true},
		"NoDeclaration": {"Nothing is declared.", Read{By: ByAll}, false},
		"NoLabels":      {"A selection never widens by accident.", Read{From: anywhere, By: ByLabels}, false},
	}
	object := decode[map[string]any](t, somePod)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.read.Selects(object); got != tc.want {
				t.Errorf("%s got %v", tc.reason, got)
			}
		})
	}
}

// TestSelectsOddObjects holds that nothing an object may look like is found by
// what it lacks.
func TestSelectsOddObjects(t *testing.T) {
	for _, text := range []string{`{}`, `{metadata: []}`, `{metadata: {name: 5, labels: [a], ownerReferences: [x, {uid: 5, controller: "true"}]}}`, `{metadata: {ownerReferences: {}}}`} {
		object := decode[map[string]any](t, text)
		for _, read := range []Read{
			{By: ByName, Names: []string{"p"}},
			{By: ByLabels, Labels: "app"},
			{By: ByOwner, Owners: []types.UID{""}},
			{By: ByFields, Fields: []FieldValue{{Path{"metadata", "labels", "a"}, true}}},
		} {
			read.From = []Selection{{}}
			if read.Selects(object) {
				t.Errorf("%s finds %s", read.Key(), text)
			}
		}
		if !(Read{From: []Selection{{FieldSelector: "metadata.labels.a="}}, By: ByAll}).Selects(object) {
			t.Errorf("%s has nothing at the field, so it is empty", text)
		}
	}
}

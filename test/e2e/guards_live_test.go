package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestGuardsOfLiveReads holds that what confirms a decision is what the caches would
// say if they had seen everything.
func TestGuardsOfLiveReads(t *testing.T) {
	alongside(t)
	here, there := cluster(t).Namespace(t), cluster(t).Namespace(t)
	a := create(t, configmaps, here, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: web, part: db}}, data: {of: x}}`)
	create(t, configmaps, here, `{apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: {app: web}, ownerReferences: [
		{apiVersion: v1, kind: ConfigMap, name: a, uid: `+string(a.GetUID())+`, controller: true}]}}`)
	create(t, configmaps, there, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: web, live: "yes"}}}`)
	from := func(namespace, labels, fields string) []plan.Selection {
		return []plan.Selection{{GVR: configmaps, Namespace: namespace, LabelSelector: labels, FieldSelector: fields}}
	}
	tests := map[string]struct {
		reason string
		read   plan.Read
		want   []string
	}{
		"Name":            {"By name.", plan.Read{From: from("", "", ""), Namespace: here, By: plan.ByName, Names: []string{"a", "none", ""}}, []string{here + "/a"}},
		"NameSelected":    {"A selection admits it.", plan.Read{From: from("", "part=db", ""), Namespace: here, By: plan.ByName, Names: []string{"a"}}, []string{here + "/a"}},
		"NameNotSelected": {"None does: it is absent.", plan.Read{From: from("", "part=web", ""), Namespace: here, By: plan.ByName, Names: []string{"a"}}, nil},
		"NameOneOf": {
			"One of several does.",
			plan.Read{From: append(from("", "part=web", ""), from(here, "", "metadata.name!=b")...), Namespace: here, By: plan.ByName, Names: []string{"a", "b"}},
			[]string{here + "/a"},
		},
		"NameEverywhere": {"In all namespaces.", plan.Read{From: from("", "live", ""), By: plan.ByName, Names: []string{"a"}}, []string{there + "/a"}},
		"ClusterScoped": {
			"An object without a namespace.",
			plan.Read{From: []plan.Selection{{GVR: namespacesGVR}}, By: plan.ByName, Names: []string{here}},
			[]string{"/" + here},
		},
		"Labels":     {"By labels, besides those of the selection.", plan.Read{From: from("", "app=web", ""), Namespace: here, By: plan.ByLabels, Labels: "part in (db)"}, []string{here + "/a"}},
		"Fields":     {"By fields.", plan.Read{From: from(here, "", ""), By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"data", "of"}, Value: "x"}}}, []string{here + "/a"}},
		"Owner":      {"By owner.", plan.Read{From: from("", "", ""), Namespace: here, By: plan.ByOwner, Owners: []types.UID{a.GetUID()}}, []string{here + "/b"}},
		"All":        {"All that is selected, in order.", plan.Read{From: from("", "app=web", ""), Namespace: here, By: plan.ByAll}, []string{here + "/a", here + "/b"}},
		"OtherSpace": {"Nothing is in two namespaces.", plan.Read{From: from(there, "", ""), Namespace: here, By: plan.ByAll}, nil},
	}
	reader, err := live.NewReader(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := reader.Read(t.Context(), tc.read)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, object := range objects {
				of := unstructured.Unstructured{Object: object}
				got = append(got, of.GetNamespace()+"/"+of.GetName())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestGuardsOfLiveAbsence holds that an object is not taken for absent because
// nothing is known of its resource.
func TestGuardsOfLiveAbsence(t *testing.T) {
	alongside(t)
	reader, err := live.NewReader(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	unknown := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	if object, err := reader.Get(t.Context(), unknown, "default", "a"); err == nil {
		t.Errorf("of an unknown resource got %v", object)
	}
	if objects, err := reader.Read(t.Context(), plan.Read{From: []plan.Selection{{GVR: unknown}}, By: plan.ByAll}); err == nil {
		t.Errorf("of an unknown resource got %v", objects)
	}
	if object, err := reader.Get(t.Context(), configmaps, "nowhere", "a"); object != nil || err != nil {
		t.Errorf("in a namespace that is not there got %v, %v", object, err)
	}
}

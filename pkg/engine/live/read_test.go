package live_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// named writes an object as namespace/name.
func named(object map[string]any) string {
	of := unstructured.Unstructured{Object: object}
	return of.GetNamespace() + "/" + of.GetName()
}

func TestRead(t *testing.T) {
	absent := refusal(404, "NotFound", `"group":"example.com","kind":"widgets","name":"a"`)
	from := func(namespace, labels, fields string) plan.Selection {
		return plan.Selection{GVR: widgets, Namespace: namespace, LabelSelector: labels, FieldSelector: fields}
	}
	const (
		everywhere = group + "/widgets"
		here       = group + "/namespaces/ns/widgets"
		owned      = `"ownerReferences":[{"uid":"u","controller":true}]`
	)
	tests := map[string]struct {
		reason  string
		read    plan.Read // From is one selection of all, where it is not given
		answers map[string][]string
		want    []string
	}{
		"Name": {
			reason:  "A name is asked for itself, once.",
			read:    plan.Read{Namespace: "ns", By: plan.ByName, Names: []string{"b", "a", "b"}},
			answers: map[string][]string{here + "/a": {object("ns", "a")}, here + "/b": {object("ns", "b")}},
			want:    []string{"ns/a", "ns/b"},
		},
		"NameAbsent": {
			reason:  "What is not there is absent.",
			read:    plan.Read{Namespace: "ns", By: plan.ByName, Names: []string{"a"}},
			answers: map[string][]string{here + "/a": {absent}},
		},
		"NameOdd": {
			reason: "What cannot be a name is nobody's.",
			read:   plan.Read{Namespace: "ns", By: plan.ByName, Names: []string{"", "..", "a/b", "a%b"}},
		},
		"NameSelected": {
			reason: "The API server evaluates the selectors: a GET would not.",
			read:   plan.Read{From: []plan.Selection{from("", "x=y", "spec.z=1")}, Namespace: "ns", By: plan.ByName, Names: []string{"a"}},
			answers: map[string][]string{
				here + "?fieldSelector=spec.z%3D1%2Cmetadata.name%3Da&labelSelector=x%3Dy&" + limited: {list("", object("ns", "a"))},
			},
			want: []string{"ns/a"},
		},
		"NameNotSelected": {
			reason:  "An object that no selection admits is absent.",
			read:    plan.Read{From: []plan.Selection{from("ns", "x=y", "")}, Namespace: "ns", By: plan.ByName, Names: []string{"a"}},
			answers: map[string][]string{here + "?fieldSelector=metadata.name%3Da&labelSelector=x%3Dy&" + limited: {list("")}},
		},
		"NameAnywhere": {
			reason:  "Without a namespace it may be in any, or have none.",
			read:    plan.Read{By: plan.ByName, Names: []string{"a"}},
			answers: map[string][]string{everywhere + "?fieldSelector=metadata.name%3Da&" + limited: {list("", object("ns", "a"), object("other", "a"))}},
			want:    []string{"ns/a", "other/a"},
		},
		"NameIgnored": {
			reason:  "An API server that ignores the name is not believed.",
			read:    plan.Read{By: plan.ByName, Names: []string{"a"}},
			answers: map[string][]string{everywhere + "?fieldSelector=metadata.name%3Da&" + limited: {list("", object("", "a"), object("", "b"))}},
			want:    []string{"/a"},
		},
		"Labels": {
			reason: "They are the API server's too, with those of the selection.",
			read:   plan.Read{From: []plan.Selection{from("", "x=y", "spec.z=1")}, Namespace: "ns", By: plan.ByLabels, Labels: "app in (a,b)"},
			answers: map[string][]string{
				here + "?fieldSelector=spec.z%3D1&labelSelector=x%3Dy%2Capp+in+%28a%2Cb%29&" + limited: {list("", object("ns", "a", `"labels":{"app":"a"}`))},
			},
			want: []string{"ns/a"},
		},
		"NoLabels": {reason: "No labels select nothing.", read: plan.Read{By: plan.ByLabels}},
		"Fields": {
			reason:  "Fields are compared here: the API server knows few.",
			read:    plan.Read{By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"metadata", "name"}, Value: "b"}}},
			answers: map[string][]string{everywhere + "?" + limited: {list("", object("ns", "a"), object("ns", "b"))}},
			want:    []string{"ns/b"},
		},
		"NoFields": {reason: "No fields select nothing.", read: plan.Read{By: plan.ByFields}},
		"Owner": {
			reason:  "So are owners.",
			read:    plan.Read{Namespace: "ns", By: plan.ByOwner, Owners: []types.UID{"u"}},
			answers: map[string][]string{here + "?" + limited: {list("", object("ns", "a"), object("ns", "b", owned))}},
			want:    []string{"ns/b"},
		},
		"NoOwner": {reason: "No owners select nothing.", read: plan.Read{By: plan.ByOwner}},
		"Unknown": {reason: "A question that nobody understands has no answer.", read: plan.Read{By: "colour"}},
		"All": {
			reason:  "All that is selected, in order.",
			read:    plan.Read{By: plan.ByAll},
			answers: map[string][]string{everywhere + "?" + limited: {list("", object("b", "b"), object("b", "a"), object("a", "c"))}},
			want:    []string{"a/c", "b/a", "b/b"},
		},
		"Several": {
			reason: "What several selections have is told once.",
			read:   plan.Read{From: []plan.Selection{from("ns", "", ""), from("other", "", ""), from("", "x=y", "")}, By: plan.ByAll},
			answers: map[string][]string{
				here + "?" + limited:                           {list("", object("ns", "a"), object("ns", "b"))},
				group + "/namespaces/other/widgets?" + limited: {list("", object("other", "a"))},
				everywhere + "?labelSelector=x%3Dy&" + limited: {list("", object("ns", "b"), object("far", "a"))},
			},
			want: []string{"far/a", "ns/a", "ns/b", "other/a"},
		},
		"OtherNamespace": {
			reason: "A selection of another namespace has nothing of this one.",
			read:   plan.Read{From: []plan.Selection{from("other", "", "")}, Namespace: "ns", By: plan.ByAll},
		},
		"OddNamespace": {
			reason: "Nothing is in such a namespace.",
			read:   plan.Read{Namespace: "../b", By: plan.ByAll},
		},
		"Nowhere": {reason: "A question of nothing has no answer.", read: plan.Read{From: []plan.Selection{}, By: plan.ByAll}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.read.From == nil {
				tc.read.From = []plan.Selection{from("", "", "")}
			}
			expected := len(tc.answers)
			r, server := reader(t, tc.answers)
			objects, err := r.Read(t.Context(), tc.read)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, object := range objects {
				got = append(got, named(object))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			slices.Sort(server.asked)
			if asked := slices.Compact(server.asked); len(asked) != expected {
				t.Errorf("%s asked %v", tc.reason, asked)
			}
		})
	}
}

// TestReadFails holds that half an answer is none.
func TestReadFails(t *testing.T) {
	selections := []plan.Selection{{GVR: widgets, Namespace: "a"}, {GVR: widgets, Namespace: "b"}}
	forbidden := refusal(403, "Forbidden", "")
	for name, tc := range map[string]struct {
		read    plan.Read
		answers map[string][]string
		want    string
	}{
		"List": {
			plan.Read{From: selections, By: plan.ByAll},
			map[string][]string{
				group + "/namespaces/a/widgets?" + limited: {list("", object("a", "a"))},
				group + "/namespaces/b/widgets?" + limited: {forbidden},
			},
			"listing widgets.v1.example.com -n b: ",
		},
		"Name": {
			plan.Read{From: selections, Namespace: "a", By: plan.ByName, Names: []string{"x"}},
			map[string][]string{group + "/namespaces/a/widgets/x": {forbidden}},
			"reading widgets a/x: ",
		},
		"SelectedName": {
			plan.Read{From: []plan.Selection{{GVR: widgets, LabelSelector: "x"}}, Namespace: "a", By: plan.ByName, Names: []string{"x"}},
			map[string][]string{group + "/namespaces/a/widgets?fieldSelector=metadata.name%3Dx&labelSelector=x&" + limited: {forbidden}},
			"listing widgets.v1.example.com -n a -l x --field-selector metadata.name=x: ",
		},
		"NoResource": {
			plan.Read{From: []plan.Selection{{GVR: widgets}}, By: plan.ByAll},
			map[string][]string{group + "/widgets?" + limited: {"404 404 page not found"}},
			"listing widgets.v1.example.com: ",
		},
		"NoList": {
			plan.Read{From: []plan.Selection{{GVR: widgets}}, By: plan.ByAll},
			map[string][]string{group + "/widgets?" + limited: {`{"apiVersion":"v1","kind":"Status","status":"Success"}`}},
			"listing widgets.v1.example.com: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := reader(t, tc.answers)
			objects, err := r.Read(t.Context(), tc.read)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || objects != nil {
				t.Errorf("got %v, %v", objects, err)
			}
		})
	}
}

package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func TestManagers(t *testing.T) {
	const managed = `{"metadata": {"managedFields": [
		{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:template": {".": {}, "f:x": {}}}}},
		{"manager": "flux", "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:atomic": {},
			"f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}}}, "f:set": {"v:\"two\"": {}}, "f:ports": {"k:{\"port\":80}": {"f:name": {}}}}}},
		{"manager": "maker", "operation": "Update", "fieldsV1": {"f:spec": {"f:map": {}}}},
		{"manager": "setter", "operation": "Update", "fieldsV1": {"f:spec": {"f:map": {"f:a": {}}}}},
		{"manager": "kubelet", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}},
		{"manager": "broken", "operation": "Update", "fieldsV1": {"f:spec": {"f:list": {"k:{": {}, "k:[1]": {}, "q:x": {}}}}},
		"text", {"manager": "empty"}]},
		"spec": {"replicas": 1, "template": {"x": 1, "y": 2}, "atomic": {"a": {"b": 1}}, "list": [{"name": "b", "image": "i"}, {"name": "a", "image": "i"}],
			"set": ["one", "two"], "ports": [{"port": 80, "name": "web"}], "map": {"a": 1, "b": 2}, "odd": [{"name": {"x": 1}}]}, "status": {"phase": "x"}}`
	tests := map[string]struct {
		reason string
		path   Path
		want   []string
	}{
		"Both":       {"A field that two have set.", Path{"spec", "replicas"}, []string{"kubectl", "flux"}},
		"Within":     {"What is below a field that is owned as a whole.", Path{"spec", "atomic", "a", "b"}, []string{"flux"}},
		"Above":      {"What has owned fields below it.", Path{"spec", "template"}, []string{"kubectl"}},
		"Beside":     {"What is beside an owned field is nobody's.", Path{"spec", "template", "y"}, nil},
		"Element":    {"An element of a list by its key.", Path{"spec", "list", "1", "image"}, []string{"flux"}},
		"Other":      {"And another one.", Path{"spec", "list", "0", "image"}, nil},
		"Number":     {"A key may be a number.", Path{"spec", "ports", "0", "name"}, []string{"flux"}},
		"Value":      {"A value of a set.", Path{"spec", "set", "1"}, []string{"flux"}},
		"OtherValue": {"And another one.", Path{"spec", "set", "0"}, nil},
		"Set":        {"Who has made a map owns that there is one, not what another has set in it since.", Path{"spec", "map", "a"}, []string{"setter"}},
		"Status":     {"Of a subresource.", Path{"status", "phase"}, []string{"kubelet"}},
		"Absent":     {"What is not there is nobody's.", Path{"spec", "nothing"}, nil},
		"Odd":        {"What has no key has none.", Path{"spec", "odd", "0"}, nil},
	}
	var object map[string]any
	if err := utiljson.Unmarshal([]byte(managed), &object); err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, owner := range Managers(object, tc.path) {
				got = append(got, owner.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +have):\n%s", tc.reason, diff)
			}
		})
	}
	if got := Managers(nil, Path{"a"}); got != nil {
		t.Errorf("nothing is owned by %v", got)
	}
}

func TestFieldSet(t *testing.T) {
	tree := map[string]any{"f:spec": map[string]any{"f:a": map[string]any{}}}
	for name, tc := range map[string]struct {
		fields any
		want   map[string]any
	}{
		"Tree":    {tree, tree},
		"Text":    {`{"f:spec":{"f:a":{}}}`, tree},
		"Spaces":  {`{"f:spec": {"f:a": {}}}`, tree},
		"Value":   {`{"f:spec":{"f:a":1}}`, map[string]any{"f:spec": map[string]any{"f:a": int64(1)}}},
		"Damaged": {`{"f:spec": {`, nil},
		"None":    {nil, nil},
		"Number":  {int64(1), nil},
	} {
		if diff := cmp.Diff(tc.want, FieldSet(map[string]any{"fieldsV1": tc.fields})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

package scaffold_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules/scaffold"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// TestRecorded holds what a test is made of: each object once, and no value of a Secret.
func TestRecorded(t *testing.T) {
	object := func(text string) (out map[string]any) {
		if err := yaml.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	pod := object("{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: a, resourceVersion: '1', managedFields: []}}")
	login := object("{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: a}, data: {password: aHVudGVyMi1odW50ZXIy}, stringData: {more: hunter3-hunter3}}")
	copied := object("{apiVersion: v1, kind: ConfigMap, metadata: {name: copy, namespace: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}, data: {url: 'db:hunter2-hunter2@host'}}")
	answers := map[string][]map[string]any{"secrets": {login}, "all": {pod, copied, login}}
	files, err := scaffold.Recorded(scaffold.Test{Name: "pods-web", Rules: []string{"../rules, b # c"}, Case: "recorded", Now: "2026-01-01T00:00:00Z"}, pod, nil, answers)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for path, data := range files {
		got[path] = string(data)
	}
	want := map[string]string{
		"fixtures/pods-web.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: a\n",
		"fixtures/pods-web-related.yaml": "apiVersion: v1\ndata:\n  url: db:(masked)@host\nkind: ConfigMap\nmetadata:\n  name: copy\n  namespace: a\n---\n" +
			"apiVersion: v1\ndata:\n  password: KG1hc2tlZCk=\nkind: Secret\nmetadata:\n  name: login\n  namespace: a\n",
		"pods-web_test.yaml": "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleTest\nmetadata:\n  name: pods-web\nspec:\n  rules:\n  - \"../rules, b # c\"\n" +
			"  now: \"2026-01-01T00:00:00Z\"\n  cases:\n  - name: recorded\n    objects:\n    - fixtures/pods-web.yaml\n    - fixtures/pods-web-related.yaml\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(strings.Fields(got["fixtures/pods-web-related.yaml"]), " "), "hunter") {
		t.Error("a value of the Secret is told")
	}
}

// TestNamesAreNoText holds that what a CRD or an object calls itself cannot add a rule, nor name a file elsewhere.
func TestNamesAreNoText(t *testing.T) {
	things := apischema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	evil := "x\n  - name: evil\n    watch: things\n    actions: [{delete: {}}]\n  #"
	fields := map[string]schema.Field{"plain": {Type: &schema.Type{}}, evil: {Type: &schema.Type{}}, "u\u202e": {Type: &schema.Type{}}}
	typed := &schema.Type{Map: &schema.Map{Fields: map[string]schema.Field{"spec": {Type: &schema.Type{Map: &schema.Map{Fields: fields}}}}}}
	files, err := scaffold.Files(scaffold.Input{Resource: things, Kind: "Thing", Type: typed})
	if err != nil {
		t.Fatal(err)
	}
	want := `  # object.spec has plain, ["u\u202e"], ["x\n  - name: evil\n    watch: things\n    actions: [{delete: {}}]\n  #"]`
	if text := string(files["things.yaml"]); !strings.Contains(text, want+"\n") {
		t.Errorf("want %s in\n%s", want, text)
	}
	for reason, input := range map[string]scaffold.Input{
		"a name of a folder":       {Resource: things, Kind: "Thing", Object: map[string]any{"metadata": map[string]any{"name": "../../x"}}},
		"a kind that is a path":    {Resource: things, Kind: "../Thing"},
		"a plural with a bracket":  {Resource: things.GroupVersion().WithResource("th]ings"), Kind: "Thing"},
		"a version with a comma":   {Resource: apischema.GroupVersionResource{Version: "v1, x", Resource: "things"}, Kind: "Thing"},
		"a group with a line":      {Resource: apischema.GroupVersionResource{Group: "a\nb", Version: "v1", Resource: "things"}, Kind: "Thing"},
		"a kind that is not there": {Resource: things},
	} {
		if files, err := scaffold.Files(input); err == nil {
			t.Errorf("%s: wrote %v", reason, slices.Sorted(maps.Keys(files)))
		}
	}
}

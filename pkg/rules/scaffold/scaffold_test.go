package scaffold_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules/scaffold"
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
	files, err := scaffold.Recorded(scaffold.Test{Name: "pods-web", Rules: []string{"../rules"}, Case: "recorded", Now: "2026-01-01T00:00:00Z"}, pod, nil, answers)
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
		"pods-web_test.yaml": "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleTest\nmetadata: {name: pods-web}\nspec:\n  rules: [../rules]\n" +
			"  now: \"2026-01-01T00:00:00Z\"\n  cases:\n  - name: recorded\n    objects: [fixtures/pods-web.yaml, fixtures/pods-web-related.yaml]\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(strings.Fields(got["fixtures/pods-web-related.yaml"]), " "), "hunter") {
		t.Error("a value of the Secret is told")
	}
}

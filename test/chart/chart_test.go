package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

// TestGenerated holds that the kustomize base is what the chart installs, and that the rest was written from what is there.
// The API server is shown testdata/everything.yaml in test/tenants.
func TestGenerated(t *testing.T) {
	for _, step := range steps {
		files, err := step()
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), want); diff != "" {
				t.Errorf("%s: run make generate (-it +what it would be):\n%s", name, diff)
			}
		}
	}
}

// TestLint is helm lint --strict.
func TestLint(t *testing.T) {
	values, err := chartutil.ReadValuesFile(everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range []map[string]any{nil, values} {
		for _, message := range lint.All(chart, values, namespace, true).Messages {
			if message.Severity > support.InfoSev {
				t.Error(message)
			}
		}
	}
}

// TestDashboard holds that the ConfigMap has the dashboard as it is.
func TestDashboard(t *testing.T) {
	rendered, err := render(map[string]any{"metrics": map[string]any{"dashboard": map[string]any{"enabled": true}}})
	if err != nil {
		t.Fatal(err)
	}
	var have struct{ Data map[string]string }
	if err := yaml.Unmarshal([]byte(rendered["extras.yaml"]), &have); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(deploy + "/monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), have.Data["dyncontroller.json"]); diff != "" {
		t.Errorf("(-file +ConfigMap):\n%s", diff)
	}
}

// TestValues holds that a wrong value is found before anything is installed.
func TestValues(t *testing.T) {
	tests := map[string]struct {
		reason string
		values map[string]any
	}{
		"unknown": {"A misspelt value would change nothing.", map[string]any{"replcas": 3}},
		"nested":  {"So would one further down.", map[string]any{"image": map[string]any{"tagg": "a"}}},
		"type":    {"A number is a number.", map[string]any{"replicas": "2"}},
		"digest":  {"A digest has a form.", map[string]any{"image": map[string]any{"digest": "latest"}}},
		"flag":    {"An argument is a flag.", map[string]any{"extraArgs": []any{"v"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := render(test.values); err == nil {
				t.Error(test.reason)
			}
		})
	}
}

// Command chart writes parts of the chart in deploy/chart, and what is made of it. Helm remarks on each symbolic link, so there are copies:
//
//	deploy/crds -> deploy/chart/crds, deploy/chart/templates/fields.yaml
//	deploy/monitoring -> deploy/chart/files
//	deploy/chart, its defaults -> deploy/base, for kustomize
//	deploy/chart, ci/everything-values.yaml -> testdata/everything.yaml, for tests
//	deploy/monitoring/alerts.yaml -> deploy/monitoring/prometheus/rules.yaml, for Prometheus without its operator
//
// It is a module of its own, since nothing else needs Helm.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

const (
	deploy     = "../../deploy"
	chart      = deploy + "/chart"
	everything = chart + "/ci/everything-values.yaml"
	release    = "dyncontroller"
	namespace  = "dyncontroller-system"
)

func main() {
	for _, files := range steps {
		if err := write(files()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// steps return files by their names. Each reads what those before it have written.
var steps = []func() (map[string]string, error){parts, rendered}

func write(files map[string]string, err error) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err == nil {
			err = os.WriteFile(name, []byte(files[name]), 0o644)
		}
	}
	return err
}

// parts are those of the chart that are written from other files.
func parts() (map[string]string, error) {
	text, err := policy()
	if err != nil {
		return nil, err
	}
	out := map[string]string{filepath.Join(chart, "templates", "fields.yaml"): text}
	for to, from := range map[string]string{
		"crds/rulesets.yaml": "crds/rulesets.yaml", "crds/clusterrulesets.yaml": "crds/clusterrulesets.yaml",
		"files/alerts.yaml": "monitoring/alerts.yaml", "files/dashboard.json": "monitoring/dashboard.json",
	} {
		data, err := os.ReadFile(filepath.Join(deploy, from))
		if err != nil {
			return nil, fmt.Errorf("copying into the chart: %w", err)
		}
		out[filepath.Join(chart, to)] = string(data)
	}
	return out, nil
}

// rendered are the files that are made of the chart.
func rendered() (map[string]string, error) {
	out := map[string]string{}
	base, err := render(nil)
	if err != nil {
		return nil, err
	}
	for name, text := range base {
		if strings.TrimSpace(text) != "" {
			out[filepath.Join(deploy, "base", name)] = "# Written by make generate, from deploy/chart.\n" + strings.TrimLeft(text, "\n")
		}
	}
	values, err := chartutil.ReadValuesFile(everything)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", everything, err)
	}
	all, err := render(values)
	if err != nil {
		return nil, err
	}
	var documents []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		documents = append(documents, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(all[name]), "---")))
	}
	out[filepath.Join("testdata", "everything.yaml")] = strings.Join(documents, "\n---\n") + "\n"

	alerts, err := os.ReadFile(filepath.Join(deploy, "monitoring", "alerts.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading the alerts: %w", err)
	}
	_, spec, _ := strings.Cut(string(alerts), "\nspec:\n")
	out[filepath.Join(deploy, "monitoring", "prometheus", "rules.yaml")] =
		"# Written by make generate, from ../alerts.yaml: a rule file of Prometheus.\n" + unindent(spec)
	return out, nil
}

// unindent takes two spaces off each line.
func unindent(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
}

// render returns what the templates say with these values, by the names of their files. A value that the schema does not allow is
// an error.
func render(values map[string]any) (map[string]string, error) {
	loaded, err := loader.LoadDir(chart)
	if err != nil {
		return nil, fmt.Errorf("loading the chart: %w", err)
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true}
	all, err := chartutil.ToRenderValues(loaded, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("reading the values: %w", err)
	}
	files, err := engine.Render(loaded, all)
	if err != nil {
		return nil, fmt.Errorf("rendering the chart: %w", err)
	}
	out := map[string]string{}
	for name, text := range files {
		if filepath.Ext(name) == ".yaml" {
			out[filepath.Base(name)] = text
		}
	}
	return out, nil
}

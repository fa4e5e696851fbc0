package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// check looks at the end whether the clusters are what the demo says they are.
func (d *demo) check(ctx context.Context) error {
	clusters, err := d.stage.list(ctx)
	if err != nil {
		return err
	}
	if found := faults(clusters); len(found) > 0 {
		return errors.New("the final state is wrong: " + strings.Join(found, "; "))
	}
	return nil
}

// faults says what is wrong with the clusters. It knows nothing of the rules, but what they are for.
func faults(clusters map[string]*unstructured.Unstructured) []string {
	var out []string
	for _, sample := range samples() {
		object, ok := clusters[sample.name]
		if !ok {
			out = append(out, sample.name+": it is not there")
			continue
		}
		for _, fault := range faultsOf(object) {
			out = append(out, sample.name+": "+fault)
		}
	}
	return out
}

func faultsOf(object *unstructured.Unstructured) []string {
	var out []string
	if members := number(object, "spec", "pd", "replicas"); members%2 == 0 {
		out = append(out, fmt.Sprintf("PD has %d members", members))
	}
	if stores := number(object, "spec", "tikv", "replicas"); stores < 3 {
		out = append(out, fmt.Sprintf("TiKV has %d stores", stores))
	}
	labels := object.GetLabels()
	if labels["team"] == "" {
		out = append(out, "it has no team")
	}
	out = append(out, movingVersions(object)...)
	if labels["env"] == "prod" && !slices.Contains(spreadOver(object), "topology.kubernetes.io/zone") {
		out = append(out, "it is not spread over zones")
	}
	return out
}

func number(object *unstructured.Unstructured, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(object.Object, path...)
	return n
}

var exactVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+`)

func movingVersions(object *unstructured.Unstructured) []string {
	var out []string
	version, _, _ := unstructured.NestedString(object.Object, "spec", "version")
	if !exactVersion.MatchString(version) {
		out = append(out, fmt.Sprintf("its version is %q", version))
	}
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		component, _ := spec[name].(map[string]any)
		if version, found := component["version"].(string); found && !exactVersion.MatchString(version) {
			out = append(out, fmt.Sprintf("the version of %s is %q", name, version))
		}
	}
	return out
}

func spreadOver(object *unstructured.Unstructured) []string {
	var out []string
	constraints, _, _ := unstructured.NestedSlice(object.Object, "spec", "topologySpreadConstraints")
	for _, element := range constraints {
		constraint, _ := element.(map[string]any)
		key, _ := constraint["topologyKey"].(string)
		out = append(out, key)
	}
	return out
}

package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &out.Object); err != nil {
		t.Fatal(err)
	}
	return out
}

const right = `
metadata: {name: right, labels: {team: a, env: prod}}
spec:
  version: v8.5.5
  pd: {replicas: 3}
  tikv: {replicas: 3, version: v8.5.4-20260101}
  topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname}, {topologyKey: topology.kubernetes.io/zone}]`

func TestFaultsOf(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(object *unstructured.Unstructured) error
		want   []string
	}{
		"right": {"Nothing is wrong.", func(*unstructured.Unstructured) error { return nil }, nil},
		"even": {
			"PD must be odd.", set(int64(4), "spec", "pd", "replicas"), []string{"PD has 4 members"},
		},
		"few": {
			"TiKV needs three stores.", set(int64(2), "spec", "tikv", "replicas"), []string{"TiKV has 2 stores"},
		},
		"no team": {"A team that is empty is none.", set("", "metadata", "labels", "team"), []string{"it has no team"}},
		"latest":  {"A version must be exact.", set("latest", "spec", "version"), []string{`its version is "latest"`}},
		"short":   {"A part of a version is not exact.", set("v8.5", "spec", "version"), []string{`its version is "v8.5"`}},
		"nightly": {
			"So must that of a component.", set("nightly", "spec", "tikv", "version"), []string{`the version of tikv is "nightly"`},
		},
		"not spread": {
			"Production must be spread over zones.", set([]any{}, "spec", "topologySpreadConstraints"),
			[]string{"it is not spread over zones"},
		},
		"test": {
			"What is not production need not.",
			func(o *unstructured.Unstructured) error {
				o.SetLabels(map[string]string{"team": "a"})
				return set([]any{}, "spec", "topologySpreadConstraints")(o)
			},
			nil,
		},
		"empty": {
			"Of an empty object, all is wrong.",
			func(o *unstructured.Unstructured) error { o.Object = map[string]any{}; return nil },
			[]string{"PD has 0 members", "TiKV has 0 stores", "it has no team", `its version is ""`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := object(t, right)
			if err := tc.change(o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, faultsOf(o)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func set(value any, path ...string) func(*unstructured.Unstructured) error {
	return func(o *unstructured.Unstructured) error { return unstructured.SetNestedField(o.Object, value, path...) }
}

func TestSamplesAreAsWrongAsTheySay(t *testing.T) {
	operator, err := controlplane.ModuleDir(t.Context(), controlplane.TidbOperator)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"basic":  {"PD has 2 members", "TiKV has 1 stores", "it has no team", `its version is "latest"`},
		"orders": {"PD has 4 members", `the version of tikv is "nightly"`, "it is not spread over zones"},
		"search": nil,
	}
	for _, s := range samples() {
		o, err := s.load(operator + "/examples")
		if err != nil {
			t.Fatal(err)
		}
		if o.GetName() != s.name || o.GetKind() != "TidbCluster" {
			t.Errorf("%s: it is %s %s", s.name, o.GetKind(), o.GetName())
		}
		if diff := cmp.Diff(want[s.name], faultsOf(o)); diff != "" {
			t.Errorf("%s\n%s", s.name, diff)
		}
	}
}

func TestSampleLoadFails(t *testing.T) {
	tests := map[string]struct {
		reason string
		sample sample
	}{
		"no example": {"The file must be there.", sample{example: "none", overlay: "{}"}},
		"overlay":    {"The overlay must be YAML.", sample{example: "basic", overlay: "{"}},
		"no kind":    {"The result must be an object.", sample{example: "basic", overlay: "{kind: null}"}},
	}
	operator, err := controlplane.ModuleDir(t.Context(), controlplane.TidbOperator)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if o, err := tc.sample.load(operator + "/examples"); err == nil {
				t.Errorf("%s\nhave %v", tc.reason, o)
			}
		})
	}
}

func TestFaultsNamesClusters(t *testing.T) {
	clusters := map[string]*unstructured.Unstructured{"basic": object(t, right), "orders": object(t, right)}
	if err := set(int64(2), "spec", "pd", "replicas")(clusters["orders"]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"orders: PD has 2 members", "search: it is not there"}, faults(clusters)); diff != "" {
		t.Error(diff)
	}
}

func TestMissingEvents(t *testing.T) {
	event := func(name, reason string) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{"reason": reason, "regarding": map[string]any{"name": name}}}
	}
	all := []unstructured.Unstructured{
		event("basic", "EvenPD"), event("basic", "FewTiKVStores"), event("basic", "MovingVersion"), event("basic", "NoTeam"),
		event("orders", "EvenPD"), event("orders", "MovingComponent"),
	}
	if missing := missingEvents(all); len(missing) > 0 {
		t.Errorf("%q are missing, though there", missing)
	}
	without := slices.Delete(slices.Clone(all), 4, 5) // basic has one of the same reason.
	if diff := cmp.Diff([]string{"orders EvenPD"}, missingEvents(without)); diff != "" {
		t.Error(diff)
	}
}

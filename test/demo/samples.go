package main

import (
	"fmt"
	"os"
	"path/filepath"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// sample is a TidbCluster of tidb-operator's examples, bent for the demo.
type sample struct {
	name, example string
	// wrong says what the rules will find.
	wrong string
	// overlay is merged into the example, as RFC 7386 in YAML.
	overlay string
	// reasons are those of the Events to come.
	reasons []string
}

func samples() []sample {
	return []sample{
		{
			name: "basic", example: "basic",
			wrong:   "2 PD members, 1 TiKV store, version latest, no team",
			overlay: `{spec: {version: latest, pd: {replicas: 2}}}`,
			reasons: []string{"EvenPD", "FewTiKVStores", "MovingVersion", "NoTeam"},
		},
		{
			name: "orders", example: "advanced",
			wrong: "4 PD members, TiKV at nightly, production but not spread over zones",
			overlay: `
metadata: {name: orders, labels: {env: prod, team: payments}}
spec:
  pd: {replicas: 4}
  tikv: {version: nightly}
  topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname}]`,
			reasons: []string{"EvenPD", "MovingComponent"},
		},
		{
			name: "search", example: "aws",
			wrong:   "nothing",
			overlay: `{metadata: {name: search, labels: {team: discovery}}}`,
		},
	}
}

func (s sample) load(examples string) (*unstructured.Unstructured, error) {
	data, err := os.ReadFile(filepath.Join(examples, s.example, "tidb-cluster.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading the sample %q: %w", s.name, err)
	}
	original, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, fmt.Errorf("reading the sample %q: %w", s.name, err)
	}
	overlay, err := yaml.YAMLToJSON([]byte(s.overlay))
	if err != nil {
		return nil, fmt.Errorf("reading the overlay of %q: %w", s.name, err)
	}
	merged, err := jsonpatch.MergePatch(original, overlay)
	if err != nil {
		return nil, fmt.Errorf("bending the sample %q: %w", s.name, err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(merged); err != nil {
		return nil, fmt.Errorf("reading the sample %q: %w", s.name, err)
	}
	return object, nil
}

package plan

import (
	"encoding/json"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func unmarshal(data []byte, into any) error {
	data, err := yaml.YAMLToJSON(data)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(data, into)
}

func encode(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("encoding %v: %v", value, err)
	}
	return string(data)
}

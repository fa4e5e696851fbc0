package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

func unmarshal(data []byte, into any) error {
	data, err := yaml.YAMLToJSON(data)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(data, into)
}

func encode(t rapid.TB, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("encoding %v: %v", value, err)
	}
	return string(data)
}

// copyBomb doubles an object with each two of its steps.
func copyBomb(doublings int) string {
	steps := []string{`{op: add, path: /spec/x0, value: {a: aaaaaaaaaaaaaaaa}}`}
	for i := range doublings {
		steps = append(steps,
			fmt.Sprintf(`{op: add, path: /spec/x%d, value: {}}`, i+1),
			fmt.Sprintf(`{op: copy, from: /spec/x%d, path: /spec/x%d/a}`, i, i+1),
			fmt.Sprintf(`{op: copy, from: /spec/x%d, path: /spec/x%d/b}`, i, i+1))
	}
	return "[" + strings.Join(steps, ", ") + "]"
}

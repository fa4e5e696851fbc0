package hostile

import (
	"fmt"
	"strings"
)

// Object is what the cases are evaluated on: with 1.4 MiB of JSON close to the most that etcd stores, so that it brings
// about as much of a budget as one object can. Rules watch it as a "thing" of the group hostile.test, version v1.
func Object() map[string]any {
	const pods, ports = 1000, 2
	list := make([]any, pods)
	for i := range list {
		list[i] = map[string]any{
			"name": fmt.Sprintf("pod-%d", i),
			"n":    int64(i),
			"uid":  fmt.Sprintf("00000000-0000-0000-0000-%012d", i),
			"node": fmt.Sprintf("node-%d", i%100),
			"ip":   fmt.Sprintf("10.0.%d.%d", i/250, i%250),
		}
	}
	numbers := make([]any, pods*ports)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	const (
		big     = 100_000
		ballast = 1_200_000
	)
	return map[string]any{
		"apiVersion": "hostile.test/v1",
		"kind":       "Thing",
		"metadata": map[string]any{
			"name": "victim", "namespace": "default", "uid": "0", "resourceVersion": "1", "labels": map[string]any{"env": "prod"},
		},
		"spec": map[string]any{
			"big": strings.Repeat("a", big), "ballast": strings.Repeat("b", ballast), "pods": list, "numbers": numbers,
			"small": map[string]any{"a": int64(1), "list": []any{"a"}},
		},
	}
}

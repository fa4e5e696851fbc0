package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Schemas returns the schemas of a file of CRDs as they are written, by group, version and resource as in
// "pingcap.com/v1alpha1/tidbclusters". It knows nothing of what a reader of schemas makes of them.
func Schemas(data []byte) (map[string]map[string]any, error) {
	found := map[string]map[string]any{}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var crd struct {
			Kind string
			Spec struct {
				Group    string
				Names    struct{ Plural string }
				Versions []struct {
					Name   string
					Served bool
					Schema map[string]map[string]any
				}
			}
		}
		err := decoder.Decode(&crd)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading CRDs: %w", err)
		}
		if crd.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, v := range crd.Spec.Versions {
			if v.Served {
				found[crd.Spec.Group+"/"+v.Name+"/"+crd.Spec.Names.Plural] = v.Schema["openAPIV3Schema"]
			}
		}
	}
}

// Keywords counts the keywords of a schema and of all schemas of parts in it. Alternatives such as anyOf count as one.
func Keywords(s map[string]any, count map[string]int) {
	for keyword, value := range s {
		count[keyword]++
		switch keyword {
		case "properties":
			properties, _ := value.(map[string]any)
			for _, property := range properties {
				keywordsOf(property, count)
			}
		case "items", "additionalProperties":
			keywordsOf(value, count)
		}
	}
}

func keywordsOf(schema any, count map[string]int) {
	if s, isSchema := schema.(map[string]any); isSchema {
		Keywords(s, count)
	}
}

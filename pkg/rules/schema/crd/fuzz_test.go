package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func FuzzRead(f *testing.F) {
	f.Add(file(f, "widgets.yaml"))
	asJSON, err := yaml.YAMLToJSON([]byte(strings.Split(string(file(f, "widgets.yaml")), "\n---\n")[0]))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(asJSON)
	f.Add([]byte("{{ if }}\n" + head))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 50_000 {
			return
		}
		definitions, err := Read("f", data)
		if err != nil {
			var found document.Errors
			if !errors.As(err, &found) || found[0].File != "f" {
				t.Fatalf("the error %v has no place", err)
			}
			return
		}
		s := NewSource(definitions)
		for _, name := range s.Resources() {
			r := s.Resource(name.GroupVersionResource)
			if r == nil || !r.Type.Object || r.Type.Map.Fields["metadata"].Type == nil {
				t.Fatalf("%v is %+v", name, r)
			}
			if _, err := json.Marshal(r.Type.Map.Fields["spec"].Default); err != nil {
				t.Fatalf("a default is no JSON: %v", err)
			}
		}
	})
}

// BenchmarkRead reads a definition as large as that of a TidbCluster, 1.2 MB.
func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	text.WriteString(head + "spec:\n  group: example.com\n  scope: Cluster\n  names:\n    kind: A\n    plural: as\n" +
		"  versions:\n  - name: v1\n    served: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n")
	for i := range 90 {
		fmt.Fprintf(&text, "          p%d:\n            type: object\n            properties:\n", i)
		for j := range 100 {
			fmt.Fprintf(&text, "              field%d:\n                items:\n                  maxLength: 63\n"+
				"                  type: string\n                type: array\n", j)
		}
	}
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		definitions, err := Read("f.yaml", data)
		if err != nil {
			b.Fatal(err)
		}
		if r := NewSource(definitions).Resource(gvr("v1", "as")); len(r.Type.Map.Fields) != 93 {
			b.Fatal("fields are lost")
		}
	}
}

package controlplane

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const twoCRDs = `# Comments alone are no document.
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets}
  versions:
  - {name: v1, served: true}
  - {name: v1beta1, served: false}
  - {name: v2, served: true}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
`

func TestDecodeCRDs(t *testing.T) {
	crds, err := decodeCRDs([]byte(twoCRDs))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, crd := range crds {
		names = append(names, crd.GetName())
	}
	if diff := cmp.Diff([]string{"widgets.example.com", "gadgets.example.com"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got, err := served(crds[0])
	if err != nil {
		t.Fatal(err)
	}
	want := []schema.GroupVersionResource{
		{Group: "example.com", Version: "v1", Resource: "widgets"},
		{Group: "example.com", Version: "v2", Resource: "widgets"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDecodeCRDsErrors(t *testing.T) {
	tests := map[string]struct{ reason, text, want string }{
		"empty":      {"Nothing to install is a mistake in the path.", "", "no CustomResourceDefinition"},
		"comments":   {"So are comments alone.", "# nothing\n---\n# at all\n", "no CustomResourceDefinition"},
		"other kind": {"Another kind would be left out silently.", twoCRDs + "---\nkind: Namespace\n", `kind "Namespace"`},
		"no YAML":    {"The parser's words are passed on.", "a: b: c", "mapping values"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := decodeCRDs([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ngot %d CRDs, %v; want an error with %q", tc.reason, len(got), err, tc.want)
			}
		})
	}
}

func FuzzDecodeCRDs(f *testing.F) {
	f.Add([]byte(twoCRDs))
	f.Add([]byte(`{"kind": "CustomResourceDefinition", "spec": {"versions": [1, null, {"served": "yes"}]}}`))
	f.Add([]byte("kind: CustomResourceDefinition\nspec: []\nmetadata: 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		crds, err := decodeCRDs(data)
		if err == nil && len(crds) == 0 {
			t.Errorf("neither a CRD nor an error for %q", data)
		}
		for _, crd := range crds {
			_, _ = served(crd)
			_ = crd.GetName()
		}
	})
}

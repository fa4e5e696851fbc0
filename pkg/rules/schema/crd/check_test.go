package crd

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// finds is a check that finds the same in every definition.
func finds(faults ...Fault) Check { return func(map[string]any) []Fault { return faults } }

const body = `spec:
  group: b.c
  names: {plural: as, kind: A}
  scope: Cluster
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          a: {type: int}
          a.b: {type: int}
          "a]": &a
            type: "int"
          b: *a
`

func TestFaultsAreLocated(t *testing.T) {
	const schema = "spec.versions[0].schema.openAPIV3Schema"
	for name, tc := range map[string]struct {
		reason, text string
		fault        Fault
		want         string
	}{
		"a value": {
			"the value is what is wrong", head + body, Fault{Path: "spec.group", Message: "bad"}, "f.yaml:5:10: spec.group: bad",
		},
		"a map": {
			"its key is easier to find than its first field",
			head + body,
			Fault{Path: "spec.versions[0].schema", Message: "bad"},
			"f.yaml:10:5: spec.versions[0].schema: bad",
		},
		"a key": {
			"its value says nothing",
			head + body,
			Fault{Path: "spec.group", Message: "bad", Code: document.CodeUnknownField},
			"f.yaml:5:3: spec.group: bad",
		},
		"a hint": {
			"it is told too", head + body, Fault{Path: "spec.group", Message: "b\n  ad", Hint: "write\nc"}, "f.yaml:5:10: spec.group: b ad; write c",
		},
		"in brackets": {
			"as API servers write the names of fields",
			head + body,
			Fault{Path: schema + ".properties[a].type", Message: "bad"},
			"f.yaml:13:21: " + schema + ".properties.a.type: bad",
		},
		"with a dot, after a dot": {
			"the longest name is meant",
			head + body,
			Fault{Path: schema + ".properties.a.b.type", Message: "bad"},
			"f.yaml:14:23: " + schema + `.properties["a.b"].type: bad`,
		},
		"with a bracket": {
			"the bracket belongs to the name",
			head + body,
			Fault{Path: schema + ".properties[a]].type", Message: "bad"},
			"f.yaml:16:19: " + schema + `.properties["a]"].type: bad`,
		},
		"alias": {
			"the value is where the alias is",
			head + body,
			Fault{Path: schema + ".properties[b].type", Message: "bad"},
			"f.yaml:17:14: " + schema + `.properties.b.type: bad`,
		},
		"missing": {
			"what would hold it is shown", head + body, Fault{Path: "spec.names.singular", Message: "bad"}, "f.yaml:6:3: spec.names.singular: bad",
		},
		"missing at the top": {
			"there is only the definition", head + body, Fault{Path: "status.a", Message: "bad"}, "f.yaml:1:1: status.a: bad",
		},
		"nowhere": {
			"it is about the definition", head + body, Fault{Message: "bad"}, "f.yaml:1:1: bad",
		},
		"no index": {
			"a path may be nonsense", head + body, Fault{Path: "spec.versions[x[", Message: "bad"}, "f.yaml:8:3: spec.versions[x[: bad",
		},
		"second document": {
			"lines are those of the file", "kind: Pod\n---\n" + head + body, Fault{Path: "spec.group", Message: "bad"}, "f.yaml:7:10: spec.group: bad",
		},
		"in a list": {
			"each has its place", "kind: List\nitems:\n- {kind: Pod}\n- " + strings.ReplaceAll(head+"spec: {group: b.c, names: {plural: as, kind: A}, scope: Cluster}", "\n", "\n  "),
			Fault{Path: "spec.group", Message: "bad"},
			"f.yaml:7:17: items[1].spec.group: bad",
		},
		"JSON": {
			"it has places too", `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "spec": {"scope": "Cluster", "names": {"plural": "as", "kind": "A"},
    "group": "b.c"}}`, Fault{Path: "spec.group", Message: "bad"}, "f.yaml:3:14: spec.group: bad",
		},
	} {
		t.Run(name, func(t *testing.T) {
			definitions, err := Read("f.yaml", []byte(tc.text), finds(tc.fault))
			if err == nil || definitions != nil {
				t.Fatalf("%s: the fault is lost", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestChecks(t *testing.T) {
	var seen []any
	look := func(definition map[string]any) []Fault {
		spec, _ := definition["spec"].(map[string]any)
		seen = append(seen, spec["group"])
		return nil
	}
	definitions, err := Read("f.yaml", []byte("kind: Pod\n---\n"+head+body), look, look)
	if err != nil || len(definitions) != 1 {
		t.Fatalf("%d definitions, %v: what has no fault is read", len(definitions), err)
	}
	if diff := cmp.Diff([]any{"b.c", "b.c"}, seen); diff != "" {
		t.Errorf("each check sees each definition: (-want +got)\n%s", diff)
	}
	seen = nil
	if _, err := Read("f.yaml", []byte(head), look); err == nil || seen != nil {
		t.Errorf("what is no definition is not checked: %v, %v", err, seen)
	}
}

// TestManyFaults holds that a file full of them is told of in bounded time and text.
func TestManyFaults(t *testing.T) {
	faults := make([]Fault, 10_000)
	for i := range faults {
		faults[i] = Fault{Path: "spec.group", Message: strings.Repeat("x", i)}
	}
	_, err := Read("f.yaml", []byte(head+body), finds(faults...))
	var found document.Errors
	if !errors.As(err, &found) || len(found) > 101 {
		t.Errorf("%d are told", len(found))
	}
}

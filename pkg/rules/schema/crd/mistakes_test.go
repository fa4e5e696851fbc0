package crd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.b.c}\n"

func TestMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text, want string
	}{
		"template": {
			"charts keep definitions as templates", "{{- if .Values.crds }}\n" + head,
			`f.yaml:1:3: a value cannot start with "-"; ` + templateHint,
		},
		"template below": {
			"the line is that of the template", head + "spec:\n  {{- toYaml .Values.spec }}\n  group: b.c\n",
			`f.yaml:5:5: a value cannot start with "-"; ` + templateHint,
		},
		"template as a value": {
			"it is a map to YAML", head + "spec:\n  group: {{ .Values.group }}\n",
			"f.yaml:5:11: spec.group: a list or map cannot be a key; " + templateHint,
		},
		"broken": {
			"no template", head + "spec: [\n",
			`f.yaml:4:7: "[" is not closed; add the closing bracket`,
		},
		"second document": {
			"lines are those of the file", "a: b\n---\n" + head + "spec: {names: {plural: as, kind: A}, scope: Cluster}\n",
			"f.yaml:3:1: spec.group is missing",
		},
		"all of them": {
			"of every document", head + "---\n" + head + "spec: {group: b.c, scope: Cluster}\n",
			"f.yaml:1:1: spec.group is missing\nf.yaml:5:1: spec.names.plural is missing",
		},
		"no kind": {
			"it could not be told from others", head + "spec: {group: b.c, names: {plural: as}, scope: Cluster}",
			"f.yaml:1:1: spec.names.kind is missing",
		},
		"scope": {
			"as an API server says", head + "spec: {group: b.c, names: {plural: as, kind: A}, scope: Namespace}",
			`f.yaml:1:1: spec.scope is "Namespace", want Namespaced or Cluster`,
		},
		"version": {
			"who knows what it means", "apiVersion: apiextensions.k8s.io/v2\nkind: CustomResourceDefinition\n",
			`f.yaml:1:13: apiVersion: API servers do not serve "v2"; write v1, and what it wants`,
		},
		"JSON": {
			"the place of what is no JSON either", `{"kind": "CustomResourceDefinition",` + "\n" + `"spec": ]`,
			`f.yaml:2:9: a value cannot start with "]"; remove it, or put the value in quotes`,
		},
		"twice": {
			"which one counts is a guess", head + "spec:\n  group: a\n  group: b\n", `f.yaml:6:3: spec.group: duplicate key "group", first written on line 5; remove one of them`,
		},
		"merge": {
			"it is no JSON", head + "spec: {<<: {a: b}}\n", `f.yaml:4:8: spec["<<"]: merge keys are not supported; write the keys out`,
		},
		"word": {
			"kubectl would make another field of it", head + "spec:\n  y: {type: integer}\n",
			`f.yaml:5:3: spec.y: the key y is not a string; write "y": kubectl reads an unquoted y as true`,
		},
	} {
		definitions, err := Read("f.yaml", []byte(tc.text))
		if err == nil || definitions != nil {
			t.Errorf("%s: %s: no mistake is found", name, tc.reason)
			continue
		}
		if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
			t.Errorf("%s: %s: (-want +got)\n%s", name, tc.reason, diff)
		}
		if found := document.Errors(nil); !errors.As(err, &found) {
			t.Errorf("%s: the error is a %T", name, err)
		}
	}
}

func TestPassesOver(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":             "",
		"only comments":       "# nothing\n---\n# here\n",
		"another kind":        "kind: Pod\napiVersion: v1\n",
		"a text":              "hello",
		"a list of texts":     "[a, b]",
		"another group's":     "kind: CustomResourceDefinition\napiVersion: example.com/v1\n",
		"an empty list":       "kind: List\n",
		"a list of others":    "kind: List\nitems: [{kind: Pod}, 7]\n",
		"not served":          head + "spec: {group: b.c, names: {plural: as, kind: A}, scope: Cluster, versions: [{name: v1}, 7]}",
		"a key that is a map": "kind: Pod\n? {a: b}\n: c\n",
	} {
		definitions, err := Read("f.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := NewSource(definitions).Resources(); len(got) != 0 {
			t.Errorf("%s defines %v", name, got)
		}
	}
}

// hostile are files that want to exhaust the process.
func hostile() map[string]string {
	bomb := head + "spec:\n  x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n"
	for i := range 20 {
		alias := fmt.Sprintf("*x%d,", i)
		bomb += fmt.Sprintf("  x%d: &x%d [%s]\n", i+1, i+1, strings.Repeat(alias, 10))
	}
	deep := `{"kind": "CustomResourceDefinition", "spec": ` + strings.Repeat(`{"a":`, 100_000)
	return map[string]string{
		"bomb":          bomb,
		"own alias":     head + "spec: &a [*a, *a]\n",
		"deep":          head + "spec: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"deep in JSON":  deep,
		"brackets":      strings.Repeat("[", 16<<20),
		"dashes":        strings.Repeat("- ", 8<<20),
		"too large":     strings.Repeat(" ", 16<<20+1),
		"too many":      "[" + strings.Repeat("a,", 1_000_001) + "]",
		"too many keys": strings.Repeat("a: b\n", 1_000_001),
	}
}

func TestHostile(t *testing.T) {
	for name, text := range hostile() {
		if _, err := Read("f.yaml", []byte(text)); err == nil {
			t.Errorf("%s is read", name)
		} else if len(err.Error()) > 300 {
			t.Errorf("%s: the message has %d bytes", name, len(err.Error()))
		}
	}
}

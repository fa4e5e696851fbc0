package docs_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
)

// TestReferenceCRDs holds the definitions of our own kinds, which controller-gen makes of
// the types in pkg/api and their comments, and the schema of their spec, which comes from the
// fields of the language. It is a tool of the module tools.
func TestReferenceCRDs(t *testing.T) {
	made := generated(t)
	for _, plural := range []string{"rulesets", "clusterrulesets"} {
		want := withSpec(t, read(t, filepath.Join(made, "dyncontroller.dev_"+plural+".yaml")))
		path := filepath.Join(root, "deploy", "crds", plural+".yaml")
		if *update {
			if os.Getenv("CI") == "true" {
				t.Fatal("-update is not for CI")
			}
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, read(t, path)); diff != "" {
			t.Errorf("%s: run make generate (-want +got):\n%s", path, diff)
		}
	}
}

// withSpec puts the schema of the language into a definition.
func withSpec(t *testing.T, text string) string {
	t.Helper()
	var definition map[string]any
	if err := yaml.Unmarshal([]byte(text), &definition); err != nil {
		t.Fatal(err)
	}
	versions, _, _ := unstructured.NestedSlice(definition, "spec", "versions")
	spec, found, err := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec")
	if err != nil || !found {
		t.Fatalf("the definition has no spec: %v", err)
	}
	data, err := json.Marshal(editor.Definition())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	maps.Copy(spec, fields)
	if err := unstructured.SetNestedMap(versions[0].(map[string]any), spec, "schema", "openAPIV3Schema", "properties", "spec"); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedSlice(definition, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	return "---\n" + string(out)
}

// generated is a folder with what controller-gen makes now.
func generated(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	program := filepath.Join(t.TempDir(), "controller-gen")
	goTool(t, filepath.Join(root, "tools", "generate"), "go", "build", "-o", program, "sigs.k8s.io/controller-tools/cmd/controller-gen")
	goTool(t, root, program, "crd", "paths=./pkg/api/...", "output:crd:dir="+folder)
	if found, err := os.ReadDir(folder); err != nil || len(found) != 2 {
		t.Fatalf("there are %d definitions, want those of two kinds, err %v", len(found), err)
	}
	return folder
}

func goTool(t *testing.T, folder string, command ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

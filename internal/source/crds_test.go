package source

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// definition is a good CRD.
func definition(plural string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: ` + plural + `, kind: Thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
}

func TestReadCRDs(t *testing.T) {
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
	cases := map[string]struct {
		reason string
		files  map[string]string
		paths  []string
		stdin  string
		want   []string
		errs   []string // what is said, one after the other
	}{
		"none":           {reason: "Nothing was asked for."},
		"file":           {reason: "One is enough.", files: map[string]string{"a.yaml": definition("shops")}, paths: []string{"a.yaml"}, want: []string{"shops"}},
		"any name":       {reason: "A file that is named is read, whatever its name.", files: map[string]string{"a.txt": definition("shops")}, paths: []string{"a.txt"}, want: []string{"shops"}},
		"several":        {reason: "A bundle has many.", files: map[string]string{"a.yaml": definition("shops") + "---\n" + service + "---\n" + definition("tills")}, paths: []string{"a.yaml"}, want: []string{"shops", "tills"}},
		"standard input": {reason: "As for rules.", paths: []string{"-"}, stdin: definition("shops"), want: []string{"shops"}},
		"directory": {
			reason: "With its folders, but for hidden names and what is no YAML.",
			files: map[string]string{
				"d/": "", "d/e/": "", "d/e/f/": "", "d/.git/": "", "d/a.yaml": definition("shops"), "d/b.yml": definition("tills"), "d/c.json": "{}",
				"d/e/f/d.yaml": definition("carts"), "d/.hidden.yaml": "{{", "d/.git/a.yaml": "{{", "d/a.yaml.bak": "{{", "d/README.md": "{{",
			},
			paths: []string{"d"}, want: []string{"shops", "tills", "carts"},
		},
		"hidden, but named": {reason: "Who names it means it.", files: map[string]string{".d/": "", ".d/a.yaml": definition("shops")}, paths: []string{".d"}, want: []string{"shops"}},
		"order":             {reason: "Of two of a name the first counts, so the order is that of the paths.", files: map[string]string{"b.yaml": definition("b"), "a.yaml": definition("a")}, paths: []string{"b.yaml", "a.yaml"}, want: []string{"b", "a"}},
		"none in it":        {reason: "A path is never named for nothing.", files: map[string]string{"a.yaml": service, "d/": "", "b.yaml": ""}, paths: []string{"a.yaml", "d", "b.yaml"}, errs: []string{"a.yaml holds no CustomResourceDefinition", "d holds no CustomResourceDefinition", "b.yaml holds no CustomResourceDefinition"}},
		"none in input":     {reason: "Nor is standard input.", paths: []string{"-"}, errs: []string{"standard input holds no CustomResourceDefinition"}},
		"nowhere":           {reason: "Each path that is wrong is told.", files: map[string]string{"a.yaml": definition("shops")}, paths: []string{"x", "a.yaml", ""}, want: []string{"shops"}, errs: []string{"reading CRDs: stat ", `reading CRDs: a path is ""`}},
		"broken": {
			reason: "It says where, and the others of the directory are read.",
			files:  map[string]string{"d/": "", "d/a.yaml": "kind: CustomResourceDefinition\nmetadata: {name: {{ .Name }}}\n", "d/b.yaml": definition("shops"), "d/c.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"},
			paths:  []string{"d"}, want: []string{"shops"}, errs: []string{"a.yaml:2:", "c.yaml:1:"},
		},
		"too large": {reason: "A file without end ends.", files: map[string]string{"a.yaml": strings.Repeat("#", maxDefinitions+5)}, paths: []string{"a.yaml"}, errs: []string{"at most"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			folders, files := map[string]string{}, map[string]string{}
			for name, text := range tc.files {
				if strings.HasSuffix(name, "/") {
					folders[name] = text
				} else {
					files[name] = text
				}
			}
			write(t, directory, folders)
			write(t, directory, files)
			found, err := ReadCRDs(in(directory, tc.paths), strings.NewReader(tc.stdin))
			var got []string
			for _, definition := range found {
				got = append(got, definition.Plural)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s\nwant %q, got %q (%v)", tc.reason, tc.want, got, err)
			}
			if (err != nil) != (len(tc.errs) > 0) {
				t.Fatalf("%s\nwant %q, got %v", tc.reason, tc.errs, err)
			}
			said := ""
			if err != nil {
				said = err.Error()
			}
			for _, part := range tc.errs {
				_, rest, found := strings.Cut(said, part)
				if !found {
					t.Errorf("%s\nwant %q in turn, got %v", tc.reason, tc.errs, err)
				}
				said = rest
			}
		})
	}
}

// TestReadCRDsLinks holds that a link to a file in the folder is followed, as mounted ConfigMaps
// want it, and one to a folder is not, since it may lead back.
func TestReadCRDsLinks(t *testing.T) {
	directory := t.TempDir()
	write(t, directory, map[string]string{"d/": "", "d/..data/": ""})
	write(t, directory, map[string]string{"d/..data/a.yaml": definition("shops"), "d/..data/b.yaml": definition("tills")})
	for link, to := range map[string]string{
		"d/a.yaml": "..data/a.yaml", "d/back.yaml": ".", "d/back": "..", "d/dangling": "nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(directory, link)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := ReadCRDs([]string{filepath.Join(directory, "d")}, nil)
	if err != nil || len(found) != 1 || found[0].Plural != "shops" {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestReadCRDsFails(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := ReadCRDs([]string{Stdin}, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	directory := t.TempDir()
	write(t, directory, map[string]string{"a.yaml": "kind: CustomResourceDefinition\n- a\n"})
	_, err := ReadCRDs([]string{filepath.Join(directory, "a.yaml")}, nil)
	var located document.Errors
	if !errors.As(err, &located) || located[0].Line == 0 {
		t.Errorf("the mistake has no place: %v", err)
	}
}

func TestNamed(t *testing.T) {
	directory := t.TempDir()
	write(t, directory, map[string]string{
		"a.yaml": ruleSet("a", "one") + "---\n" + strings.ReplaceAll(ruleSet("b", "one"), "{version: v1, resource: pods}", "{group: apps, version: v1, resource: deployments}"),
		"b.yaml": ruleSet("c", "one"), "c.yaml": ruleTest, "d.yaml": "kind: [",
	})
	files := New([]string{Stdin, directory, filepath.Join(directory, "nowhere")}, strings.NewReader(ruleSet("d", "one")), rules.Options{})
	want := []apischema.GroupVersionResource{{Version: "v1", Resource: "pods"}, {Group: "apps", Version: "v1", Resource: "deployments"}}
	if diff := cmp.Diff(want, files.Named()); diff != "" {
		t.Errorf("each once, of what can be read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, files.Named()); diff != "" {
		t.Errorf("standard input is kept (-want +got):\n%s", diff)
	}
}

func TestSetSchemas(t *testing.T) {
	files := New(nil, nil, rules.Options{DefaultNamespace: "kept"})
	schemas := schema.NewCatalog()
	files.SetSchemas(schemas)
	if files.options.Schemas != schemas || files.options.DefaultNamespace != "kept" {
		t.Errorf("got %+v", files.options)
	}
}

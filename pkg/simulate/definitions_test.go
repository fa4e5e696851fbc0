package simulate

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// readOnly is a file system that nobody writes to.
type readOnly struct{ fstest.MapFS }

func (readOnly) WriteFile(string, []byte) error { return fs.ErrPermission }

func TestReadCRDs(t *testing.T) {
	const crd = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.x.y}," +
		" spec: {group: x.y, scope: Namespaced, names: {plural: as, kind: A}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}"
	other := strings.ReplaceAll(crd, "as", "bs")
	all := map[string]string{
		"tests/a.yaml": crd, "tests/pod.yaml": "kind: Pod", "tests/bad.yaml": "a: [",
		"crds/one.yaml": crd, "crds/deep/two.json": other, "crds/.hidden/three.yaml": "a: [", "crds/README.md": "a: [", "crds/pod.yaml": "kind: Pod",
		"empty/README.md": "",
	}
	tests := map[string]struct {
		reason, crds string
		found        int
		wrong        string
	}{
		"none":      {"a test without CRDs reads nothing", "", 0, ""},
		"file":      {"beside the test", "[a.yaml]", 1, ""},
		"directory": {"with all its folders, but hidden ones; other objects are passed over", "[../crds/]", 2, ""},
		"twice":     {"a cluster has one of each name", "[a.yaml, ../crds]", 3, "tests/test.yaml:1:61: spec.crds[1]: as.x.y is defined twice, in tests/a.yaml and in crds/one.yaml"},
		"again":     {"that it is the same file is no excuse", "[a.yaml, a.yaml]", 2, "as.x.y is defined twice, in tests/a.yaml and in tests/a.yaml"},
		"missing":   {"told where it is named", "[nowhere.yaml]", 0, `tests/test.yaml:1:53: spec.crds[0]: cannot read "tests/nowhere.yaml"`},
		"other":     {"a file without any is a slip", "[pod.yaml]", 0, "tests/pod.yaml holds no CustomResourceDefinition"},
		"empty":     {"so is a directory", "[../empty]", 0, "empty holds no CustomResourceDefinition"},
		"broken":    {"its own errors have their own place", "[bad.yaml]", 0, "tests/bad.yaml"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := readOnly{fstest.MapFS{}}
			for path, data := range all {
				files.MapFS[path] = &fstest.MapFile{Data: []byte(data)}
			}
			parsed, _ := parse(document.File{Name: "tests/test.yaml", Data: []byte("{kind: RuleTest, metadata: {name: a}, spec: {" +
				strings.TrimSuffix("crds: "+test.crds+", ", "crds: , ") + "cases: []}}")})
			found, errs := parsed[0].readCRDs(files)
			if len(found) != test.found || !strings.Contains(errs.Error(), test.wrong) || (test.wrong == "") != (len(errs) == 0) {
				t.Errorf("%s: found %d, errors %v", test.reason, len(found), errs)
			}
		})
	}
}

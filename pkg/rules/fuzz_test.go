package rules_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// FuzzLoad holds that no file makes the loader panic, that every error has a
// place in the file, and that what is accepted can be evaluated.
func FuzzLoad(f *testing.F) {
	names, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(head + "  rules: [{name: r, watch: tidbclusters, when: object.spec.a > 1, actions: [{patch: {merge: {spec: {a: \"${object.spec.a + 1}\"}}}}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, errs := rules.Load([]document.File{{Name: "f.yaml", Data: data}}, rules.Options{DefaultNamespace: "default"})
		for _, err := range errs {
			if err.Line < 1 || err.Column < 1 || err.Render() == "" {
				t.Errorf("an error without a place: %+v", err)
			}
		}
		if set == nil {
			if len(errs) == 0 {
				t.Error("neither a set nor an error")
			}
			return
		}
		set.Evaluate(snapshot(set, object(t, `{metadata: {name: n, uid: u, resourceVersion: "1"}, spec: {a: 2, b: [1], c: {d: x}}}`)))
	})
}

package action_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// TestWrong makes every mistake that an action can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	var archives []string
	for _, part := range []string{"actions", "apply", "create", "delete", "event", "patch"} {
		found, err := filepath.Glob("../testdata/wrong/" + part + "*.txtar")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", part, found, err)
		}
		archives = append(archives, found...)
	}
	for _, name := range archives {
		documents, err := archive.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(documents.Files); i += 2 {
			_, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: documents.Files[i].Data}}, rules.Options{DefaultNamespace: "default"})
			if diff := cmp.Diff(string(documents.Files[i+1].Data), errs.Render()+"\n"); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, documents.Files[i].Name, diff)
			}
		}
	}
}

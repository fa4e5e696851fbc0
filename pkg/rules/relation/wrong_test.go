package relation_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// TestWrong makes every mistake that an entry of with can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	archives, err := filepath.Glob("../testdata/wrong/with*.txtar")
	if err != nil || len(archives) < 3 {
		t.Fatal(archives, err)
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

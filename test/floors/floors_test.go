package floors_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/dyncontroller/dyncontroller/test/floors"
)

const root = "../.."

// TestImports holds the rules over this module as it is.
func TestImports(t *testing.T) {
	look(t)
	graph, err := floors.List(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if len(graph) < 100 {
		t.Fatalf("go list tells of %d packages: the rules would hold for want of imports", len(graph))
	}
	for _, found := range floors.CheckFloors(graph, floors.House()) {
		t.Error(found)
	}
	for _, found := range floors.CheckBans(graph, floors.Bans()) {
		t.Error(found)
	}
}

// look opens every folder of the module. The go command remembers what a test itself has opened and runs it again when
// that has changed; of what go list reads on behalf of the test it knows nothing, and would call an old result good.
func look(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin") {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

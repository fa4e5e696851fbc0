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

// TestOperator holds the rules over what the program of an image links.
func TestOperator(t *testing.T) {
	look(t)
	graph, err := floors.List(t.Context(), root, "operator")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range floors.CheckBans(graph, floors.OperatorBans()) {
		t.Error(found)
	}
}

// What pkg/engine has today. Each number may go down, never up: who lowers one writes it here.
const (
	maxAgainst = 9  // references against the layers
	maxFields  = 12 // of a struct
	maxMethods = 20 // of a type
)

// TestLayers holds the order of the files of pkg/engine, and the size of its types. With -v it prints every reference
// that runs against the order.
func TestLayers(t *testing.T) {
	look(t)
	packages, err := floors.Load(t.Context(), root, "./pkg/engine/...")
	if err != nil {
		t.Fatal(err)
	}
	layers, err := floors.Layers(root)
	if err != nil {
		t.Fatal(err)
	}
	against, wrong := floors.Against(floors.Refer(packages), layers)
	for _, found := range wrong {
		t.Error(found)
	}
	t.Logf("%d references run against the order of files:%s", len(against), floors.Describe(against))
	if len(against) > maxAgainst {
		t.Errorf("%d references run against the order of files, at most %d may: turn one round, or mend layers.txt", len(against), maxAgainst)
	}
	fields, methods := floors.Sizes(packages)
	if fields[0].N > maxFields {
		t.Errorf("the largest struct, %s, has %d fields, want at most %d", fields[0].Type, fields[0].N, maxFields)
	}
	if methods[0].N > maxMethods {
		t.Errorf("the largest type, %s, has %d methods, want at most %d", methods[0].Type, methods[0].N, maxMethods)
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

package simulate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// TestOwnDefinitionsComeFirst says that the rules are checked by the same definition of a
// resource as is served: where a test has its own, what all tests are given is another's.
func TestOwnDefinitionsComeFirst(t *testing.T) {
	files, given := givenArchive(t)
	memory := newMemory(files)
	report, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: memory, Update: true, Definitions: given})
	if err != nil || !report.Passed() {
		t.Errorf("the test is to pass: %+v, %v", report.Results, err)
	}
	const golden = "golden/own.yaml"
	if diff := cmp.Diff(files["wrote/"+golden], memory.wrote[golden]); diff != "" {
		t.Errorf("the definition that is given changes something (-alone +given):\n%s", diff)
	}
}

// TestGivenDefinitions says that what all tests are given is what a test has that defines
// nothing itself.
func TestGivenDefinitions(t *testing.T) {
	files, given := givenArchive(t)
	files["test.yaml"] = strings.Replace(files["test.yaml"], "crds: [crds]", "", 1)
	report, err := simulate.Run(t.Context(), []string{"test.yaml"}, simulate.Options{Files: newMemory(files), Definitions: given})
	if err != nil || report.Passed() || !strings.Contains(report.Results[0].Errors.Error(), "fresh") {
		t.Errorf("the definition that is given has no field fresh: %+v, %v", report.Results, err)
	}
}

// givenArchive are the files of the archive, and the definition to give.
func givenArchive(t *testing.T) (map[string]string, []*crd.Definition) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/crds-given.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, file := range archive.Files {
		files[file.Name] = string(file.Data)
	}
	given, err := crd.Read("given.yaml", []byte(files["given.yaml"]))
	if err != nil || len(given) != 1 {
		t.Fatalf("read %d definitions, %v", len(given), err)
	}
	return files, given
}

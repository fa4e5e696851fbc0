package junit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	parser "github.com/joshdk/go-junit"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/junit"
)

// TestAnotherParserReadsIt says that who knows nothing of us finds every case, and tells
// a failure from an error and from a case that was skipped.
func TestAnotherParserReadsIt(t *testing.T) {
	var out strings.Builder
	if err := junit.Write(&out, example()); err != nil {
		t.Fatal(err)
	}
	suites, err := parser.Ingest([]byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	statuses := map[parser.Status]simulate.Status{
		parser.StatusPassed: simulate.Pass, parser.StatusFailed: simulate.Fail,
		parser.StatusError: simulate.Error, parser.StatusSkipped: simulate.Skip,
	}
	got := map[string]simulate.Status{}
	for _, suite := range suites {
		for _, test := range suite.Tests {
			got[suite.Name+" "+test.Name] = statuses[test.Status]
		}
	}
	want := map[string]simulate.Status{
		"a.yaml passes <&>": simulate.Pass, "a.yaml new/one": simulate.Pass, "a.yaml fails": simulate.Fail, "a.yaml skipped": simulate.Skip,
		"b.yaml circles": simulate.Error, "golden/old.yaml golden/old.yaml": simulate.Error,
		"coverage set/one": simulate.Pass, "coverage set/two": simulate.Error,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

package editor_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// structural are the messages about the shape of a document.
var structural = regexp.MustCompile(strings.Join([]string{
	`unknown field`, `is missing$`, `has no value$`, `is not known here$`, `want an? [\w ]+, have`, `must be an? [\w ]+, have`,
	`without elements does nothing`, `is not a name that Kubernetes takes`, `looks like a kind`, `cannot be a name$`,
	`an action is one thing`, `an action without a kind`, `a patch has one body`, `nothing says which objects are meant`,
	`each say which objects are meant`, `is of apply only`,
}, "|"))

// TestWrong takes the documents that the language refuses. An editor cannot know
// expressions and names, but it shows nearly every mistake of shape.
func TestWrong(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	all, refused, shapes := 0, 0, 0
	for _, d := range archive.Documents(t, "../testdata/wrong/*.txtar") {
		if _, errs := document.Parse(document.File{Name: "rules.yaml", Data: d.Text}); len(errs) > 0 {
			continue // It is not YAML as an editor would parse it.
		}
		all++
		found := g.judge(string(d.Text)) != nil
		if found {
			refused++
		}
		message, _, _ := strings.Cut(string(d.Want), "\n")
		if structural.MatchString(message) {
			shapes++
			if !found {
				t.Errorf("%s is taken: %s", d.Name, message)
			}
		}
	}
	t.Logf("of %d wrong documents %d are refused, of them %d for their shape", all, refused, shapes)
	if refused < 240 || shapes < 150 {
		t.Errorf("only %d are refused, and only %d have a wrong shape", refused, shapes)
	}
}

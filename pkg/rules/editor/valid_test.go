package editor_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/test/archive"
	"github.com/dyncontroller/dyncontroller/test/generate"
)

// root is the repository as a test sees it.
const root = "../../.."

// written is a text that somebody wrote somewhere in the repository.
type written struct{ place, text string }

// TestRepository says that every rule set and every test that is right, wherever
// in the repository it is written, is right for an editor too: in examples,
// documents, archives of tests, and Go code.
func TestRepository(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	sets, tests := 0, 0
	for _, w := range everything(t) {
		switch {
		case strings.Contains(w.text, "kind: RuleTest") && rightTest(w.text):
			tests++
		case rightRules(w.text, builtin.Source()):
			sets++
		default:
			continue
		}
		if err := g.judge(w.text); err != nil {
			t.Errorf("%s: %v\n%s", w.place, err, w.text)
		}
	}
	t.Logf("%d files of rules, %d of tests", sets, tests)
	if sets < 60 || tests < 20 {
		t.Errorf("there are only %d files of rules and %d of tests", sets, tests)
	}
}

func rightRules(text string, known ...schema.Source) bool {
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{
		DefaultNamespace: "default", Schemas: schema.NewCatalog(known...),
	})
	return len(errs) == 0 && len(set.Rules()) > 0
}

func rightTest(text string) bool {
	tests, errs := simulate.Load("rules_test.yaml", beside{"rules_test.yaml": text})
	return len(errs) == 0 && len(tests) > 0
}

// beside implements [simulate.Files]: beside the files that there are, whatever is
// read is a rule set.
type beside map[string]string

func (b beside) ReadFile(path string) ([]byte, error) {
	if text, there := b[path]; there {
		return []byte(text), nil
	}
	return []byte(`apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules: [{name: rule, watch: pods, actions: [{event: {reason: Seen, message: seen}}]}]
`), nil
}

func (beside) ReadDir(string) ([]fs.DirEntry, error) { return nil, errors.New("not a directory") }
func (beside) WriteFile(string, []byte) error        { return os.ErrPermission }

// everything lists the texts that may be rules or tests.
func everything(t *testing.T) []written {
	t.Helper()
	var out []written
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		cut := map[string]func(string) []string{".yaml": whole, ".md": blocks, ".txtar": archived, ".go": literals}[filepath.Ext(path)]
		if cut == nil {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, text := range cut(string(data)) {
			out = append(out, written{path, text})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func whole(text string) []string { return []string{text} }

func archived(text string) []string {
	var out []string
	for _, file := range archive.Parse([]byte(text)).Files {
		out = append(out, string(file.Data))
	}
	return out
}

var (
	blockPattern   = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
	literalPattern = regexp.MustCompile("(?s)`([^`]*)`")
)

// blocks are those of a document. A list of actions gets a rule set around it.
func blocks(text string) []string {
	var out []string
	for _, match := range blockPattern.FindAllStringSubmatch(text, -1) {
		block := match[1]
		if strings.HasPrefix(block, "- ") {
			block = ruleSet("    " + strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n    ") + "\n")
		}
		out = append(out, block)
	}
	return out
}

func literals(text string) []string {
	var out []string
	for _, match := range literalPattern.FindAllStringSubmatch(text, -1) {
		out = append(out, match[1])
	}
	return out
}

// ruleSet is one with these actions.
func ruleSet(actions string) string {
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    pods: {version: v1, resource: pods}
    maps: {version: v1, resource: configmaps}
  rules:
  - name: rule
    watch: pods
    with:
      list: {resource: pods, all: true}
    actions:
` + actions
}

// TestGenerated says the same of generated rules.
func TestGenerated(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	right := 0
	for round := 0; round < 5 && right < 10; round++ { // By chance, few of a hundred may be right.
		rapid.Check(t, func(t *rapid.T) {
			text := generate.YAML(t, generate.RuleSet([]string{"1", "true", `"text"`}).Draw(t, "rules"))
			if !rightRules(text) {
				return
			}
			right++
			if err := g.judge(text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
	if right < 10 {
		t.Errorf("only %d of the generated rules were right", right)
	}
}

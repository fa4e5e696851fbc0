package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recipes are the files that the page of the cookbook is about. They are its workspace, and the source of its YAML.
const recipes = "examples/rules/cookbook"

// cookbook is the page, from the root.
const cookbook = "docs/guide/cookbook.md"

var filePattern = regexp.MustCompile("(?ms)^```yaml\n# (\\S+)\n.*?^```$")

// TestReferenceCookbook holds that a YAML block of the cookbook is the file that its first line names, but for its
// modeline, and that every recipe is on the page and has a test.
func TestReferenceCookbook(t *testing.T) {
	path := filepath.Join(root, filepath.FromSlash(cookbook))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	want := filePattern.ReplaceAllStringFunc(string(data), func(block string) string {
		name := filePattern.FindStringSubmatch(block)[1]
		shown = append(shown, name)
		text, err := os.ReadFile(filepath.Join(root, recipes, name))
		if err != nil {
			t.Errorf("the page shows a file that is not there: %v", err)
			return block
		}
		return "```yaml\n# " + name + "\n" + modeline.ReplaceAllString(string(text), "") + "```"
	})
	if !t.Failed() {
		checkReference(t, path, want)
	}
	found, err := filepath.Glob(filepath.Join(root, recipes, "*.yaml"))
	if err != nil || len(found) == 0 {
		t.Fatalf("there are no recipes: %v", err)
	}
	for _, file := range found {
		name, isTest := strings.CutSuffix(filepath.Base(file), "_test.yaml")
		if isTest {
			continue
		}
		name = strings.TrimSuffix(name, ".yaml")
		if !slices.Contains(shown, name+".yaml") {
			t.Errorf("the recipe %s is not on the page", name)
		}
		if _, err := os.Stat(filepath.Join(root, recipes, name+"_test.yaml")); err != nil {
			t.Errorf("the recipe %s has no test: %v", name, err)
		}
	}
}

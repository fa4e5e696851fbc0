package v1alpha1_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/test/archive"
	"github.com/dyncontroller/dyncontroller/test/generate"
)

// TestRepositoryIsAccepted says that every rule set that is right, wherever in the
// repository it is written, is right for the API server too, once it names a
// ServiceAccount, and comes back as it was sent: in examples, documents, archives of
// tests, and Go code.
func TestRepositoryIsAccepted(t *testing.T) {
	t.Parallel()
	accepted := 0
	for place, texts := range everything(t) {
		for _, text := range texts {
			accepted += accept(t, place, text)
		}
	}
	t.Logf("%d sets", accepted)
	if accepted < 100 {
		t.Errorf("there are only %d sets", accepted)
	}
}

// accept sends the sets of a text, if they are right, and counts them.
func accept(t *testing.T, place, text string) int {
	t.Helper()
	if !right(text) {
		return 0
	}
	count := 0
	for part := range strings.SplitSeq("\n"+text, "\n---") {
		set := decoded(t, []byte(part))
		if set["kind"] != spec.KindRuleSet && set["kind"] != spec.KindClusterRuleSet {
			continue
		}
		count++
		inCluster(set)
		if problem := unchanged(t, set); problem != "" {
			t.Errorf("%s: %s\n%s", place, problem, part)
		}
	}
	return count
}

// right reports whether a text is a set that loads.
func right(text string) bool {
	set, errs := load(text)
	return len(errs.Of(document.Mistake)) == 0 && set != nil && len(set.Rules()) > 0
}

func load(text string) (*rules.Set, document.Errors) {
	return rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default"})
}

// inCluster gives a set what it needs to be there and a file does without.
func inCluster(set map[string]any) {
	body := child(set, "spec")
	body["serviceAccountName"] = "rules"
	if set["kind"] == spec.KindClusterRuleSet {
		body["serviceAccountNamespace"] = "rules"
	}
	set["metadata"] = map[string]any{"name": child(set, "metadata")["name"]}
}

// child is the map below a key, an empty one if there is none.
func child(m map[string]any, key string) map[string]any {
	below, there := m[key].(map[string]any)
	if !there {
		below = map[string]any{}
		m[key] = below
	}
	return below
}

// unchanged says what is wrong if a set is refused or comes back otherwise than it was
// sent.
func unchanged(t testing.TB, set map[string]any) string {
	t.Helper()
	sent := maps.Clone(set)
	delete(sent, "status") // The server drops it: it has a subresource of its own.
	got, message := stored(t, sent)
	if message != "" {
		return message
	}
	delete(sent, "metadata")
	delete(got, "metadata")
	return cmp.Diff(sent, got)
}

// TestGeneratedIsAccepted says the same of generated rules.
func TestGeneratedIsAccepted(t *testing.T) {
	t.Parallel()
	accepted := 0
	for round := 0; round < 5 && accepted < 10; round++ { // By chance, few of a hundred may be right.
		rapid.Check(t, func(rt *rapid.T) {
			set := generate.RuleSet([]string{"1", "true", `"text"`}).Draw(rt, "rules")
			text := generate.YAML(rt, set)
			if !right(text) {
				return
			}
			accepted++
			sent := decoded(t, []byte(text))
			inCluster(sent)
			if problem := unchanged(t, sent); problem != "" {
				rt.Errorf("%s\n%s", problem, text)
			}
		})
	}
	if accepted < 10 {
		t.Errorf("only %d of the generated sets were right", accepted)
	}
}

// everything lists the texts that may be rules, by the file that they are in.
func everything(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		cut := cutting(filepath.Ext(path))
		if cut == nil {
			return nil
		}
		data, err := os.ReadFile(path)
		out[path] = cut(string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// cutting says how to cut the texts out of a file, nil for one that has none.
func cutting(extension string) func(string) []string {
	switch extension {
	case ".yaml":
		return func(text string) []string { return []string{text} }
	case ".md":
		return func(text string) []string { return matches(blockPattern, text) }
	case ".go":
		return func(text string) []string { return matches(literalPattern, text) }
	case ".txtar":
		return func(text string) []string {
			var out []string
			for _, file := range archive.Parse([]byte(text)).Files {
				out = append(out, string(file.Data))
			}
			return out
		}
	default:
		return nil
	}
}

var (
	blockPattern   = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
	literalPattern = regexp.MustCompile("(?s)`([^`]*)`")
)

func matches(pattern *regexp.Regexp, text string) []string {
	var out []string
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		out = append(out, match[1])
	}
	return out
}

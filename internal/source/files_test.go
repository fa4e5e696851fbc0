package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// ruleSet is a good document with one rule for each name.
func ruleSet(set string, names ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: %s}
spec:
  resources:
    pods: {version: v1, resource: pods}
  rules:
`, set)
	for _, name := range names {
		fmt.Fprintf(&b, "  - name: %q\n    watch: pods\n    actions: [{event: {reason: Seen, message: hello}}]\n", name)
	}
	return b.String()
}

const ruleTest = "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleTest\nmetadata: {name: t}\nspec: {}\n"

// write fills a directory; a name that ends in / is a folder.
func write(t *testing.T, directory string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(directory, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func ruleNames(set *rules.Set) []string {
	var out []string
	if set == nil {
		return nil
	}
	for _, rule := range set.Rules() {
		out = append(out, rule.ID.String())
	}
	return out
}

// in puts paths into a directory, except standard input and "".
func in(directory string, paths []string) []string {
	var out []string
	for _, path := range paths {
		if path != Stdin && path != "" {
			path = filepath.Join(directory, path)
		}
		out = append(out, path)
	}
	return out
}

func TestLoad(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		files  map[string]string
		stdin  string
		paths  []string
		want   []string
	}{
		"a file": {
			reason: "The plain case.",
			files:  map[string]string{"r.txt": ruleSet("a", "x", "y")},
			paths:  []string{"r.txt"},
			want:   []string{"a/x", "a/y"},
		},
		"a directory": {
			reason: "All three extensions, no folders, nothing hidden; a test or a comment beside the rules does no harm.",
			files: map[string]string{
				"a.yaml": ruleSet("a", "x"), "b.yml": ruleSet("b", "x"),
				"c.json":    `{"apiVersion": "dyncontroller.dev/v1alpha1", "kind": "ClusterRuleSet", "metadata": {"name": "c"}, "spec": {"resources": {"pods": {"version": "v1", "resource": "pods"}}, "rules": [{"name": "x", "watch": "pods", "actions": [{"event": {"reason": "Seen", "message": "hello"}}]}]}}`,
				"test.yaml": ruleTest, "empty.yaml": "# nothing\n", "README.md": "# rules", ".#a.yaml": "{", ".hidden.yml": "{",
				"sub/": "", "sub/d.yaml": ruleSet("d", "x"), "folder.yaml/": "",
			},
			paths: []string{"."},
			want:  []string{"a/x", "b/x", "c/x"},
		},
		"several paths": {
			reason: "What is named twice counts once.",
			files:  map[string]string{"one/": "", "one/a.yaml": ruleSet("a", "x"), "b.yaml": ruleSet("b", "x")},
			paths:  []string{"b.yaml", "./one", "one/a.yaml", "one/../b.yaml"},
			want:   []string{"a/x", "b/x"},
		},
		"standard input": {
			reason: "It is read besides files.",
			files:  map[string]string{"b.yaml": ruleSet("b", "x")},
			stdin:  ruleSet("a", "x"),
			paths:  []string{"b.yaml", "-"},
			want:   []string{"a/x", "b/x"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write(t, directory, map[string]string{"sub/": "", "one/": ""})
			write(t, directory, tc.files)
			set, err := New(in(directory, tc.paths), strings.NewReader(tc.stdin), rules.Options{}).Load()
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, ruleNames(set)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLoadMistakes(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(ruleSet("bad", "x"), "watch: pods", "watch: nods", 1)
	cases := map[string]struct {
		reason   string
		files    map[string]string
		stdin    string
		paths    []string
		unusable []string // parts of each, in order
		mistakes []string
	}{
		"missing":            {reason: "A typo in a path.", paths: []string{"nowhere.yaml"}, unusable: []string{"nowhere.yaml"}},
		"no name":            {reason: "An unset variable.", paths: []string{""}, unusable: []string{`a path is ""`}},
		"empty file":         {reason: "A truncated file removes nothing.", files: map[string]string{"a.yaml": ruleSet("a", "x"), "b.yaml": ""}, paths: []string{"a.yaml", "b.yaml"}, unusable: []string{"b.yaml holds no RuleSet"}},
		"only a test":        {reason: "A RuleTest is no rule.", files: map[string]string{"t.yaml": ruleTest}, paths: []string{"t.yaml"}, unusable: []string{"t.yaml holds no RuleSet"}},
		"empty directory":    {reason: "A mount that failed.", files: map[string]string{"d/": ""}, paths: []string{"d"}, unusable: []string{"no *.yaml, *.yml or *.json file in"}},
		"directory of tests": {reason: "Files, but no rules.", files: map[string]string{"d/": "", "d/t.yaml": ruleTest}, paths: []string{"d"}, unusable: []string{"d holds no RuleSet"}},
		"empty stdin":        {reason: "The other end of the pipe failed.", paths: []string{"-"}, unusable: []string{"standard input holds no RuleSet"}},
		"a mistake":          {reason: "It is located.", files: map[string]string{"a.yaml": bad}, paths: []string{"a.yaml"}, mistakes: []string{`a.yaml:9:12: spec.rules[0].watch: `}},
		"on stdin":           {reason: "Standard input has a name too.", stdin: bad, paths: []string{"-"}, mistakes: []string{"<stdin>:9:12"}},
		"all at once": {
			reason:   "What cannot be read does not hide the mistakes in the rest.",
			files:    map[string]string{"a.yaml": bad, "b.yaml": "kind: RuleSte\n"},
			paths:    []string{"x.yaml", "a.yaml", "b.yaml", "y.yaml"},
			unusable: []string{"x.yaml", "y.yaml"},
			mistakes: []string{"a.yaml:9:12", "b.yaml:1:7"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write(t, directory, map[string]string{"d/": ""})
			write(t, directory, tc.files)
			set, err := New(in(directory, tc.paths), strings.NewReader(tc.stdin), rules.Options{}).Load()
			var failed *Error
			if set != nil || !errors.As(err, &failed) {
				t.Fatalf("%s\nset %v, error %v", tc.reason, ruleNames(set), err)
			}
			var mistakes []error
			for _, mistake := range failed.Mistakes {
				mistakes = append(mistakes, mistake)
			}
			for what, pair := range map[string]struct {
				want []string
				got  []error
			}{"unusable": {tc.unusable, failed.Unusable}, "mistakes": {tc.mistakes, mistakes}} {
				if len(pair.want) != len(pair.got) {
					t.Errorf("%s\n%s: want %d, got %v", tc.reason, what, len(pair.want), pair.got)
					continue
				}
				for i, part := range pair.want {
					if !strings.Contains(pair.got[i].Error(), part) || !strings.Contains(err.Error(), part) {
						t.Errorf("%s\n%s: want %q in %q", tc.reason, what, part, pair.got[i])
					}
				}
			}
		})
	}
}

func TestBrokenStdin(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	_, err := New([]string{"-"}, iotest.ErrReader(broken), rules.Options{}).Load()
	if !errors.Is(err, broken) {
		t.Errorf("the cause is kept, got %v", err)
	}
}

func TestReadOnceOnly(t *testing.T) {
	t.Parallel()
	files := New([]string{"-"}, strings.NewReader(ruleSet("a", "x")), rules.Options{})
	for range 2 {
		set, err := files.Load()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a/x"}, ruleNames(set)); diff != "" {
			t.Errorf("standard input is remembered\n-want +got:\n%s", diff)
		}
	}
}

func TestFileWithoutEnd(t *testing.T) {
	t.Parallel()
	_, err := New([]string{"/dev/zero"}, nil, rules.Options{}).Load()
	if err == nil {
		t.Error("a file without end is refused")
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, directory, map[string]string{"o.yaml": "kind: Pod\n"})
	path := filepath.Join(directory, "o.yaml")
	for name, want := range map[string]string{path: "kind: Pod\n", Stdin: "kind: Node\n"} {
		file, err := ReadFile(name, strings.NewReader("kind: Node\n"))
		if err != nil || file.Name != name || string(file.Data) != want {
			t.Errorf("%s: want %q, got %q as %q, %v", name, want, file.Data, file.Name, err)
		}
	}
	for _, name := range []string{"", directory, path + "x"} {
		if _, err := ReadFile(name, nil); err == nil || !strings.Contains(err.Error(), "reading "+name) {
			t.Errorf("%q cannot be read, and the error says so, got %v", name, err)
		}
	}
}

func TestDefaultNamespace(t *testing.T) {
	t.Parallel()
	text := strings.Replace(ruleSet("a", "x"), "ClusterRuleSet", "RuleSet", 1)
	set, err := New([]string{"-"}, strings.NewReader(text), rules.Options{DefaultNamespace: "shop"}).Load()
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Rules()[0].ID.Namespace; got != "shop" {
		t.Errorf("a RuleSet without a namespace takes the default, got %q", got)
	}
}

// TestSets reads what somebody is still writing.
func TestSets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"right.yaml":      ruleSet("right", "one"),
		"unfinished.yaml": strings.Replace(ruleSet("unfinished", "two"), "watch:", "wach:", 1),
		"empty.yaml":      "# nothing\n",
	})
	right, unfinished, empty := filepath.Join(dir, "right.yaml"), filepath.Join(dir, "unfinished.yaml"), filepath.Join(dir, "empty.yaml")
	tests := map[string]struct {
		reason             string
		paths              []string
		sets               []string
		unusable, mistakes int
	}{
		"right":      {"What is right is there.", []string{right}, []string{"right"}, 0, 0},
		"unfinished": {"What is wrong is there, too, and so are its mistakes.", []string{right, unfinished}, []string{"right", "unfinished"}, 0, 1},
		"twice":      {"A file of a directory is read once.", []string{dir, right}, []string{"right", "unfinished"}, 0, 1},
		"empty":      {"A file of no rules is told of, beside the others.", []string{empty, right}, []string{"right"}, 1, 0},
		"nowhere":    {"So is one that is not there.", []string{filepath.Join(dir, "nowhere.yaml")}, nil, 1, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sets, err := New(tc.paths, nil, rules.Options{DefaultNamespace: "default"}).Sets()
			failed := &Error{}
			if err != nil && !errors.As(err, &failed) {
				t.Fatal(err)
			}
			var names []string
			for _, set := range sets {
				names = append(names, set.Name)
			}
			if diff := cmp.Diff(tc.sets, names); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(failed.Unusable) != tc.unusable || len(failed.Mistakes) != tc.mistakes {
				t.Errorf("%s have %d unusable and %d mistakes:\n%v", tc.reason, len(failed.Unusable), len(failed.Mistakes), err)
			}
		})
	}
}

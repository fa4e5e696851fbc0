// Package docs_test runs the examples in the documents.
//
// A yaml block is read as what it is: rules must load, by the types of built-in
// kinds and of TidbClusters too, tests must parse, settings must be valid. If its first line is "# FILE.yaml", commands on the
// page can use it. A block that is "yaml wrong" must be refused. In a console
// block, "$ dyncontroller validate|test|eval|explain|init|rbac|version ..." is run, and what
// follows is what it must print; a line "..." stands for any lines, and
// "; echo $?" shows an exit code that is not 0. A command whose output is shown as a
// whole may fail without. "$ rm FILE" is done. Files are there once the page has come to them; those of the cookbook are in
// examples/rules/cookbook, and TestReference writes them into the page. In a table, an expression beside a value must have it.
package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/internal/cli"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

func TestYAML(t *testing.T) {
	known := schemas(t)
	for _, p := range pages(t) {
		t.Run(p.path, func(t *testing.T) {
			p.workspace(t)
			for _, b := range p.blocks {
				if language, rest, _ := strings.Cut(b.info, " "); language == "yaml" {
					err := b.read(known)
					if wrong := rest == "wrong"; wrong != (err != nil) {
						t.Errorf("line %d: wrong is %t, got error: %v", b.line, wrong, err)
					}
				}
			}
		})
	}
}

// read reads a yaml block as what it is.
func (b block) read(known *schema.Catalog) error {
	text := b.text
	if strings.HasPrefix(text, "- ") {
		text = withHead(text)
	}
	file := document.File{Name: b.name(), Data: []byte(text)}
	documents, errs := document.Parse(file)
	if len(errs) > 0 {
		return errs
	}
	switch kind := documents[0].Get("kind"); {
	case kind == nil && documents[0].Get("decisions") != nil:
		return nil // A golden, which a command on the page compares.
	case kind == nil:
		return settings(b.name())
	case kind.Text() == spec.KindRuleTest:
		_, errs = simulate.Load(b.name(), disk{})
	case documents[0].Get("apiVersion").Text() == spec.APIVersion:
		_, errs = rules.Load([]document.File{file}, rules.Options{DefaultNamespace: "default", Schemas: known})
	default:
		_, errs = simulate.ParseObjects(file)
	}
	return errs.Err()
}

// schemas are the built-in types, and the real TidbClusters, which most examples are about.
func schemas(t *testing.T) *schema.Catalog {
	t.Helper()
	dir, err := controlplane.ModuleDir(t.Context(), controlplane.TidbOperator)
	if err != nil {
		t.Fatal(err)
	}
	const name = "pingcap.com_tidbclusters.yaml"
	data, err := os.ReadFile(filepath.Join(dir, "manifests", "crd", "v1", name))
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := crd.Read(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return schema.NewCatalog(crd.NewSource(definitions), builtin.Source())
}

// withHead makes a rule set of a list of actions.
func withHead(actions string) string {
	const head = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: example}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
  rules:
  - name: example
    watch: tidbclusters
    actions:
`
	return head + "    " + strings.TrimSpace(strings.ReplaceAll(actions, "\n", "\n    ")) + "\n"
}

func settings(file string) error {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse([]string{"--config", file, "--rules", "rules"}); err != nil {
		return err
	}
	_, err := config.Load(flags, nil)
	return err
}

// disk implements [simulate.Files] for reading.
type disk struct{}

func (disk) ReadFile(path string) ([]byte, error)       { return os.ReadFile(path) }
func (disk) ReadDir(path string) ([]os.DirEntry, error) { return os.ReadDir(path) }
func (disk) WriteFile(string, []byte) error             { return os.ErrPermission }

func TestCommands(t *testing.T) {
	ran := 0
	for _, p := range pages(t) {
		t.Run(p.path, func(t *testing.T) {
			p.enter(t)
			for _, b := range p.blocks {
				b.write(t)
				if b.info != "console" {
					continue
				}
				for _, c := range commands(b.text) {
					remove(t, c.line)
					if !offline.MatchString(c.line) {
						continue
					}
					ran++
					if got := run(t, c); !like(c.output, got) {
						t.Errorf("line %d: %s (-want +got):\n%s", b.line, c.line, cmp.Diff(c.output, got))
					}
				}
			}
		})
	}
	if ran == 0 {
		t.Error("no document shows a command")
	}
}

var offline = regexp.MustCompile(`^dyncontroller (validate|test|eval|explain ([a-z-]+ )?--rules|init [a-z-]+ --crds|rbac|version)\b`)

// command is a line that a user types, and what is printed then.
type command struct{ line, output string }

func commands(text string) []command {
	var out []command
	for line := range strings.Lines(text) {
		if typed, ok := strings.CutPrefix(line, "$ "); ok {
			out = append(out, command{line: strings.TrimSpace(typed)})
		} else if len(out) > 0 {
			out[len(out)-1].output += line
		}
	}
	return out
}

// run types a command and returns what is printed.
func run(t *testing.T, c command) string {
	t.Helper()
	typed, showsCode := strings.CutSuffix(c.line, "; echo $?")
	var out bytes.Buffer
	exit := cli.Run(t.Context(), cli.Process{
		Args: split(typed)[1:], Version: "v0.0.0", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
	})
	if showsCode {
		return out.String() + fmt.Sprintln(exit)
	}
	if exit != 0 && (c.output == "" || strings.Contains(c.output, "...\n")) {
		t.Errorf("%s: exit code %d", c.line, exit)
	}
	return out.String()
}

// remove does what rm does.
func remove(t *testing.T, line string) {
	t.Helper()
	if files, is := strings.CutPrefix(line, "rm "); is {
		for file := range strings.FieldsSeq(files) {
			if err := os.Remove(file); err != nil {
				t.Error(err)
			}
		}
	}
}

// split takes single quotes as a shell does.
func split(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// like compares output with what a document shows of it. A document that shows
// nothing says nothing.
func like(shown, got string) bool {
	if shown == "" {
		return true
	}
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		if line == "...\n" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		pattern.WriteString(regexp.QuoteMeta(line))
	}
	return regexp.MustCompile("^" + pattern.String() + "$").MatchString(got)
}

func TestExpressions(t *testing.T) {
	ran := 0
	for _, p := range pages(t) {
		t.Run(p.path, func(t *testing.T) {
			p.workspace(t)
			for _, table := range p.tables {
				at := slices.IndexFunc(table.rows[0], func(cell string) bool { return cell == "expression" || cell == "for example" })
				if at < 0 || !slices.Equal(table.rows[0][at+1:], []string{"value"}) {
					continue
				}
				for _, row := range table.rows[1:] {
					ran++
					checkExpression(t, code(row[at]), row[at+1])
				}
			}
		})
	}
	if ran == 0 {
		t.Error("no document shows an expression")
	}
}

// checkExpression evaluates on the object of the page, at the instant at which the
// examples of the reference are.
func checkExpression(t *testing.T, text, want string) {
	t.Helper()
	var out, failed bytes.Buffer
	exit := cli.Run(t.Context(), cli.Process{
		Args:   []string{"eval", "--expression", text, "--object", "object.yaml", "--now", "2026-01-01T00:00:00Z"},
		Stdout: &out, Stderr: &failed,
	})
	if message, ok := strings.CutPrefix(want, "error: "); ok {
		if exit != 1 || !strings.Contains(failed.String(), message) {
			t.Errorf("%s: want the error %q, got exit code %d, %s%s", text, message, exit, &out, &failed)
		}
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, out.Bytes()); err != nil || compact.String() != code(want) {
		t.Errorf("%s: want %s, got %s%s", text, want, &compact, &failed)
	}
}

// TestExampleRules runs the tests that lie beside the example rules.
func TestExampleRules(t *testing.T) {
	t.Chdir(root)
	if got := run(t, command{line: "dyncontroller test examples/rules"}); t.Failed() {
		t.Log(got)
	}
}

func TestLinks(t *testing.T) {
	all := pages(t)
	anchors := map[string]map[string]bool{}
	for _, p := range all {
		anchors[p.path] = p.anchors()
	}
	for _, p := range all {
		for _, link := range p.links() {
			if strings.Contains(link, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := p.path
			if file != "" {
				target = path.Join(path.Dir(p.path), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: the link %q leads nowhere: %v", p.path, link, err)
			} else if anchor != "" && !anchors[target][anchor] {
				t.Errorf("%s: the link %q leads to no heading", p.path, link)
			}
		}
	}
}

// TestExampleRulesRun says that run carries out all of the example rules, and that they
// are right by the types of what they are about.
func TestExampleRulesRun(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(root, "examples", "rules", "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	known, loaded := schemas(t), 0
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file := document.File{Name: path, Data: data}
		set, errs := rules.Load([]document.File{file}, rules.Options{DefaultNamespace: "default", Schemas: known})
		if wrong := errs.Of(document.Mistake); len(wrong) > 0 {
			t.Errorf("%s", wrong.Render())
		}
		if set != nil && len(set.Rules()) > 0 {
			loaded++
		}
	}
	if loaded < 3 {
		t.Errorf("there are rules in %d files", loaded)
	}
}

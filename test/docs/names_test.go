package docs_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
)

var update = flag.Bool("update", false, "write docs/reference and the YAML of the cookbook")

// TestReference holds the generated references: of the functions of the language, and of
// the metrics.
func TestReference(t *testing.T) {
	for file, want := range map[string]string{"functions.md": functionsReference(), "metrics.md": metricsReference()} {
		t.Run(file, func(t *testing.T) { checkReference(t, filepath.Join(root, "docs", "reference", file), want) })
	}
}

func checkReference(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if os.Getenv("CI") == "true" {
			t.Fatal("-update is not for CI")
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run make generate (-want +got):\n%s", diff)
	}
}

func functionsReference() string {
	var b strings.Builder
	b.WriteString(`# Functions

Generated from the table in ` + "`pkg/rules/expression/function`" + ` by ` + "`make generate`" + `.
[The rule language](../guide/rules.md#functions) groups them by family. A parameter in brackets may be left out, one with
dots repeated. The examples are evaluated at 2026-01-01T00:00:00Z.

| call | meaning | example | result |
|---|---|---|---|
`)
	for _, f := range function.All() {
		row := "|"
		for _, cell := range []string{"`" + f.Signature() + "`", f.Doc, "`" + f.Example.Expression + "`", "`" + f.Example.Want + "`"} {
			row += " " + strings.ReplaceAll(cell, "|", `\|`) + " |"
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// TestFamilies says that the guide knows the functions that there are.
func TestFamilies(t *testing.T) {
	var want, got []string
	for _, f := range function.All() {
		want = append(want, f.Name)
	}
	for _, table := range guide(t, "rules.md").tables {
		if table.rows[0][0] != "family" {
			continue
		}
		for _, row := range table.rows[1:] {
			for name := range strings.SplitSeq(row[1], ", ") {
				got = append(got, code(name))
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the functions of docs/guide/rules.md (-want +got):\n%s", diff)
	}
}

// TestFlags says that the guide knows the settings that there are.
func TestFlags(t *testing.T) {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	config.AddFlags(flags)
	var want []string
	flags.VisitAll(func(f *pflag.Flag) { want = append(want, "--"+f.Name) })
	checkColumn(t, "running.md", "flag", want)
}

// TestReasons says that the guide knows the reasons of conditions.
func TestReasons(t *testing.T) {
	checkColumn(t, "clusters.md", "reason", []string{
		setstatus.Running, setstatus.Refused, setstatus.NotAllowed, setstatus.NoServiceAccount, setstatus.Degraded,
		setstatus.Unreachable, setstatus.NotRecorded, setstatus.Syncing, setstatus.Paused, setstatus.CleaningUp, setstatus.OverLimit,
	})
}

// TestSensitiveKinds says that the guide knows what --allow-sensitive takes.
func TestSensitiveKinds(t *testing.T) { checkColumn(t, "clusters.md", "name", rules.SensitiveKinds()) }

// checkColumn compares names with the first column of a table in a page of the guide.
func checkColumn(t *testing.T, page, header string, want []string) {
	t.Helper()
	var got []string
	for _, table := range guide(t, page).tables {
		if table.rows[0][0] != header {
			continue
		}
		for _, row := range table.rows[1:] {
			name, _, _ := strings.Cut(row[0], "{")
			name, _, _ = strings.Cut(name, ",")
			got = append(got, code(name))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the column %q of docs/guide/%s (-want +got):\n%s", header, page, diff)
	}
}

func guide(t *testing.T, name string) *page {
	t.Helper()
	for _, p := range pages(t) {
		if p.path == "docs/guide/"+name {
			return p
		}
	}
	t.Fatalf("there is no docs/guide/%s", name)
	return nil
}

// TestMakeTargets says that what the documents make can be made.
func TestMakeTargets(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages(t) {
		for _, match := range regexp.MustCompile("`make ([a-z0-9-]+)").FindAllStringSubmatch(p.prose, -1) {
			if !bytes.Contains(makefile, []byte("\n"+match[1]+":")) {
				t.Errorf("%s: there is no make %s", p.path, match[1])
			}
		}
	}
}

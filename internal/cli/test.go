package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/junit"
)

const formatJUnit = "junit"

// tests is what `test` was asked for.
type tests struct {
	Process

	paths, crds                      []string
	output                           format
	only                             string
	update, verbose, watch, coverage bool
}

func newTest(p Process) *cobra.Command {
	all := []string{formatText, formatJSON, formatJUnit}
	t := &tests{Process: p, output: format{text: formatText, choices: all}}
	var crds *[]string
	command := &cobra.Command{
		Use:   "test PATH...",
		Short: "Run the tests of rules, without a cluster",
		Long: `Run the cases of RuleTest documents: have the rules act on a simulated cluster
with the objects of each case, until nothing changes any more and again after
each of its steps, and compare what they decide, write and record, and what the
objects look like then, with its golden file. Below the differences, the first rules
that did something else are shown as explain does, as they were evaluated then.
A PATH is a file, or a directory, which is searched with all its folders.

A case without a golden is an error until --update has written one: read it
before you keep it. With CI=true in the environment, --update is refused.

The rules are checked as by validate, with the CRDs of --crds; what is doubtful
about them is on the standard error.

With --coverage, a rule that no case exercises is an error too. It tells which
conditions of when the cases have never seen true, or never false.

With --watch, the tests run again whenever a file changes that they have read,
until Ctrl-C.

Exit code: 0 if every case passed, 1 if not, 2 if there is nothing to run. With
--watch, it is that of the last run.`,
		Example: `  dyncontroller test rules/
  dyncontroller test rules/ --run pd-quorum
  dyncontroller test rules/ --crds crds/
  dyncontroller test rules/pd_test.yaml --update
  dyncontroller test rules/ --watch
  dyncontroller test rules/ --coverage -o junit > report.xml`,
		Args: paths,
		RunE: func(command *cobra.Command, args []string) error {
			t.paths, t.crds = args, *crds
			if err := t.check(); err != nil {
				return err
			}
			p.silence()
			if t.watch {
				return t.again(command.Context())
			}
			return t.run(command.Context(), disk{})
		},
	}
	crds = t.addFlags(command.Flags())
	completeFlag(command, "output", t.output.choices)
	return command
}

// addFlags returns where the values of --crds will be.
func (t *tests) addFlags(flags *pflag.FlagSet) (crds *[]string) {
	flags.BoolVar(&t.update, "update", false, "write the goldens instead of comparing with them")
	crds = addCRDsFlag(flags)
	flags.StringVar(&t.only, "run", "", "run only the cases whose test/case matches `REGEXP`")
	flags.BoolVar(&t.watch, "watch", false, "run again whenever a file changes that was read")
	flags.BoolVar(&t.coverage, "coverage", false, "tell which rules and conditions the cases exercise; a rule that none does is an error")
	flags.BoolVarP(&t.verbose, "verbose", "v", false, "show skipped cases, and whole diffs")
	flags.VarP(&t.output, "output", "o", "how the results are shown: text, json or junit")
	return crds
}

// check refuses what cannot be done together.
func (t *tests) check() error {
	switch {
	case slices.Contains(t.paths, source.Stdin):
		return errors.New("a test names files beside it, so it is not read from standard input, -")
	case t.coverage && t.only != "":
		return errors.New("--coverage is of all cases; leave --run out")
	case t.watch && t.output.text == formatJUnit:
		return errors.New("--watch goes on and on, and a JUnit report is of one run; leave one of them out")
	case t.watch && slices.Contains(t.crds, source.Stdin):
		return errors.New("--watch reads files again, and standard input, -, can be read only once")
	case t.update && t.inCI():
		return failure{exitUsage, simulate.ErrUpdateInCI}
	}
	if _, err := regexp.Compile(t.only); err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	return nil
}

// garbage is by how many per cent memory grows before it is collected. Thousands of small
// clusters come and go: to look after them less often saves a quarter of the time.
const garbage = 400

// run runs all cases once.
func (t *tests) run(ctx context.Context, files simulate.Files) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	options := simulate.Options{Files: files, Update: t.update, CI: t.inCI()}
	if t.only != "" {
		options.Only = regexp.MustCompile(t.only) // Compiled once before, in check.
	}
	if t.coverage {
		options.Coverage = new(coverage.Recorder)
	}
	var err error
	if options.Definitions, err = t.readCRDs(t.crds, nil); err != nil {
		return err
	}
	report, err := simulate.Run(ctx, t.paths, options)
	if err != nil {
		return failure{exitUsage, err}
	}
	io.WriteString(t.Stderr, report.Warnings.Render())
	if err := t.show(report); err != nil {
		return internal(err)
	}
	if !report.Passed() {
		return errFinding
	}
	return nil
}

func (t *tests) show(report simulate.Report) error {
	switch t.output.text {
	case formatJSON:
		return writeJSON(t.Stdout, report)
	case formatJUnit:
		return junit.Write(t.Stdout, report)
	default:
		return report.WriteText(t.Stdout, t.verbose)
	}
}

// inCI goes by the variable that every CI system sets.
func (p Process) inCI() bool {
	for _, entry := range p.Env {
		if name, value, _ := strings.Cut(entry, "="); name == "CI" {
			return value != "" && value != "0" && !strings.EqualFold(value, "false")
		}
	}
	return false
}

// disk implements [simulate.Files].
type disk struct{}

// ReadFile implements [simulate.Files].
func (disk) ReadFile(path string) ([]byte, error) {
	file, err := source.ReadFile(path, strings.NewReader("")) // Standard input is no file.
	return file.Data, err
}

// ReadDir implements [simulate.Files].
func (disk) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// WriteFile implements [simulate.Files].
func (disk) WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

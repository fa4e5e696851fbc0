package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

func newTest(p Process) *cobra.Command {
	output := format{text: formatText, choices: []string{formatText, formatJSON}, not: []string{"junit"}}
	var update, verbose bool
	var only string
	var crds *[]string
	command := &cobra.Command{
		Use:   "test PATH...",
		Short: "Run the tests of rules, without a cluster",
		Long: `Run the cases of RuleTest documents: evaluate the rules on the objects of each
case, and compare what they decide, write and record with its golden file.
A PATH is a file, or a directory, which is searched with all its folders.

A case without a golden is an error until --update has written one: read it
before you keep it. With CI=true in the environment, --update is refused.

The rules are checked as by validate, with the CRDs of --crds; what is doubtful
about them is on the standard error.

Exit code: 0 if every case passed, 1 if not, 2 if there is nothing to run.`,
		Example: `  dyncontroller test rules/
  dyncontroller test rules/ --run pd-quorum
  dyncontroller test rules/ --crds crds/
  dyncontroller test rules/pd_test.yaml --update`,
		Args: paths,
		RunE: func(_ *cobra.Command, args []string) error {
			options := simulate.Options{Files: disk{}, Update: update, CI: p.inCI()}
			if only != "" {
				var err error
				if options.Only, err = regexp.Compile(only); err != nil {
					return fmt.Errorf("--run: %w", err)
				}
			}
			given, err := p.definitions(*crds, nil)
			if err != nil {
				return err
			}
			options.Schemas = catalog(given)
			return p.test(args, options, output.text, verbose)
		},
	}
	command.Flags().BoolVar(&update, "update", false, "write the goldens instead of comparing with them")
	crds = addCRDsFlag(command.Flags())
	command.Flags().StringVar(&only, "run", "", "run only the cases whose test/case matches `REGEXP`")
	command.Flags().BoolVarP(&verbose, "verbose", "v", false, "show skipped cases, and whole diffs")
	command.Flags().VarP(&output, "output", "o", "how the results are shown: text or json")
	completeFlag(command, "output", output.choices)
	return command
}

func (p Process) test(paths []string, options simulate.Options, format string, verbose bool) error {
	report, err := simulate.Run(paths, options)
	if err != nil {
		return failure{exitUsage, err}
	}
	io.WriteString(p.Stderr, report.Warnings.Render())
	if format == formatJSON {
		err = writeJSON(p.Stdout, report)
	} else {
		err = report.WriteText(p.Stdout, verbose)
	}
	switch {
	case err != nil:
		return internal(err)
	case !report.Passed():
		return errFinding
	default:
		return nil
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
	file, err := source.ReadFile(path, nil)
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

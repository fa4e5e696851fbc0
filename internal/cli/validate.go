package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// offlineNamespace is that of a RuleSet that names none, where there is no
// kubeconfig to ask.
const offlineNamespace = "default"

func newValidate(p Process) *cobra.Command {
	output := format{text: formatText, not: []string{"sarif", "github"}}
	command := &cobra.Command{
		Use:   "validate PATH...",
		Short: "Check rules, and show each mistake where it is",
		Long: `Check rules without a cluster. Every mistake of every file is shown with its
place, what is wrong, and what to write instead; of a file that is not YAML,
the first. A PATH is a file, a directory (its *.yaml, *.yml and *.json) or -
for the standard input.

Exit code: 0 if the rules are right, 1 if there is a mistake, 2 if a PATH
cannot be read or holds no rules.`,
		Example: `  dyncontroller validate rules/
  dyncontroller validate a.yaml b.yaml -o json
  helm template my-rules | dyncontroller validate -`,
		Args: paths,
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := source.New(args, p.Stdin, rules.Options{DefaultNamespace: offlineNamespace}).Load()
			var failed *source.Error
			if err != nil && !errors.As(err, &failed) {
				return internal(err)
			}
			if failed == nil {
				failed = &source.Error{}
			}
			if err := showValidation(p.Stdout, output.text, set, failed.Mistakes); err != nil {
				return err
			}
			return validationError(failed)
		},
	}
	command.Flags().VarP(&output, "output", "o", "how the findings are shown: text or json")
	completeFlag(command, "output", output.choices())
	return command
}

// validationError leaves to be reported what has not been shown.
func validationError(failed *source.Error) error {
	switch {
	case len(failed.Unusable) > 0:
		return &source.Error{Unusable: failed.Unusable}
	case len(failed.Mistakes) > 0:
		return errFinding
	default:
		return nil
	}
}

// validation is the result of validate in JSON.
type validation struct {
	Valid    bool      `json:"valid"`
	Rules    []string  `json:"rules"`
	Mistakes []mistake `json:"mistakes"`
}

// mistake has its place only where it has one: Line and Column count from 1,
// Length and Column in characters.
type mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Length  int    `json:"length,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func showValidation(out io.Writer, format string, set *rules.Set, mistakes document.Errors) error {
	var all []*rules.Rule
	if set != nil {
		all = set.Rules()
	}
	if format == formatJSON {
		result := validation{Valid: set != nil, Rules: []string{}, Mistakes: []mistake{}}
		for _, rule := range all {
			result.Rules = append(result.Rules, rule.ID.String())
		}
		for _, m := range mistakes {
			result.Mistakes = append(result.Mistakes, mistake{m.File, m.Line, m.Column, m.Length, m.Path, m.Message, m.Hint})
		}
		return writeJSON(out, result)
	}
	if len(mistakes) > 0 {
		fmt.Fprintf(out, "%s\n%s\n", mistakes.Render(), count(len(mistakes), "mistake"))
	}
	if set != nil {
		fmt.Fprintf(out, "valid: %s\n", count(len(all), "rule"))
	}
	return nil
}

// paths wants at least one.
func paths(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a PATH: a file, a directory or -", command.Name())
	}
	return nil
}

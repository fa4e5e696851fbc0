package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// offlineNamespace is that of a RuleSet that names none, where there is no
// kubeconfig to ask.
const offlineNamespace = "default"

func newValidate(p Process) *cobra.Command {
	output := format{text: formatText, not: []string{"sarif", "github"}}
	var params *[]string
	command := &cobra.Command{
		Use:   "validate PATH...",
		Short: "Check rules, and show each mistake where it is",
		Long: `Check rules without a cluster. Every mistake of every file is shown with its
place, what is wrong, and what to write instead; of a file that is not YAML,
the first. A PATH is a file, a directory (its *.yaml, *.yml and *.json) or -
for the standard input. What is right, but refused by run, test and eval because
it is not supported yet, is noted on the standard error.

Exit code: 0 if the rules are right, 1 if there is a mistake, 2 if a PATH
cannot be read or holds no rules.`,
		Example: `  dyncontroller validate rules/
  dyncontroller validate a.yaml b.yaml -o json
  dyncontroller validate rules/ --param tidb-guardrails.minStores=5
  helm template my-rules | dyncontroller validate -`,
		Args: paths,
		RunE: func(_ *cobra.Command, args []string) error {
			options, err := offline(*params)
			if err != nil {
				return err
			}
			set, err := source.New(args, p.Stdin, options).Load()
			var failed *source.Error
			if err != nil && !errors.As(err, &failed) {
				return internal(err)
			}
			if failed == nil {
				failed = &source.Error{}
			}
			if err := p.showValidation(output.text, set, failed.Mistakes); err != nil {
				return err
			}
			return validationError(failed)
		},
	}
	params = config.AddParamFlag(command.Flags())
	command.Flags().VarP(&output, "output", "o", "how the findings are shown: text or json")
	completeFlag(command, "output", output.choices())
	return command
}

// offline are the options of a command that has no cluster.
func offline(params []string) (rules.Options, error) {
	parsed, err := config.ParseParams(params)
	if err != nil {
		return rules.Options{}, fmt.Errorf("--param: %w", err)
	}
	return rules.Options{DefaultNamespace: offlineNamespace, Params: parsed}, nil
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
	// Notes are what is right but cannot be carried out yet.
	Notes []mistake `json:"notes,omitempty"`
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

func (p Process) showValidation(format string, set *rules.Set, mistakes document.Errors) error {
	var all []*rules.Rule
	var notes document.Errors
	if set != nil {
		all, notes = set.Rules(), set.NotCarried(engine.Carries)
	}
	if format == formatJSON {
		result := validation{Valid: set != nil, Rules: []string{}, Mistakes: inJSON(mistakes), Notes: inJSON(notes)}
		for _, rule := range all {
			result.Rules = append(result.Rules, rule.ID.String())
		}
		return writeJSON(p.Stdout, result)
	}
	if len(mistakes) > 0 {
		fmt.Fprintf(p.Stdout, "%s\n%s\n", mistakes.Render(), count(len(mistakes), "mistake"))
	}
	if set != nil {
		fmt.Fprintf(p.Stdout, "valid: %s\n", count(len(all), "rule"))
	}
	if len(notes) > 0 {
		fmt.Fprintf(p.Stderr, "%s\n%s: run, test and eval refuse this\n", notes.Render(), count(len(notes), "note"))
	}
	return nil
}

func inJSON(all document.Errors) []mistake {
	out := []mistake{}
	for _, m := range all {
		out = append(out, mistake{m.File, m.Line, m.Column, m.Length, m.Path, m.Message, m.Hint})
	}
	return out
}

// paths wants at least one.
func paths(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a PATH: a file, a directory or -", command.Name())
	}
	return nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// evaluation is what eval was asked for.
type evaluation struct {
	Process
	rules      []string
	params     *[]string
	crds       *[]string
	expression string
	object     string
	related    []string
	now        instant
}

// instant is the value of --now, zero where it is not given.
type instant struct{ time.Time }

// String implements [pflag.Value].
func (i *instant) String() string {
	if i.IsZero() {
		return ""
	}
	return i.Format(time.RFC3339)
}

// Type implements [pflag.Value].
func (i *instant) Type() string { return "TIME" }

// Set implements [pflag.Value].
func (i *instant) Set(text string) (err error) {
	if i.Time, err = time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf(`want a time such as "2026-01-31T12:00:00Z", have %q`, text)
	}
	return nil
}

func newEval(p Process) *cobra.Command {
	e := &evaluation{Process: p}
	command := &cobra.Command{
		Use:   "eval (--rules PATH | --expression EXPR) --object FILE",
		Short: "Show what rules, or one expression, make of an object in a file",
		Long: `Evaluate rules on objects in a file, without a cluster, and show as YAML which
rules matched and why not, clause by clause, what they write, which events they
record, and what the objects look like then. The cluster is simulated: it has
the object and those of --related. Values of Secrets are masked.

The rules are checked as by validate, with the CRDs of --crds; what is doubtful
about them is on the standard error. To see how one rule came to what it decides,
with all values that it read, give explain the same files.

Or evaluate one expression and show its value as JSON: its one name is object.
If that is a Secret, its values are masked here too.

The instant is now, or --now. A rule with "for" waits: how long its condition
has held already is nothing that a file says.

Exit code: 0; 1 if a rule or the expression failed, a rule was withheld or
refused, or the API server would refuse a write; 2 for wrong usage, also if no
rule watches the object.`,
		Example: `  dyncontroller eval --rules rules/ --object pod.yaml
  kubectl get pod web -o yaml | dyncontroller eval --rules rules/ --object -
  dyncontroller eval --rules rules/ --param web.minReplicas=5 --object pod.yaml
  dyncontroller eval --expression 'olderThan(object.metadata.creationTimestamp, "1d")' --now 2026-01-31T12:00:00Z --object pod.yaml`,
		Args: noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if e.now.IsZero() {
				e.now.Time = clock.RealClock{}.Now()
			}
			return e.run(command.Context(), command.Flags().Changed("expression"))
		},
	}
	flags := command.Flags()
	flags.StringArrayVarP(&e.rules, "rules", "f", nil, "`PATH` of the rules: a file, a directory or - for standard input; may be repeated")
	e.params = config.AddParamFlag(flags)
	e.crds = addCRDsFlag(flags)
	flags.StringVar(&e.expression, "expression", "", "`EXPR` to evaluate instead of rules")
	flags.StringVar(&e.object, "object", "", "`FILE` with the object, as YAML or JSON; - for standard input")
	flags.StringArrayVar(&e.related, "related", nil, "`FILE` with other objects of the cluster, which the rules may read; may be repeated")
	flags.Var(&e.now, "now", "the instant of the evaluation, as RFC 3339 (default: now)")
	return command
}

func (e *evaluation) run(ctx context.Context, one bool) error {
	if err := e.check(one); err != nil {
		return err
	}
	e.silence()
	file, err := source.ReadFile(e.object, e.Stdin)
	if err != nil {
		return failure{exitUsage, err}
	}
	objects, mistakes := simulate.ParseObjects(file)
	if len(mistakes) > 0 {
		return failure{exitFinding, mistakes}
	}
	if one {
		return e.evaluateExpression(objects)
	}
	related, err := e.readRelated()
	if err != nil {
		return err
	}
	evaluation := simulate.Evaluation{Related: related, Now: e.now.Time}
	if evaluation.Definitions, err = e.readCRDs(*e.crds, slices.Concat(e.rules, e.related, []string{e.object})); err != nil {
		return err
	}
	if evaluation.Rules, err = e.load(simulate.Schemas(evaluation.Definitions, slices.Concat(objects, related))); err != nil {
		return err
	}
	io.WriteString(e.Stderr, evaluation.Rules.Warnings().Of(document.Warning).Render())
	return e.evaluateRules(ctx, evaluation, objects)
}

// readRelated reads the other objects of the cluster.
func (e *evaluation) readRelated() ([]map[string]any, error) {
	var out []map[string]any
	for _, path := range e.related {
		file, err := source.ReadFile(path, e.Stdin)
		if err != nil {
			return nil, failure{exitUsage, err}
		}
		objects, mistakes := simulate.ParseObjects(file)
		if len(mistakes) > 0 {
			return nil, failure{exitFinding, mistakes}
		}
		out = append(out, objects...)
	}
	return out, nil
}

// check refuses flags that do not go together. one says that there is an expression.
func (e *evaluation) check(one bool) error {
	switch {
	case one == (len(e.rules) > 0):
		return errors.New("eval needs either --rules or --expression")
	case one && len(*e.params) > 0:
		return errors.New("--param is of --rules; write the value into the expression")
	case one && len(*e.crds) > 0:
		return errors.New("--crds is of --rules; an expression is not checked against schemas")
	case e.object == "":
		return errors.New("eval needs an object: name a file, or -, with --object")
	case one && len(e.related) > 0:
		return errors.New("--related is of --rules; the one name of an expression is object")
	case twice(source.Stdin, slices.Concat(e.rules, e.related, []string{e.object})):
		return errors.New("only one of --rules, --object and --related can be read from standard input")
	default:
		return nil
	}
}

func twice(path string, all []string) bool {
	first := slices.Index(all, path)
	return first >= 0 && slices.Contains(all[first+1:], path)
}

// load compiles the rules as validate checks them.
func (e *evaluation) load(schemas *schema.Catalog) (*rules.Set, error) {
	options, err := offline(*e.params)
	if err != nil {
		return nil, err
	}
	options.Carries, options.Runner, options.Schemas = simulate.Carries, simulate.Runner, schemas
	return source.New(e.rules, e.Stdin, options).Load()
}

// evaluateRules shows one YAML document for each object.
func (e *evaluation) evaluateRules(ctx context.Context, evaluation simulate.Evaluation, objects []map[string]any) error {
	var result error
	for i, object := range objects {
		evaluation.Object = object
		outcome, err := evaluation.Run(ctx)
		if err != nil {
			return failure{exitUsage, err}
		}
		text, err := outcome.YAML()
		if err != nil {
			return internal(err)
		}
		if i > 0 {
			text = slices.Concat([]byte("---\n"), text)
		}
		if _, err := e.Stdout.Write(text); err != nil {
			return internal(fmt.Errorf("writing the result: %w", err))
		}
		if e.showFailures(outcome) {
			result = errFinding
		}
	}
	return result
}

// showFailures adds to the reasons in the result where in the rules they are.
func (e *evaluation) showFailures(outcome simulate.Outcome) (found bool) {
	for _, decision := range outcome.Decisions {
		found = found || decision.Outcome.Troubled()
		var placed *document.Error
		if errors.As(decision.Err, &placed) {
			io.WriteString(e.Stderr, placed.Render())
		}
	}
	return found || slices.ContainsFunc(outcome.Writes, func(w scenario.Write) bool { return w.Failed })
}

// evaluateExpression shows one value for each object.
func (e *evaluation) evaluateExpression(objects []map[string]any) error {
	for _, object := range objects {
		secrets := redact.New(redact.Plain)
		if redact.IsSecret(object) {
			secrets.Learn(object)
		}
		value, err := simulate.EvaluateExpression(e.expression, object, e.now.Time)
		if err != nil {
			return failure{exitFinding, pointedAt(e.expression, secrets.Error(err))}
		}
		if err := writeJSON(e.Stdout, secrets.Tree(value)); err != nil {
			return err
		}
	}
	return nil
}

// pointedAt adds a line with the expression and a caret, where it has one line.
func pointedAt(text string, err error) error {
	var located *expression.Error
	if !errors.As(err, &located) || strings.ContainsAny(text, "\n\t") {
		return err
	}
	offset := min(located.Offset, len(text))
	end := min(offset+located.Length, len(text))
	margin := strings.Repeat(" ", len([]rune(text[:offset])))
	carets := strings.Repeat("^", max(1, len([]rune(text[offset:end]))))
	return fmt.Errorf("%w\n  %s\n  %s%s", err, printable(text), margin, carets)
}

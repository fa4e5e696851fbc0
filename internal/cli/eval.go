//go:build !operator

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
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
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
	now        time.Time
	period     period
	output     *config.Value
}

// addFlags adds what explain has as well. The instant stays zero where --now is not given.
func (e *evaluation) addFlags(flags *pflag.FlagSet, object, related string) {
	flags.StringArrayVarP(&e.rules, "rules", "f", nil, "`PATH` of the rules: a file, a directory or - for standard input; may be repeated")
	e.params = config.AddParamFlag(flags)
	e.crds = addCRDsFlag(flags)
	flags.StringVar(&e.object, "object", "", object)
	flags.StringArrayVar(&e.related, "related", nil, related)
	addTimeFlag(flags, &e.now, "now", "the instant of the evaluation, as RFC 3339 (default: now)")
}

func newEval(p Process) *cobra.Command {
	e := &evaluation{Process: p}
	command := &cobra.Command{
		Use:   "eval (--rules PATH | --expression EXPR) --object FILE",
		Short: "Show what rules, or one expression, make of an object in a file",
		Long: `Evaluate rules on objects in a file, without a cluster, and show what each rule
decides, which fields would change and which Events would be recorded. With -o yaml
or json, also the conditions, the requests as they would be sent, and the objects
afterwards. The cluster is simulated: it has the objects of the file and those of
--related, and any other object is absent; explain and diff ask a cluster. Values
of Secrets are masked. Objects that no rule watches or reads are named on the
standard error.

The rules are checked as by validate, with the CRDs of --crds; warnings are on the
standard error. To see how one rule came to what it decides,
with all values that it read, give explain the same files.

Or evaluate one expression and show its value as JSON. The expression can use the
name object. If that is a Secret, its values are masked.

The time is now, or --now. A rule with "for" waits, because a file does not say
how long its condition has held, and one with "rollout", because it does not say
whose turn it is.

With --to or --for, show a time line of each object instead: the moments from --from
on at which a rule decides otherwise about it or acts, and what changes then. What
rules write is applied, and the rules act on all objects of the files, as in test.
The times are in the time zones that the rules name in inWindow and window, or UTC.

Exit code: 0; 1 if a rule or the expression failed, a rule was withheld, refused or
paused, or the API server would refuse a write; 2 for wrong usage, also if no
rule watches any of the objects.`,
		Example: `  dyncontroller eval --rules rules/ --object pod.yaml
  kubectl get pod web -o yaml | dyncontroller eval --rules rules/ --object -
  dyncontroller eval --rules rules/ --param web.minReplicas=5 --object pod.yaml
  dyncontroller eval --rules rules/ --object deployment.yaml --from 2026-03-23T00:00:00+01:00 --for 1w
  dyncontroller eval --expression 'olderThan(object.metadata.creationTimestamp, "1d")' --now 2026-01-31T12:00:00Z --object pod.yaml`,
		Args: noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			one := command.Flags().Changed("expression")
			if err := e.setPeriod(one); err != nil {
				return err
			}
			return e.run(command.Context(), one)
		},
	}
	flags := command.Flags()
	flags.StringVar(&e.expression, "expression", "", "`EXPR` to evaluate instead of rules")
	e.addFlags(flags, "`FILE` with the object, as YAML or JSON; - for standard input", "`FILE` with other objects of the cluster, which the rules may read; may be repeated")
	e.period.addFlags(flags)
	e.output = addOutputFlag(command, "how the outcome is shown: text, yaml or json", formatText, formatYAML, formatJSON)
	return command
}

// run is told whether there is an expression, which may be empty.
func (e *evaluation) run(ctx context.Context, one bool) error {
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
	case e.readsStdinTwice():
		return errStdinTwice
	}
	e.silence()
	objects, err := e.readObjects(e.object)
	if err != nil {
		return err
	}
	if one {
		return e.evaluateExpression(objects)
	}
	evaluation, err := e.simulation(objects)
	if err != nil {
		return err
	}
	io.WriteString(e.Stderr, evaluation.Rules.Warnings().Of(document.Warning).Render())
	return e.evaluateRules(ctx, evaluation, objects)
}

var errStdinTwice = errors.New("only one of --rules, --object and --related can be read from standard input")

func (e *evaluation) readsStdinTwice() bool {
	all := slices.Concat(e.rules, e.related, []string{e.object})
	first := slices.Index(all, source.Stdin)
	return first >= 0 && slices.Contains(all[first+1:], source.Stdin)
}

func (e *evaluation) readObjects(path string) ([]map[string]any, error) {
	file, err := source.ReadFile(path, e.Stdin)
	if err != nil {
		return nil, failure{exitUsage, err}
	}
	objects, mistakes := simulate.ParseObjects(file)
	if len(mistakes) > 0 {
		return nil, failure{exitFinding, mistakes}
	}
	if len(objects) == 0 && path == e.object { // As kubectl get writes where it finds nothing. Of --related it is an answer.
		return nil, failure{exitUsage, fmt.Errorf("the list in %s is empty, and there is nothing to evaluate", path)}
	}
	return objects, nil
}

// simulation reads the files besides the objects: a cluster, and rules, which are compiled as validate checks them.
func (e *evaluation) simulation(objects []map[string]any) (out simulate.Evaluation, err error) {
	out.Now = e.now
	for _, path := range e.related {
		related, err := e.readObjects(path)
		if err != nil {
			return out, err
		}
		out.Related = append(out.Related, related...)
	}
	if out.Definitions, err = e.readCRDs(*e.crds, slices.Concat(e.rules, e.related, []string{e.object})); err != nil {
		return out, err
	}
	options, err := offline(*e.params)
	if err != nil {
		return out, err
	}
	options.Schemas = simulate.Schemas(out.Definitions, slices.Concat(objects, out.Related))
	out.Rules, err = source.New(e.rules, e.Stdin, options).Load()
	return out, err
}

// evaluateRules shows what becomes of each object.
func (e *evaluation) evaluateRules(ctx context.Context, evaluation simulate.Evaluation, objects []map[string]any) (result error) {
	var unwatched []*simulate.UnwatchedError
	for i, object := range objects {
		evaluation.Object, evaluation.Beside = object, slices.Concat(objects[:i], objects[i+1:])
		err := e.tell(ctx, evaluation, i == len(unwatched))
		none, is := errors.AsType[*simulate.UnwatchedError](err)
		switch {
		case is:
			unwatched = append(unwatched, none)
		case errors.Is(err, errFinding):
			result = err
		case err != nil:
			return err
		}
	}
	if len(unwatched) == len(objects) {
		return failure{exitUsage, unwatched[0]}
	}
	told := map[string]bool{}
	for _, err := range unwatched {
		if text := err.Error(); !err.Read && !told[text] {
			told[text] = true
			show(e.Stderr, fmt.Errorf("passed over: %w", err))
		}
	}
	return result
}

// tell shows what becomes of one object: errFinding is for what the rules, or the API server, have against it.
func (e *evaluation) tell(ctx context.Context, evaluation simulate.Evaluation, first bool) error {
	if !e.period.to.IsZero() {
		return e.tellTimeline(ctx, evaluation, first)
	}
	outcome, err := evaluation.Run(ctx)
	if err != nil {
		return failure{exitUsage, err}
	}
	if err := e.show(outcome, describeOutcome(outcome), first); err != nil {
		return err
	}
	return e.findings(outcome.Decisions, outcome.Writes, outcome.NotDone())
}

// findings says where in the rules the reasons of decisions are, and returns errFinding if a rule could not act. One that waits for a wave
// of its rollout will.
func (e *evaluation) findings(decisions []scenario.Decision, writes []scenario.Write, failures []scenario.Failure) (result error) {
	told := map[string]bool{}
	for _, decision := range decisions {
		if decision.Outcome.Troubled() {
			result = errFinding
		}
		var placed *document.Error
		if errors.As(decision.Err, &placed) && !told[placed.Render()] {
			told[placed.Render()] = true
			io.WriteString(e.Stderr, placed.Render())
		}
	}
	if slices.ContainsFunc(writes, func(w scenario.Write) bool { return w.Failed }) ||
		slices.ContainsFunc(failures, func(f scenario.Failure) bool { return f.Hold != limit.HoldWave }) {
		result = errFinding
	}
	return result
}

// show shows what becomes of an object, for programs or as a text.
func (e *evaluation) show(outcome any, text string, first bool) error {
	switch e.output.Text {
	case formatJSON:
		return writeJSON(e.Stdout, outcome)
	case formatYAML:
		text, err := compare.YAML(outcome)
		if err != nil {
			return internal(err)
		}
		if !first {
			text = append([]byte("---\n"), text...)
		}
		return put(e.Stdout, "the outcome", string(text))
	}
	text = e.painted(text, changeColors)
	if !first {
		text = "\n" + text
	}
	return put(e.Stdout, "the outcome", text)
}

// describeOutcome has a line for each decision, then what would be written, field by field, and recorded.
func describeOutcome(outcome simulate.Story) string {
	var b strings.Builder
	object := ""
	for _, d := range outcome.Decisions {
		if d.Object != object {
			object = d.Object
			fmt.Fprintln(&b, printable.Line(object))
		}
		line := fmt.Sprintf("  %-11s  %s", d.Outcome, d.Rule)
		if d.Mode != "" {
			line += fmt.Sprintf(" (mode %s)", d.Mode)
		}
		if d.Reason != "" {
			line += ": " + d.Reason
		}
		fmt.Fprintln(&b, printable.Line(line))
	}
	for _, w := range slices.Concat(outcome.Writes, outcome.Audited) {
		if w.Failed {
			b.WriteString(printable.Sprintf("refused: %s\n", w.Answer))
		}
		b.WriteString(describeWrite(w.Operation, w.Class, true))
	}
	for _, event := range outcome.Events {
		b.WriteString(describeEvent(event.Type, event.Reason, event.Object, "", event.Rule, event.Message))
	}
	for _, event := range outcome.AuditedEvents {
		b.WriteString(describeEvent(event.Type, event.Reason, event.Object, ": in mode Audit, so not recorded", event.Rule, event.Message))
	}
	for _, f := range outcome.NotDone() {
		b.WriteString(printable.Sprintf("%s %s: %s: %s\n", f.Hold, f.Object, strings.Join(f.Rules, ", "), f.Error))
	}
	for _, look := range outcome.LookAgainAt {
		b.WriteString(printable.Sprintf("%s is looked at again at %s\n", look.Object, look.At))
	}
	return b.String()
}

// evaluateExpression shows one value for each object.
func (e *evaluation) evaluateExpression(objects []map[string]any) error {
	for _, object := range objects {
		secrets := redact.New(redact.Plain)
		if redact.IsSecret(object) {
			secrets.Learn(object)
		}
		value, err := simulate.EvaluateExpression(e.expression, object, e.now)
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
	return pointedError{err, fmt.Sprintf("  %s\n  %s%s\n", printable.Line(text), margin, carets)}
}

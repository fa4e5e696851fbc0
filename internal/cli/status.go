//go:build !operator

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

const statusHelp = `Show how rule sets are doing: whether they are ready, how many objects their rules
match, how many writes they have made, on how many objects they fail, which rules are
suspended or paused, how far rollouts have come, and when a rule last changed
something. With -o wide, each rule has a line. For a SET, its rules are shown, why it
is not ready, and the objects with which its rules have trouble.

Without --controller, the RuleSets and ClusterRuleSets of the cluster of the
kubeconfig are read, with what the controller has written to their status. With
--controller, the running controller is asked: it knows the sets of files too, the
numbers of this moment, and the objects. Of several replicas, ask the leader.

SET is a name. Of sets of the same name it is NAMESPACE/SET, or ClusterRuleSet/SET.

Exit code: 0; 2 for wrong usage, if there is no such set, or if you may not read the
sets; 3 if the cluster or the controller cannot be asked.`

// showing is a run of the command status.
type showing struct {
	Process
	cluster    *config.Cluster
	controller controller
	watch      bool
	output     *config.Value
}

// watchInterval is how often the status is read to see what has changed.
const watchInterval = 2 * time.Second

// formatWide is a table of rules.
const formatWide = "wide"

func newStatus(p Process) *cobra.Command {
	s := &showing{Process: p}
	command := &cobra.Command{
		Use:   "status [SET]...",
		Short: "Show how rule sets and their rules are doing",
		Long:  statusHelp,
		Example: `  dyncontroller status
  dyncontroller status night --namespace shop
  dyncontroller status -o wide --watch
  dyncontroller status tidb-guardrails --controller 127.0.0.1:8080`,
		RunE: func(command *cobra.Command, args []string) error { return s.run(command.Context(), args) },

		ValidArgsFunction: p.completeSets(false),
	}
	flags := command.Flags()
	s.cluster = addClusterFlags(flags, clusterAsRun, contextOfKubeconfig, "show only the RuleSets of the namespace `NAME`")
	s.controller.addFlags(p, flags)
	flags.BoolVarP(&s.watch, "watch", "w", false, "go on, and show each set again when its status has changed")
	s.output = addOutputFlag(command, "how the sets are shown: table, wide, json or yaml", formatTable, formatWide, formatJSON, formatYAML)
	return command
}

func (s *showing) run(ctx context.Context, names []string) error {
	if err := s.controller.check(); err != nil {
		return err
	}
	read := func(ctx context.Context) ([]setstatus.View, error) {
		return s.controller.views(ctx, s.cluster.Namespace, names)
	}
	if s.controller.base == nil {
		target, err := s.reached(ctx, *s.cluster)
		if err != nil {
			return err
		}
		read = func(ctx context.Context) ([]setstatus.View, error) {
			return target.views(ctx, s.cluster.Namespace, names)
		}
	}
	views, err := read(ctx)
	if err != nil {
		return err
	}
	if err := s.show(views, len(names) > 0, true); err != nil || !s.watch {
		return err
	}
	known, said := map[plan.Rule]string{}, ""
	news := func(views []setstatus.View) []setstatus.View {
		return slices.DeleteFunc(views, func(v setstatus.View) bool {
			text := describeSet(v, s.controller.base != nil, time.Time{}) // Without ages.
			same := known[idOf(v)] == text
			known[idOf(v)] = text
			return same
		})
	}
	news(slices.Clone(views))
	err = wait.PollUntilContextCancel(ctx, watchInterval, false, func(ctx context.Context) (bool, error) {
		views, err := read(ctx)
		switch {
		case ctx.Err() != nil:
			return false, nil //nolint:nilerr // It is over.
		case err != nil && err.Error() != said: // It may be over soon, as when a controller restarts.
			show(s.Stderr, err)
			fallthrough
		case err != nil:
			said = err.Error()
			return false, nil //nolint:nilerr // It has been shown.
		}
		said = ""
		return false, s.show(news(views), len(names) > 0, false)
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // The user has ended it.
	}
	return err //nolint:wrapcheck // It is that of show.
}

// show writes how sets are doing. The header of a table comes first alone.
func (s *showing) show(views []setstatus.View, whole, first bool) error {
	if len(views) == 0 && !first {
		return nil
	}
	switch s.output.Text {
	case formatJSON:
		if s.watch { // A stream has an object for each set, as of kubectl.
			for _, v := range views {
				if err := writeJSON(s.Stdout, v); err != nil {
					return err
				}
			}
			return nil
		}
		return writeJSON(s.Stdout, views)
	case formatYAML: // What is appended to it is of the same list.
		data, err := yaml.Marshal(views)
		if err != nil {
			return internal(fmt.Errorf("writing the status: %w", err))
		}
		return put(s.Stdout, "the status", string(data))
	}
	now := clock.RealClock{}.Now()
	var out strings.Builder
	switch {
	case whole:
		for _, v := range views {
			out.WriteString(describeSet(v, s.controller.base != nil, now))
		}
	case s.output.Text == formatWide:
		out.WriteString(under(first, ruleHeader, rowsOf(views, now)))
	default:
		rows := make([][]string, len(views))
		for i, v := range views {
			rows[i] = setRow(v, now)
		}
		out.WriteString(under(first, []string{"NAMESPACE", "NAME", "STATUS", "RULES", "MATCHED", "WRITES", "FAILING", "PAUSED", "LAST WRITE"}, rows))
	}
	if len(views) == 0 {
		out.Reset()
		out.WriteString("there are no rule sets\n")
	}
	return put(s.Stdout, "the status", s.painted(out.String(), nil))
}

// under is a table, without its header where that was shown before.
func under(header bool, names []string, rows [][]string) string {
	text := table(names, rows)
	if header {
		return text
	}
	_, text, _ = strings.Cut(text, "\n")
	return text
}

// none is what a column has that has nothing.
const none = "-"

// setRow is a set in a line.
func setRow(v setstatus.View, now time.Time) []string {
	var writes int64
	var last *metav1.Time
	for _, rule := range v.Status.Rules {
		writes += rule.Writes
		if last == nil || last.Before(rule.LastWrite) {
			last = rule.LastWrite
		}
	}
	return []string{
		cmp.Or(v.Namespace, none), v.Name, standing(v), strconv.FormatInt(v.Status.Summary.Rules, 10), strconv.FormatInt(v.Status.Summary.Matched, 10),
		strconv.FormatInt(writes, 10), strconv.FormatInt(v.Status.Summary.Errors, 10), strconv.Itoa(len(v.Status.Paused)), ago(last, now),
	}
}

// standing is how a set is doing, in a word.
func standing(v setstatus.View) string {
	ready := meta.FindStatusCondition(v.Status.Conditions, setstatus.Ready)
	acts := func(rule v1alpha1.RuleStatus) bool { return rule.Standing != setstatus.Suspended }
	suspended := len(v.Status.Rules) > 0 && !slices.ContainsFunc(v.Status.Rules, acts)
	switch {
	case ready == nil:
		return "Unknown"
	case v.Status.ObservedGeneration < v.Generation:
		return "Outdated" // The controller has not seen it yet.
	case suspended && (ready.Status == metav1.ConditionTrue || ready.Reason == setstatus.Paused):
		return setstatus.Suspended
	case ready.Status != metav1.ConditionTrue:
		return ready.Reason
	default:
		return setstatus.Ready
	}
}

var ruleHeader = []string{"NAMESPACE", "RULE", "STATUS", "MATCHED", "WRITES", "FAILING", "CONTESTED", "ROLLOUT", "LAST WRITE"}

// rowsOf has a line for each rule of sets, and for each set without rules in effect.
func rowsOf(views []setstatus.View, now time.Time) (out [][]string) {
	for _, v := range views {
		if len(v.Status.Rules) == 0 {
			out = append(out, append([]string{cmp.Or(v.Namespace, none), v.Name, standing(v)}, slices.Repeat([]string{none}, len(ruleHeader)-3)...))
		}
		for _, rule := range v.Status.Rules {
			status, rollout := cmp.Or(rule.Standing, "Active"), none
			if isPaused(v, rule) {
				status = setstatus.Paused
			}
			for _, r := range v.Status.Rollouts {
				if r.Rule == rule.Name && r.Wave < r.Waves {
					rollout = fmt.Sprintf("wave %d of %d", r.Wave+1, r.Waves)
				}
			}
			out = append(out, []string{
				cmp.Or(v.Namespace, none), v.Name + "/" + rule.Name, status, strconv.FormatInt(rule.Matched, 10), strconv.FormatInt(rule.Writes, 10),
				strconv.FormatInt(rule.Errors, 10), strconv.FormatInt(rule.Contested, 10), rollout, ago(rule.LastWrite, now),
			})
		}
	}
	return out
}

func isPaused(v setstatus.View, rule v1alpha1.RuleStatus) bool {
	return slices.ContainsFunc(v.Status.Paused, func(p v1alpha1.Pause) bool { return p.Rule == rule.Name })
}

// ago is how long ago something was, as kubectl has it.
func ago(at *metav1.Time, now time.Time) string {
	if at.IsZero() {
		return none
	}
	return duration.HumanDuration(now.Sub(at.Time))
}

// describeSet tells all that is known of a set.
func describeSet(v setstatus.View, asked bool, now time.Time) string {
	var out strings.Builder
	out.WriteString(printable.Sprintf("%s: %s\n", idOf(v).SetName(), standing(v)))
	if ready := meta.FindStatusCondition(v.Status.Conditions, setstatus.Ready); ready != nil {
		for line := range strings.Lines(ready.Message) {
			out.WriteString(printable.Sprintf("  %s\n", strings.TrimSuffix(line, "\n")))
		}
	}
	if len(v.Status.Rules) > 0 {
		out.WriteString("\n" + table(ruleHeader, rowsOf([]setstatus.View{v}, now)))
	}
	var rows [][]string
	for _, object := range v.Objects {
		for _, record := range object.Records {
			if state, why := troubleOf(record, object); state != "" {
				rows = append(rows, []string{object.Object.String(), record.Rule.Name, state, withoutPosition(why)})
			}
		}
	}
	if len(rows) > 0 {
		out.WriteString("\n" + table([]string{"OBJECT", "RULE", "STATE", "WHY"}, rows))
	}
	if more := v.Troubled - len(v.Objects); more > 0 {
		fmt.Fprintf(&out, "and %s more\n", document.Count(more, "object"))
	}
	for _, rule := range v.Status.Rules {
		if !asked && rule.LastError != "" && !isPaused(v, rule) {
			out.WriteString(printable.Sprintf("\nrule %s fails, such as with: %s\n", rule.Name, rule.LastError))
		}
	}
	if !asked && (v.Status.Summary.Errors > 0 || len(v.Status.Paused) > 0) {
		out.WriteString("The controller knows the objects: name it with --controller.\n")
	}
	return out.String()
}

// troubleOf is what keeps a rule from what it wants of an object, and why; empty for nothing.
func troubleOf(record trace.Record, object trace.Memory) (state, why string) {
	trouble := cmp.Or(record.Trouble, object.Trouble)
	switch {
	case trouble.Paused != "":
		return "paused", none // The set says why.
	case trouble.Wave != "":
		return "waiting", trouble.Wave
	case trouble.Contest != "":
		return "contested", trouble.Contest
	case trouble.Quarantined:
		return "quarantined", cmp.Or(trouble.Failure, record.Reason)
	case trouble.Failure != "":
		return "failing", trouble.Failure
	}
	switch record.Outcome {
	case plan.Waiting, plan.Refused, plan.Withheld, plan.Failed:
		return string(record.Outcome), record.Reason
	default:
		return "", ""
	}
}

// idOf names the set of a view.
func idOf(v setstatus.View) plan.Rule {
	return plan.Rule{Kind: v.Kind, Namespace: v.Namespace, Set: v.Name}
}

// chosenViews are the sets that the user names, all for none, and that are in a namespace if one is given.
func chosenViews(all []setstatus.View, namespace string, names []string) ([]setstatus.View, error) {
	all = slices.DeleteFunc(all, func(v setstatus.View) bool { return namespace != "" && v.Namespace != namespace })
	slices.SortFunc(all, setstatus.View.Compare)
	if len(names) == 0 {
		return all, nil
	}
	var ids []plan.Rule
	for _, v := range all {
		ids = append(ids, idOf(v))
	}
	var out []setstatus.View
	for _, name := range names {
		id, err := pick("set", name, ids)
		if err != nil {
			return nil, err
		}
		out = append(out, all[slices.Index(ids, id)])
	}
	return out, nil
}

// unlisted is why the sets of a cluster could not be listed, with what to do about sets in files where a cluster knows none.
func unlisted(err error, namespace, files string) error {
	refused, is := errors.AsType[*apierrors.StatusError](err)
	switch {
	case apierrors.IsNotFound(err):
		return internal(fmt.Errorf("%w; %s", err, files))
	case !is || !apierrors.IsForbidden(err):
		return internal(err)
	case namespace == "":
		return failure{exitUsage, fmt.Errorf("%w; with --namespace only the RuleSets of that namespace are read", refused)}
	default:
		return failure{exitUsage, refused}
	}
}

// views reads how the sets of a cluster are doing from their statuses.
func (c *cluster) views(ctx context.Context, namespace string, names []string) ([]setstatus.View, error) {
	objects, err := c.setObjects(ctx, namespace)
	if err != nil {
		return nil, unlisted(err, namespace, "a running controller tells of sets in files: name its address, such as --controller 127.0.0.1:8080")
	}
	all := []setstatus.View{}
	for _, one := range objects {
		v := setstatus.View{Kind: one.Kind, Namespace: one.Namespace, Name: one.Name, Generation: one.Generation, Status: one.Status}
		v.Status.Inventory, v.Status.Counted = nil, nil // They are for the controller.
		for i := range v.Status.Rollouts {
			v.Status.Rollouts[i].Marks = ""
		}
		all = append(all, v)
	}
	return chosenViews(all, namespace, names)
}

// views asks the controller how sets are doing, and of those that are named, of their objects too.
func (c *controller) views(ctx context.Context, namespace string, names []string) ([]setstatus.View, error) {
	all := []setstatus.View{}
	if err := c.ask(ctx, url.Values{"sets": {""}}, &all); err != nil {
		return nil, err
	}
	chosen, err := chosenViews(all, namespace, names)
	if err != nil || len(names) == 0 {
		return chosen, err
	}
	for i, v := range chosen {
		var one []setstatus.View
		err := c.ask(ctx, url.Values{"kind": {v.Kind}, "namespace": {v.Namespace}, "set": {v.Name}, "status": {""}}, &one)
		if err != nil {
			return nil, err
		}
		if len(one) != 1 {
			return nil, failure{exitUsage, errors.New("the set " + idOf(v).SetName() + " is gone")}
		}
		chosen[i] = one[0]
	}
	return chosen, nil
}

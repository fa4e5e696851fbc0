//go:build !operator

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/scaffold"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// formatTree is how explain shows a trace to people.
const formatTree = "tree"

const explainHelp = `Show how a rule comes to what it decides about an object: the conditions of its
"when", one by one, with the values that they read; which other objects it looked
for and found; what it wants written, field by field, with who has set the field
so far; and when it looks again. What keeps the rule from the object before it is
asked at all, such as a selector that does not select it, is said too.

Without RULE, show in short what each rule that watches the resource decides about
the object, why, what it would write, and when it looks again. Rules that do not
apply to the object, as their selectors do not select it or their set acts in another
namespace, are in the last line. -o json is a list then, of what it is for each rule.

RULE is SET/RULE, or RULE where only one set has it. Of sets of the same name in
several namespaces it is NAMESPACE/SET/RULE, or ClusterRuleSet/SET/RULE.
RESOURCE/NAME is as kubectl takes it: pods/web, po/web, widgets.example.com/web.
One argument is RESOURCE/NAME, but with --object, which names the object, RULE.

The cluster of the kubeconfig is asked, with your own rights; nothing is written.
For a set that names a ServiceAccount, the command reports which permissions that
account lacks. With --object, the objects come from files, as with eval, and no
cluster is asked. Only the running controller knows how long the condition of
"for" has held, and of a set whose newest version is refused the version in
effect: --controller asks it. Of several replicas, ask the leader.

Values of Secrets are masked, and what rules make of them is not shown.

Exit code: 0 if the rules are explained; 1 if rules are wrong or one of them fails;
2 for wrong usage, or if there is no such rule or object, or rule sets may not be
read; 3 if the cluster or the controller cannot be asked, or you may not read the
object or what a rule reads.`

// explaining is a run of the command explain. Of files it reads what eval does.
type explaining struct {
	evaluation
	cluster     *config.Cluster
	fromCluster bool
	controller  controller
	output      *config.Value
}

func newExplain(p Process) *cobra.Command {
	e := &explaining{evaluation: evaluation{Process: p}}
	command := &cobra.Command{
		Use:   "explain [RULE] RESOURCE/NAME (--rules PATH... | --rules-from-cluster)",
		Short: "Show why a rule, or each rule, acts on an object, or does not",
		Long:  explainHelp,
		Example: `  dyncontroller explain pd-quorum tidbclusters/basic --rules rules/ --namespace db
  dyncontroller explain tidbclusters/basic --rules rules/ --namespace db
  dyncontroller explain tidb-guardrails/pd-quorum tc/basic --rules-from-cluster
  dyncontroller explain pd-quorum --rules rules/ --object tidbcluster.yaml --related secret.yaml
  dyncontroller explain pd-quorum tc/basic --rules rules/ --controller 127.0.0.1:8080 -o json`,
		Args: func(_ *cobra.Command, args []string) error { return e.check(args) },
		RunE: func(command *cobra.Command, args []string) error {
			if e.now.IsZero() {
				e.now = clock.RealClock{}.Now()
			}
			return e.run(command.Context(), args)
		},
		ValidArgsFunction: e.completeRules,
	}
	flags := command.Flags()
	flags.BoolVar(&e.fromCluster, "rules-from-cluster", false, "take the RuleSets and ClusterRuleSets of the cluster too")
	e.cluster = addClusterFlags(flags, clusterAsRun, contextOfKubeconfig, "the namespace `NAME` of the object, and of a RuleSet that names none")
	e.addFlags(flags, "`FILE` with the object, instead of a cluster; - for standard input", "`FILE` with other objects, which the rules may read; may be repeated")
	e.controller.addFlags(p, flags)
	e.output = addOutputFlag(command, "how the explanation is shown: tree or json", formatTree, formatJSON)
	return command
}

// asked takes the arguments apart: a RULE, empty for all of them, and RESOURCE/NAME, empty for what --object has.
func (e *explaining) asked(args []string) (rule, object string) {
	switch {
	case len(args) == 2:
		return args[0], args[1]
	case len(args) == 1 && e.object == "":
		return "", args[0]
	case len(args) == 1:
		return args[0], ""
	default:
		return "", ""
	}
}

// check wants an object; which one a file has need not be said.
func (e *explaining) check(args []string) error {
	switch {
	case len(args) == 0 && e.object == "":
		return errors.New("explain needs RESOURCE/NAME, such as pods/web, and before it a RULE, such as pd-quorum, if only one is to be explained")
	case len(args) == 1 && e.object == "" && !strings.Contains(args[0], "/"):
		return fmt.Errorf("explain needs RESOURCE/NAME, as in: dyncontroller explain pd-quorum pods/web; have only %q, and no --object", args[0])
	case len(args) == 3:
		return fmt.Errorf("write the object as one word: %s/%s", args[1], args[2])
	case len(args) > 3:
		return fmt.Errorf("explain takes RULE and RESOURCE/NAME, have %q", args)
	}
	if _, object := e.asked(args); object != "" {
		if _, _, err := parseObject(object); err != nil {
			return err
		}
	}
	switch {
	case len(e.rules) == 0 && !e.fromCluster:
		return errors.New("explain needs rules: name them with --rules, or take them from the cluster with --rules-from-cluster")
	case e.object != "" && (e.fromCluster || named(e.cluster)):
		return errors.New("--object is for no cluster: leave out --kubeconfig, --context and --rules-from-cluster")
	case e.object == "" && (len(e.related) > 0 || len(*e.crds) > 0):
		return errors.New("--related and --crds go with --object; a cluster knows both")
	case e.readsStdinTwice():
		return errStdinTwice
	default:
		return e.controller.check()
	}
}

func (e *explaining) run(ctx context.Context, args []string) error {
	e.silence()
	find := e.ofCluster
	if e.object != "" {
		find = e.ofFiles
	}
	rule, object := e.asked(args)
	found, err := find(ctx, rule, object)
	if err != nil {
		return err
	}
	if rule == "" {
		return e.explainAll(ctx, found)
	}
	answer, err := e.explainRule(ctx, found, found.rules[0])
	if err != nil {
		return err
	}
	if e.output.Text == formatJSON {
		err = writeJSON(e.Stdout, answer.trace)
	} else {
		err = e.show(answer.trace.Tree(), lineColor{bold, []string{"result "}}, lineColor{red, []string{"in the way"}})
	}
	return cmp.Or(err, endOf(answer))
}

// show writes an explanation for people.
func (e *explaining) show(text string, colors ...lineColor) error {
	return put(e.Stdout, "the explanation", e.painted(text, colors))
}

// explained is a rule as it was explained.
type explained struct {
	*subject
	trace trace.Trace
}

// endOf is how a command ends that has explained rules.
func endOf(all ...explained) error {
	var missing, forbidden, wrong bool
	for _, one := range all {
		missing = missing || slices.ContainsFunc(one.trace.Obstacles, func(o trace.Obstacle) bool { return o.Kind == trace.NoObject })
		forbidden = forbidden || one.forbidden
		wrong = wrong || one.trace.Decision.Outcome == plan.Failed || slices.ContainsFunc(one.sets, one.explainsRefused)
	}
	switch {
	case missing:
		return failure{code: exitUsage}
	case forbidden:
		return failure{code: exitInternal} // The explanation says what is not known.
	case wrong:
		return errFinding
	default:
		return nil
	}
}

// scene is what there is to explain.
type scene struct {
	set *rules.Set
	// rules are those to explain: one, or all that watch the resource of the object.
	rules   []*rules.Rule
	doubts  doubtfuls
	cluster *cluster // nil of files
	at      *subject // for any of the rules
}

// explainRule explains one of the rules.
func (e *explaining) explainRule(ctx context.Context, found scene, rule *rules.Rule) (out explained, err error) {
	out.subject = found.at.as(rule)
	if found.cluster != nil {
		out.sets = found.doubts.of(rule.Identity())
		out.missing()
		if err = found.cluster.review(ctx, found.set, out.subject); err != nil {
			return out, err
		}
	}
	if out.memory == nil || out.object.GVR != found.at.object.GVR {
		if out.memory, err = e.controller.remembered(ctx, out.object); err != nil {
			return out, err
		}
	}
	out.trace, err = out.explain(ctx, found.set, e.now)
	return out, err
}

// ofCluster finds the rules and the object in a cluster.
func (e *explaining) ofCluster(ctx context.Context, written, object string) (out scene, err error) {
	if out.cluster, err = e.reached(ctx, *e.cluster); err != nil {
		return out, err
	}
	if out.set, out.doubts, err = e.loadLive(ctx, out.cluster); err != nil {
		return out, err
	}
	if written == "" {
		out.at, err = out.cluster.locate(ctx, object, watchedBy(out.set.Rules()...))
		if _, other := findRule(out.set, object); err != nil && other == nil {
			return out, failure{exitUsage, fmt.Errorf("%s is a rule: write the object behind it, as in: dyncontroller explain %[1]s pods/web", object)}
		}
		return out.withAll(), err
	}
	rule, err := findRule(out.set, written)
	if err != nil && len(out.doubts) > 0 {
		for _, doubt := range out.doubts { // It may be in one of those.
			err = errors.Join(err, errors.New(doubt.String()))
		}
		return out, failure{exitFinding, err}
	}
	if err != nil {
		return out, err
	}
	out.rules = []*rules.Rule{rule}
	out.at, err = out.cluster.locate(ctx, object, watchedBy(rule))
	return out, err
}

// ofFiles finds the rules and the object in files, which are a cluster of their own.
func (e *explaining) ofFiles(_ context.Context, written, object string) (out scene, err error) {
	objects, err := e.readObjects(e.object)
	if err != nil {
		return out, err
	}
	at, err := chosen(objects, written, object)
	if err != nil {
		return out, failure{exitUsage, err}
	}
	evaluation, err := e.simulation(objects)
	if err != nil {
		return out, err
	}
	evaluation.Object = objects[at]
	evaluation.Beside = slices.Concat(objects[:at], objects[at+1:])
	out.set, out.at = evaluation.Rules, &subject{}
	if written != "" {
		rule, err := findRule(out.set, written)
		if err != nil {
			return out, err
		}
		out.rules = []*rules.Rule{rule}
	}
	if out.at.reader, out.at.object, err = evaluation.Reader(); err != nil {
		return out, failure{exitUsage, err}
	}
	if written == "" {
		out = out.withAll()
	}
	return out, nil
}

// chosen is the object of a file that the user means, which need not be said of one.
func chosen(objects []map[string]any, rule, written string) (int, error) {
	switch {
	case written == "" && len(objects) == 1:
		return 0, nil
	case written == "" && rule == "": // RESOURCE/NAME alone would be a rule.
		return 0, fmt.Errorf("the file has %d objects: leave the one that you mean, and name a file with the others with --related", len(objects))
	case written == "":
		return 0, fmt.Errorf("the file has %d objects: say which one with RESOURCE/NAME", len(objects))
	}
	resource, name, err := parseObject(written)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(objects, func(o map[string]any) bool { return plan.Text(o, "metadata", "name") == name && isOf(o, resource) })
	if at < 0 {
		var has []string
		for _, o := range objects {
			has = append(has, plan.Text(o, "kind")+" "+plan.Text(o, "metadata", "name"))
		}
		return 0, fmt.Errorf("the file has no %s; it has %s", written, strings.Join(has[:min(len(has), 10)], ", "))
	}
	return at, nil
}

// isOf reports whether an object may be of a resource, by the plural, the kind or a short name that Kubernetes itself has for it.
func isOf(object map[string]any, resource string) bool {
	of := scaffold.ForObject(object, nil)
	return means(resource, of.Resource, append([]string{of.Kind}, of.Other...)...)
}

// means reports whether a word is for a resource as kubectl takes it: the plural or another name, with its group, with the version and
// the group, or without.
func means(word string, of schema.GroupVersionResource, others ...string) bool {
	name, group, _ := strings.Cut(strings.ToLower(word), ".")
	return (name == of.Resource || slices.ContainsFunc(others, func(other string) bool { return strings.EqualFold(other, name) })) &&
		(group == "" || group == of.Group || group == strings.TrimSuffix(of.Version+"."+of.Group, "."))
}

// findRule returns the one rule that the user means.
func findRule(set *rules.Set, written string) (*rules.Rule, error) {
	id, err := pick("rule", written, set.IDs())
	if err != nil {
		return nil, err
	}
	all := set.Rules()
	return all[slices.IndexFunc(all, func(rule *rules.Rule) bool { return rule.ID == id })], nil
}

// parseObject takes RESOURCE/NAME apart.
func parseObject(written string) (resource, name string, err error) {
	resource, name, parted := strings.Cut(written, "/")
	if !parted || resource == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("want RESOURCE/NAME, such as pods/web, have %q", written)
	}
	return strings.ToLower(resource), name, nil
}

// completeRules offers the rules of --rules to the completion of a shell, and then the objects of the cluster.
func (e *explaining) completeRules(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 && e.object == "" {
		return e.completeObject(command, word)
	}
	if len(args) > 0 || slices.Contains(e.rules, source.Stdin) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	sets, _ := source.New(e.rules, e.Stdin, rules.Options{DefaultNamespace: offlineNamespace}).Sets()
	var out []string
	for _, set := range sets {
		for i := range set.Rules {
			out = append(out, plan.Rule{Set: set.Name, Name: set.Rules[i].Name}.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
}

//go:build !operator

package cli

import (
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
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
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

RULE is SET/RULE, or RULE where only one set has it. Of sets of the same name in
several namespaces it is NAMESPACE/SET/RULE, or ClusterRuleSet/SET/RULE.
RESOURCE/NAME is as kubectl takes it: pods/web, po/web, widgets.example.com/web.

The cluster of the kubeconfig is asked, with your own rights; nothing is written.
For a set that names a ServiceAccount, the command reports which permissions that
account lacks. With --object, the objects come from files, as with eval, and no
cluster is asked. Only the running controller knows how long the condition of
"for" has held, and of a set whose newest version is refused the version in
effect: --controller asks it. Of several replicas, ask the leader.

Values of Secrets are masked, and what rules make of them is not shown.

Exit code: 0 if the rule is explained; 1 if the rules are wrong or the rule fails;
2 for wrong usage, or if there is no such rule or object, or rule sets may not be
read; 3 if the cluster or the controller cannot be asked, or you may not read the
object or what the rule reads.`

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
		Use:   "explain RULE RESOURCE/NAME (--rules PATH... | --rules-from-cluster)",
		Short: "Show why a rule acts on an object, or does not",
		Long:  explainHelp,
		Example: `  dyncontroller explain pd-quorum tidbclusters/basic --rules rules/ --namespace db
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
	e.controller.addFlags(flags)
	e.output = addOutputFlag(command, "how the explanation is shown: tree or json", formatTree, formatJSON)
	return command
}

// check wants a rule and an object; which one a file has need not be said.
func (e *explaining) check(args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("explain needs a RULE, such as pd-quorum, and RESOURCE/NAME, such as pods/web")
	case len(args) == 1 && e.object == "":
		return fmt.Errorf("explain needs a RULE and RESOURCE/NAME, as in: dyncontroller explain pd-quorum pods/web; have only %q, and no --object", args[0])
	case len(args) == 3:
		return fmt.Errorf("write the object as one word: %s/%s", args[1], args[2])
	case len(args) > 3:
		return fmt.Errorf("explain takes RULE and RESOURCE/NAME, have %q", args)
	}
	if len(args) == 2 {
		if _, _, err := parseObject(args[1]); err != nil {
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
	set, at, err := find(ctx, args)
	if err != nil {
		return err
	}
	if at.memory, err = e.controller.remembered(ctx, at.object); err != nil {
		return err
	}
	answer, err := at.explain(ctx, set, e.now)
	if err != nil {
		return err
	}
	if e.output.Text == formatJSON {
		err = writeJSON(e.Stdout, answer)
	} else {
		err = put(e.Stdout, "the explanation", e.painted(answer.Tree(), []lineColor{{bold, []string{"result "}}, {red, []string{"in the way"}}}))
	}
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(answer.Obstacles, func(o trace.Obstacle) bool { return o.Kind == trace.NoObject }):
		return failure{code: exitUsage}
	case at.forbidden:
		return failure{code: exitInternal} // The explanation says what is not known.
	case answer.Decision.Outcome == plan.Failed, slices.ContainsFunc(answer.Sets, at.explainsRefused):
		return errFinding
	default:
		return nil
	}
}

// ofCluster finds the rule and the object in a cluster.
func (e *explaining) ofCluster(ctx context.Context, args []string) (*rules.Set, *subject, error) {
	target, err := e.reached(ctx, *e.cluster)
	if err != nil {
		return nil, nil, err
	}
	set, doubts, err := e.loadLive(ctx, target)
	if err != nil {
		return nil, nil, err
	}
	rule, err := findRule(set, args[0])
	if err != nil && len(doubts) > 0 {
		for _, doubt := range doubts { // It may be in one of those.
			err = errors.Join(err, errors.New(doubt.String()))
		}
		return nil, nil, failure{exitFinding, err}
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := target.locate(ctx, args[1], rule.Watched())
	if err != nil {
		return nil, nil, err
	}
	out.rule, out.sets = rule, doubts.of(rule.Identity())
	out.missing()
	return set, out, target.review(ctx, set, out)
}

// ofFiles finds the rule and the object in files, which are a cluster of their own.
func (e *explaining) ofFiles(_ context.Context, args []string) (*rules.Set, *subject, error) {
	objects, err := e.readObjects(e.object)
	if err != nil {
		return nil, nil, err
	}
	at, err := chosen(objects, args[1:])
	if err != nil {
		return nil, nil, failure{exitUsage, err}
	}
	evaluation, err := e.simulation(objects)
	if err != nil {
		return nil, nil, err
	}
	evaluation.Object = objects[at]
	evaluation.Beside = slices.Concat(objects[:at], objects[at+1:])
	out := &subject{}
	if out.rule, err = findRule(evaluation.Rules, args[0]); err != nil {
		return nil, nil, err
	}
	if out.reader, out.object, err = evaluation.Reader(); err != nil {
		return nil, nil, failure{exitUsage, err}
	}
	for _, watched := range out.rule.Watched() { // The version that the rule watches, if it watches the resource.
		if watched.GroupResource() == out.object.GVR.GroupResource() {
			out.object.GVR = watched
			break
		}
	}
	return evaluation.Rules, out, nil
}

// chosen is the object of a file that the user means, which need not be said of one.
func chosen(objects []map[string]any, written []string) (int, error) {
	if len(written) == 0 {
		if len(objects) > 1 {
			return 0, fmt.Errorf("the file has %d objects: say which one with RESOURCE/NAME", len(objects))
		}
		return 0, nil
	}
	resource, name, err := parseObject(written[0])
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(objects, func(o map[string]any) bool { return plan.Text(o, "metadata", "name") == name && isOf(o, resource) })
	if at < 0 {
		var has []string
		for _, o := range objects {
			has = append(has, plan.Text(o, "kind")+" "+plan.Text(o, "metadata", "name"))
		}
		return 0, fmt.Errorf("the file has no %s; it has %s", written[0], strings.Join(has[:min(len(has), 10)], ", "))
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

// findRule returns the one rule that the user means: a rule, with as much of where it is
// before it as tells it apart.
func findRule(set *rules.Set, written string) (*rules.Rule, error) {
	var found []*rules.Rule
	var short, long []string
	for _, rule := range set.Rules() {
		short, long = append(short, rule.ID.Name), append(long, rule.ID.String())
		if strings.HasSuffix("/"+fullName(rule.ID), "/"+written) {
			found = append(found, rule)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var apart []string // by as little as tells them apart
		for _, rule := range found {
			name := rule.ID.String()
			if slices.ContainsFunc(found, func(other *rules.Rule) bool { return other != rule && other.ID.String() == name }) {
				name = fullName(rule.ID)
			}
			apart = append(apart, name)
		}
		return nil, failure{exitUsage, fmt.Errorf("there are several rules %s: write one of %s", written, strings.Join(apart, ", "))}
	case len(long) == 0:
		return nil, failure{exitUsage, fmt.Errorf("there is no rule %q, there are none at all", written)}
	}
	names := short
	if strings.Contains(written, "/") {
		names = long
	}
	if near := document.Suggest(written, names); near != "" {
		return nil, failure{exitUsage, fmt.Errorf("there is no rule %q; did you mean %s?", written, near)}
	}
	return nil, failure{exitUsage, fmt.Errorf("there is no rule %q; there are %d, such as %s", written, len(long), strings.Join(long[:min(len(long), 10)], ", "))}
}

// fullName is a rule with all that tells it apart from others.
func fullName(id plan.Rule) string {
	if id.Namespace == "" {
		return id.Kind + "/" + id.String()
	}
	return id.Kind + "/" + id.Namespace + "/" + id.String()
}

// parseObject takes RESOURCE/NAME apart.
func parseObject(written string) (resource, name string, err error) {
	resource, name, parted := strings.Cut(written, "/")
	if !parted || resource == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("want RESOURCE/NAME, such as pods/web, have %q", written)
	}
	return strings.ToLower(resource), name, nil
}

// completeRules offers the rules of --rules to the completion of a shell.
func (e *explaining) completeRules(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
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

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
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
For a set that names a ServiceAccount, it is reviewed what that may not do. Or,
with --object, the objects are those of files, and no cluster is asked, as with
eval. What a rule remembers, such as how long the condition of "for" has held,
only its controller knows, of several replicas the one that leads: --controller
asks it.

Values of Secrets are masked, and what rules make of them is not shown.

Exit code: 0 if the rule is explained; 1 if the rules are wrong or the rule fails;
2 for wrong usage, or if there is no such rule or object; 3 if the cluster or the
controller cannot be asked.`

// explaining is a run of the command explain. Of files it reads what eval does.
type explaining struct {
	evaluation
	cluster     config.Cluster
	fromCluster bool
	controller  controller
	output      format
}

func newExplain(p Process) *cobra.Command {
	e := &explaining{
		evaluation: evaluation{Process: p}, cluster: config.Cluster{QPS: config.NoLimit, Burst: config.NoLimit},
		output: format{text: formatTree, choices: []string{formatTree, formatJSON}},
	}
	command := &cobra.Command{
		Use:   "explain RULE RESOURCE/NAME (--rules PATH... | --rules-from-cluster)",
		Short: "Show why a rule acts on an object, or does not",
		Long:  explainHelp,
		Example: `  dyncontroller explain pd-quorum tidbclusters/basic --rules rules/ --namespace db
  dyncontroller explain tidb-guardrails/pd-quorum tc/basic --rules-from-cluster
  dyncontroller explain pd-quorum --rules rules/ --object tidbcluster.yaml --related secret.yaml
  dyncontroller explain pd-quorum tc/basic --rules rules/ --controller 127.0.0.1:8080 -o json`,
		Args: func(_ *cobra.Command, args []string) error { return e.checkArgs(args) },
		RunE: func(command *cobra.Command, args []string) error {
			if e.now.IsZero() {
				e.now.Time = clock.RealClock{}.Now()
			}
			return e.run(command.Context(), args)
		},
		ValidArgsFunction: e.completeRules,
	}
	flags := command.Flags()
	flags.StringArrayVarP(&e.rules, "rules", "f", nil, "`PATH` of the rules: a file, a directory or - for standard input; may be repeated")
	flags.BoolVar(&e.fromCluster, "rules-from-cluster", false, "take the RuleSets and ClusterRuleSets of the cluster too")
	e.params = config.AddParamFlag(flags)
	flags.StringVar(&e.cluster.Kubeconfig, "kubeconfig", "", "the kubeconfig `FILE` to use, as of run")
	flags.StringVar(&e.cluster.Context, "context", "", "the context `NAME` of the kubeconfig")
	flags.StringVarP(&e.cluster.Namespace, "namespace", "n", "", "the namespace `NAME` of the object, and of a RuleSet that names none")
	flags.StringVar(&e.object, "object", "", "`FILE` with the object, instead of a cluster; - for standard input")
	flags.StringArrayVar(&e.related, "related", nil, "`FILE` with other objects, which the rules may read; may be repeated")
	e.crds = addCRDsFlag(flags)
	flags.Var(&e.now, "now", "the instant of the evaluation, as RFC 3339 (default: now)")
	e.controller.addFlags(flags)
	flags.VarP(&e.output, "output", "o", "how the explanation is shown: tree or json")
	completeFlag(command, "output", e.output.choices)
	return command
}

// checkArgs wants a rule and an object; which one a file has need not be said.
func (e *explaining) checkArgs(args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("explain needs a RULE, such as pd-quorum, and RESOURCE/NAME, such as pods/web")
	case len(args) == 1 && e.object == "":
		return errors.New("explain needs an object: RESOURCE/NAME, such as pods/web, or a file with --object")
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
	return e.checkFlags()
}

func (e *explaining) checkFlags() error {
	switch {
	case len(e.rules) == 0 && !e.fromCluster:
		return errors.New("explain needs rules: name them with --rules, or take them from the cluster with --rules-from-cluster")
	case e.object != "" && (e.fromCluster || e.cluster.Kubeconfig != "" || e.cluster.Context != ""):
		return errors.New("--object is for no cluster: leave out --kubeconfig, --context and --rules-from-cluster")
	case e.object == "" && (len(e.related) > 0 || len(*e.crds) > 0):
		return errors.New("--related and --crds go with --object; a cluster knows both")
	case twice(source.Stdin, slices.Concat(e.rules, e.related, []string{e.object})):
		return errors.New("only one of --rules, --object and --related can be read from standard input")
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
	answer, err := at.explain(ctx, set, e.now.Time)
	if err != nil {
		return err
	}
	if err := e.show(answer); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(answer.Obstacles, func(o trace.Obstacle) bool { return o.Kind == trace.NoObject }):
		return told{exitUsage}
	case answer.Decision.Outcome == plan.Failed:
		return errFinding
	default:
		return nil
	}
}

func (e *explaining) show(answer trace.Trace) error {
	if e.output.text == formatJSON {
		return writeJSON(e.Stdout, answer)
	}
	if _, err := io.WriteString(e.Stdout, answer.Tree()); err != nil {
		return internal(fmt.Errorf("writing the explanation: %w", err))
	}
	return nil
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

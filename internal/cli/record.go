//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/scaffold"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

func newRecord(p Process) *cobra.Command {
	e := &explaining{evaluation: evaluation{Process: p, now: clock.RealClock{}.Now()}}
	var directory string
	command := &cobra.Command{
		Use:   "record RESOURCE/NAME --rules PATH...",
		Short: "Make a test of an object in a cluster, and of what rules read of it",
		Long: `Write an object of a cluster, and all other objects that the rules read to decide
about it, as the fixtures of a RuleTest, with the time and a golden: what the rules
decide in the cluster now becomes a test. Nothing is written to the cluster.

Values of Secrets are replaced, and masked where rules have copied them; what rules
decide by such a value, they decide otherwise in the test. Read what is written before
you keep it: names, labels and the rest of objects are as they are.

Exit code: 0; 1 if the test does not pass or the rules are wrong; 2 for wrong usage, or if
a file exists; 3 if the cluster cannot be asked.`,
		Example: `  dyncontroller record tidbclusters/basic --rules rules/ --namespace db
  dyncontroller record pods/web --rules rules/ --directory tests/ --context staging`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return e.record(command.Context(), args[0], directory)
		},
		ValidArgsFunction: func(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return p.completeObject(command, word)
		},
	}
	flags := command.Flags()
	flags.StringArrayVarP(&e.rules, "rules", "f", nil, "`PATH` of the rules: a file or a directory; may be repeated")
	e.params = config.AddParamFlag(flags)
	flags.StringVar(&directory, "directory", ".", "`PATH` of the directory to write to")
	e.cluster = addClusterFlags(flags, clusterAsRun, contextOfKubeconfig, "the namespace `NAME` of the object")
	return command
}

func (e *explaining) record(ctx context.Context, written, directory string) error {
	e.silence()
	if len(e.rules) == 0 {
		return errors.New("record needs rules: name them with --rules")
	}
	target, err := e.reached(ctx, *e.cluster)
	if err != nil {
		return err
	}
	set, _, err := e.loadLive(ctx, target)
	if err != nil {
		return err
	}
	at, err := target.locate(ctx, written, watchedBy(set.Rules()...))
	if err != nil {
		return err
	}
	object, err := at.get(ctx)
	if err != nil {
		return err
	}
	watching := slices.DeleteFunc(set.Rules(), func(rule *rules.Rule) bool { return !slices.Contains(rule.Watched(), at.object.GVR) })
	if len(watching) == 0 {
		return failure{exitUsage, fmt.Errorf("no rule watches %s", at.object.GVR.GroupResource())}
	}
	for _, rule := range watching {
		one := at.as(rule)
		one.missing()
		asked, err := one.explain(ctx, set, e.now)
		if err != nil {
			return err
		}
		for _, o := range asked.Obstacles {
			if slices.Contains([]trace.Kind{trace.Forbidden, trace.NoResource, trace.Unknown}, o.Kind) {
				return internal(fmt.Errorf("what rules read of the cluster cannot be recorded: %s", o.Text))
			}
		}
	}
	name := strings.Join([]string{at.object.GVR.Resource, at.object.Name}, "-")
	test := scaffold.Test{Name: name, Case: "as recorded of " + written, Now: e.now.UTC().Format(time.RFC3339)}
	from, err := filepath.Abs(directory)
	for _, path := range e.rules {
		to, errTo := filepath.Abs(path)
		relative, errRelative := filepath.Rel(from, to)
		if err = errors.Join(err, errTo, errRelative); err != nil {
			return internal(err)
		}
		test.Rules = append(test.Rules, filepath.ToSlash(relative))
	}
	files, err := scaffold.Recorded(test, object, at.definitions(ctx), at.answers)
	if err != nil {
		return internal(err)
	}
	return e.begin(ctx, directory, files, name+"_test.yaml")
}

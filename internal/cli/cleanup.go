package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/dryrun"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// cleaning is a run of the command cleanup.
type cleaning struct {
	Process
	cluster  *config.Cluster
	rules    []string
	all      bool
	dryRun   bool
	yes      bool
	instance string
	shown    int // lines about objects
}

func newCleanup(p Process) *cobra.Command {
	c := &cleaning{Process: p}
	command := &cobra.Command{
		Use:   "cleanup (--rules PATH... | --all)",
		Short: "Clean up in a cluster after rules that are gone",
		Long: `Remove what rules of an instance have left in a cluster and that are not among
--rules any more, whole sets included; or with --all, what any of its rules has
left, as before dyncontroller is uninstalled, which asks first, or takes --yes. Stop
the process of the instance first: it would put back what its rules want.

Finalizers are taken off. Fields that a rule applied are given up: with
"release: Orphan" their values stay, with "release: Remove" they go unless
another client owns them too. Objects that a rule applied with "prune: true" are
deleted, those that it adopted released. Fields that it changed for a while, with
"restore: true", are restored. All other objects stay.

What there may be is known from the inventory of the instance, a ConfigMap in
the namespace of the context or of --namespace.

Exit code: 0 if all is clean; 1 if the rules are wrong or something could not be
cleaned up; 2 for wrong usage; 3 if the inventory cannot be read.`,
		Example: `  dyncontroller cleanup --rules rules/ --dry-run
  dyncontroller cleanup --rules rules/
  dyncontroller cleanup --all --instance staging --namespace dyncontroller --yes`,
		Args: noArgs,
		RunE: func(command *cobra.Command, _ []string) error { return c.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringArrayVarP(&c.rules, "rules", "f", nil, "`PATH` of the rules that stay: a file, a directory or - for standard input; may be repeated")
	flags.BoolVar(&c.all, "all", false, "clean up after all rules of the instance")
	flags.BoolVar(&c.yes, "yes", false, "do not ask before --all")
	flags.BoolVar(&c.dryRun, "dry-run", false, "show what would be cleaned up; the API server checks it and stores nothing")
	flags.StringVar(&c.instance, "instance", config.DefaultInstance, "`NAME` of the instance, as of run")
	c.cluster = addClusterFlags(flags, clusterAsRun, contextOfKubeconfig, "the namespace `NAME` of the inventory, and of a RuleSet that names none")
	return command
}

func (c *cleaning) run(ctx context.Context) error {
	switch {
	case c.all && len(c.rules) > 0:
		return errors.New("--all cleans up after all rules, so none stay: leave out --all or --rules")
	case !c.all && len(c.rules) == 0:
		return errors.New("name the rules that stay with --rules, or clean up after all with --all")
	}
	target, err := c.connect(*c.cluster)
	if err != nil {
		return failure{exitUsage, err}
	}
	current := &rules.Set{}
	if !c.all {
		files := source.New(c.rules, c.Stdin, rules.Options{DefaultNamespace: target.namespace})
		if current, err = files.Load(); err != nil {
			return err
		}
	}
	if err := target.reach(ctx); err != nil {
		return internal(err)
	}
	process, err := client.Dynamic(target.config)
	if err != nil {
		return internal(fmt.Errorf("making a client: %w", err))
	}
	store, err := operator.NewInventory(process, target.namespace, c.instance)
	if err != nil {
		return failure{exitUsage, err}
	}
	book, err := inventory.Load(ctx, store)
	if err != nil {
		return internal(err)
	}
	options, err := c.options(target)
	if err != nil {
		return internal(err)
	}
	if err := c.confirm(target); err != nil {
		return failure{exitUsage, err}
	}
	removed, gone := book.Stale(current.Leftovers(), current.IDs())
	removed, errKept := replaced(ctx, target, current, removed)
	done, err := cleanup.Sweep(ctx, options, slices.Concat(removed, gone))
	err = errors.Join(err, errKept, c.forget(ctx, store, book, current, done))
	if err != nil {
		show(c.Stderr, err)
		return errFinding
	}
	switch {
	case c.shown > 0:
	case len(book.All())+len(book.Limits()) == 0:
		c.print(printable.Sprintf("nothing to clean up: %s is missing or empty; see that --instance and --namespace are those of run\n", store))
	default:
		c.print("nothing to clean up\n")
	}
	return nil
}

// replaced returns those leftovers that no rule may replace of those which stay and cannot work, as the API server does not serve
// what they name. The error says which others there are.
func replaced(ctx context.Context, target *cluster, stay *rules.Set, removed []plan.Leftover) ([]plan.Leftover, error) {
	if len(removed) == 0 {
		return nil, nil
	}
	all, failed, err := discovery.Resources(ctx, target.discovery)
	if err != nil {
		return nil, fmt.Errorf("asking whether what rules name is served: %w", err)
	}
	served := map[apischema.GroupVersionResource]bool{}
	for _, r := range all {
		served[apischema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Name}] = true
	}
	var errs []error
	for _, rule := range stay.Rules() {
		for _, gvr := range rule.Resources() {
			if served[gvr] || !slices.ContainsFunc(removed, rule.Replaces) {
				continue
			}
			cause := cmp.Or[error](failed[gvr.GroupVersion()], rules.Unserved{GVR: gvr})
			errs = append(errs, fmt.Errorf("what rules have left stays until rule %s can work: %w", rule.ID, cause))
			removed = slices.DeleteFunc(removed, rule.Replaces)
		}
	}
	return removed, errors.Join(errs...)
}

// forget takes out of the inventory what is done, and what is stored of the limits of rules that do not stay.
func (c *cleaning) forget(ctx context.Context, store *inventory.ConfigMap, book inventory.Book, stay *rules.Set, done []plan.Leftover) error {
	ids, verb := stay.IDs(), "would forget"
	stays := func(rule plan.Rule, _ limit.Stored) bool { return slices.Contains(ids, rule) }
	gone := book.Limits()
	maps.DeleteFunc(gone, stays)
	if !c.dryRun && len(done)+len(gone) > 0 {
		verb = "forgot"
		_, err := inventory.Update(ctx, store, func(b inventory.Book) inventory.Book {
			limits := b.Limits()
			maps.DeleteFunc(limits, func(rule plan.Rule, s limit.Stored) bool { return !stays(rule, s) })
			unrecorded := func(l plan.Leftover) bool { return !b.Has(l) }
			return b.Limiting(limits).Without(done...).With(slices.DeleteFunc(slices.Clone(stay.Leftovers()), unrecorded)...)
		})
		if err != nil {
			return err //nolint:wrapcheck // It says what was written.
		}
	}
	for _, rule := range slices.SortedFunc(maps.Keys(gone), plan.Rule.Compare) {
		c.print(printable.Sprintf("%s what is stored of the limits of %s\n", verb, rule))
	}
	return nil
}

// confirm asks before all is cleaned up.
func (c *cleaning) confirm(target *cluster) error {
	switch {
	case !c.all || c.dryRun || c.yes:
		return nil
	case !isTerminal(c.Stdin):
		return fmt.Errorf("--all removes what all rules of the instance %q have left in %s; say --yes where nobody can be asked", c.instance, target)
	}
	fmt.Fprintf(c.Stderr, "Remove what all rules of the instance %q have left in %s? [y/N] ", c.instance, printable.Line(target.String()))
	if answer, err := bufio.NewReader(c.Stdin).ReadString('\n'); err != nil || !strings.EqualFold(strings.TrimSpace(answer), "y") {
		return errors.New("nothing was cleaned up")
	}
	return nil
}

// print shows what was done to an object. Whoever reads this may have gone; the exit
// code still tells.
func (c *cleaning) print(text string) {
	if text != "" {
		c.shown++
	}
	_, _ = io.WriteString(c.Stdout, text)
}

// options are those of the sweep, which prints what it does.
func (c *cleaning) options(target *cluster) (cleanup.Options, error) {
	reader, err := live.NewReader(target.config)
	if err != nil {
		return cleanup.Options{}, err
	}
	writer, err := write.NewClient(target.config)
	if err != nil {
		return cleanup.Options{}, err
	}
	options := cleanup.Options{
		Reader:  operator.NewCleanupReader(reader, target.discovery),
		Writer:  writer,
		Observe: func(r cleanup.Report) { c.print(describeCleanup(r)) },
	}
	if c.dryRun {
		simulated := dryrun.New(clock.RealClock{})
		options.Reader, options.Writer = operator.NewCleanupReader(simulated.Reader(reader), target.discovery), simulated.Writer(writer.DryRun())
	}
	return options, nil
}

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

func newRun(p Process) *cobra.Command {
	command := &cobra.Command{
		Use:   "run --rules PATH...",
		Short: "Keep a cluster as the rules say",
		Long: `Watch what the rules name, and write what they want, until interrupted. Writes
that are under way are finished then.

The rules are read again when they change, all of them or none: while a file
is wrong, the rules from before stay in effect, and the log says what is wrong.

What rules leave behind (finalizers, applied fields, objects that they made) is
cleaned up when they are removed from their set, even while nothing ran. It is
recorded in a ConfigMap of the --instance, in the namespace of the process. What
whole sets have left is only reported, unless there is --prune.

Every setting is a flag, a variable (--kube-api-qps is
DYNCONTROLLER_KUBE_API_QPS) and a key of the --config file (kube-api-qps: 50),
in this order of precedence. Without a kubeconfig, the service account of the
pod is used.

Exit code: 0 after an interrupt, or with --once when all has settled; 1 if the
rules are wrong at the start, or with --once if a write failed, a rule could
not be evaluated, a resource could not be listed or something could not be
recorded or cleaned up; 2 for wrong usage; 3 if a server cannot listen or, with
--once, the API server cannot be reached or an interrupt came first.`,
		Example: `  dyncontroller run --rules rules/
  dyncontroller run --rules rules/ --dry-run=server --once
  dyncontroller run -f guardrails.yaml -f labels.yaml --context staging -v 1
  dyncontroller run -f guardrails.yaml --param tidb-guardrails.minStores=5
  dyncontroller run --rules rules/ --instance tidb --prune
  DYNCONTROLLER_WORKERS=16 dyncontroller run --config settings.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("run takes its rules from --rules, have %q", args)
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			settings, err := config.Load(command.Flags(), p.Env)
			if err != nil {
				return failure{exitUsage, err}
			}
			return p.run(command.Context(), settings)
		},
	}
	config.AddFlags(command.Flags())
	command.Flags().SortFlags = false
	completeFlag(command, "dry-run", config.DryRuns())
	completeFlag(command, "logging-format", config.LoggingFormats())
	return command
}

func (p Process) run(ctx context.Context, settings config.Config) error {
	log, kubernetes := newLoggers(p.Stderr, settings.Log)
	if p.KubernetesLog != nil {
		p.KubernetesLog(kubernetes, verbosityOfKubernetes(settings.Log))
	}
	target, err := connect(settings.Cluster, p.version())
	if err != nil {
		return failure{exitUsage, err}
	}
	files := source.New(settings.Rules, p.Stdin, rules.Options{
		DefaultNamespace: target.namespace, Params: settings.Params, Carries: engine.Carries, Schemas: offlineSchemas(),
	})
	schemas := newClusterSchemas(target)
	set, err := files.LoadAsking(ctx, schemas)
	if err != nil {
		return err
	}
	schemas.logTo(log)
	logFindings(log, set)
	setup, err := newSetup(target, settings, p.Stdout, log)
	if err != nil {
		return internal(err)
	}
	if settings.Once {
		return setup.once(ctx, set)
	}
	s := newService(setup, files, p.version())
	return s.run(ctx, set)
}

// setup is an engine that is not running, and what it works with.
type setup struct {
	cluster   *cluster
	settings  config.Config
	out       io.Writer
	log       *slog.Logger
	options   engine.Options
	informers *informer.Set
	show      *printer
}

// newSetup leaves only the observer to be added.
func newSetup(target *cluster, settings config.Config, out io.Writer, log *slog.Logger) (*setup, error) {
	client, err := dynamic.NewForConfig(target.config)
	if err != nil {
		return nil, fmt.Errorf("making a client to watch with: %w", err)
	}
	reader, err := live.NewReader(target.config)
	if err != nil {
		return nil, err
	}
	s := &setup{cluster: target, settings: settings, out: out, log: log}
	s.options = engine.Options{
		Caches: func(handler informer.Handler) engine.Caches {
			s.informers = informer.NewSet(client, handler, log)
			return s.informers
		},
		Live:    reader,
		Log:     log,
		Clock:   clock.RealClock{},
		Workers: settings.Workers,
	}
	if err := s.addWriter(); err != nil {
		return nil, err
	}
	return s, s.addHousekeeping(client, reader)
}

// addHousekeeping does nothing in a dry run, which leaves nothing behind.
func (s *setup) addHousekeeping(client dynamic.Interface, reader *live.Reader) error {
	if s.dryRun() {
		return nil
	}
	book, err := newInventory(s.cluster, client, s.settings.Instance)
	if err != nil {
		return err
	}
	options := cleanup.Options{
		Reader: newAfterlife(s.cluster, reader), Writer: s.options.Writer, Observe: s.observeCleanup, Clock: s.options.Clock,
	}
	s.options.Housekeeping = engine.Housekeeping{
		Inventory: book,
		Sweep: func(ctx context.Context, leftovers []plan.Leftover) ([]plan.Leftover, error) {
			return cleanup.Sweep(ctx, options, leftovers)
		},
		Prune: s.settings.Prune,
	}
	return nil
}

// observeCleanup logs what is cleaned up, and shows it where the writes are shown.
func (s *setup) observeCleanup(r cleanup.Report) {
	logCleanup(s.log, r)
	if s.settings.Once {
		s.show.cleanedUp(r)
	}
}

// addWriter chooses who carries out what the rules want.
func (s *setup) addWriter() (err error) {
	switch s.settings.DryRun {
	case config.DryRunClient:
		s.options.Writer = write.ClientDryRun{}
	case config.DryRunServer:
		s.options.Writer, err = write.NewServerDryRun(s.cluster.config)
	default:
		s.options.Writer, err = write.NewClient(s.cluster.config)
	}
	if err != nil {
		return fmt.Errorf("preparing to write: %w", err)
	}
	show := &printer{out: s.out, body: s.dryRun()}
	s.show = show
	if s.dryRun() || s.settings.Once {
		s.options.Observer = show
	}
	if s.dryRun() {
		s.options.Recorder = show
		return nil
	}
	if s.options.Recorder, err = write.NewRecorder(s.cluster.config, instance(), s.options.Clock); err != nil {
		return fmt.Errorf("preparing to record events: %w", err)
	}
	return nil
}

func (s *setup) dryRun() bool { return s.settings.DryRun != config.DryRunNone }

// instance names this process in Events.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return plan.FieldManager + "-" + cmp.Or(host, "unknown")
}

// once settles what can settle now. Each write is shown when it is made, and
// the sum at the end.
func (s *setup) once(ctx context.Context, set *rules.Set) error {
	if err := s.cluster.reach(ctx); err != nil {
		return internal(err)
	}
	report, err := engine.New(s.options).Settle(ctx, set)
	if _, err := io.WriteString(s.out, describeReport(report, s.show.cleanups(), s.dryRun())); err != nil {
		return internal(fmt.Errorf("writing the report: %w", err))
	}
	switch {
	case err != nil:
		return internal(err)
	case len(report.Failures)+len(report.Unlisted) > 0, report.Unkept != nil:
		return errFinding
	default:
		return nil
	}
}

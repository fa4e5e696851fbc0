package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const runHelp = `Watch what the rules name, and write what they want, until interrupted. Writes
that are under way are finished then.

The rules are read again when they change, all of them or none: while a file
is wrong, the rules from before stay in effect, and the log says what is wrong.

What rules leave behind (finalizers, applied fields, objects that they made) is
cleaned up when they are removed from their set, even while nothing ran. It is
recorded in a ConfigMap of the --instance, in the namespace of the process. What
whole sets have left is only reported, unless there is --prune.

With --rules-from-cluster, the RuleSets and ClusterRuleSets of the cluster are
run too, each as the service account that it names. One that is wrong is refused
in its status, and what it said before stays in effect. What one has left is
recorded in its status, and cleaned up when it is deleted. With --leader-elect,
one of several replicas works at a time; the others keep their caches warm.

Every setting is a flag, a variable (--kube-api-qps is
DYNCONTROLLER_KUBE_API_QPS) and a key of the --config file (kube-api-qps: 50),
in this order of precedence. Without a kubeconfig, the service account of the
pod is used.

Exit code: 0 after an interrupt, or with --once when all has settled; 1 if the
rules are wrong at the start, or with --once if a write failed, a rule could
not be evaluated, a resource could not be listed or something could not be
recorded or cleaned up; 2 for wrong usage; 3 if a server cannot listen, the lease
of a leader is lost or, with --once, the API server cannot be reached or an
interrupt came first.`

func newRun(p Process) *cobra.Command {
	command := &cobra.Command{
		Use:   "run [--rules PATH]... [--rules-from-cluster]",
		Short: "Keep a cluster as the rules say",
		Long:  runHelp,
		Example: `  dyncontroller run --rules rules/
  dyncontroller run --rules rules/ --dry-run=server --once
  dyncontroller run -f guardrails.yaml -f labels.yaml --context staging -v 1
  dyncontroller run -f guardrails.yaml --param tidb-guardrails.minStores=5
  dyncontroller run --rules rules/ --instance tidb --prune
  dyncontroller run --rules-from-cluster --leader-elect
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
	if listen := settings.Listen; listen.Profiling && !listen.Secure && !telemetry.Loopback(listen.Metrics) {
		return failure{exitUsage, fmt.Errorf("--profiling is not for everybody who reaches %s; "+
			"add --metrics-secure, or give --metrics-bind-address an address such as 127.0.0.1:8080", listen.Metrics)}
	}
	log, kubernetes := newLoggers(p.Stderr, settings.Log)
	if p.KubernetesLog != nil {
		p.KubernetesLog(kubernetes, verbosityOfKubernetes(settings.Log))
	}
	target, err := connect(settings.Cluster, p.version())
	if err != nil {
		return failure{exitUsage, err}
	}
	r := newRunner(target, settings, p, log)
	set, err := r.load(ctx)
	if err != nil {
		return err
	}
	if settings.Once {
		return r.once(ctx, set)
	}
	s, err := newService(r)
	if err != nil {
		return internal(err)
	}
	return s.run(ctx, set)
}

// runner is what a run works with, with or without --once.
type runner struct {
	cluster  *cluster
	settings config.Config
	version  string
	out      io.Writer
	log      *slog.Logger
	files    *source.Files   // nil for none
	schemas  *clusterSchemas // that files are loaded by; nil before they are
	show     *printer
	fence    *election.Fence // nil without an election
	options  operator.Options
}

// newRunner prepares an operator, of which only observers may be added.
func newRunner(target *cluster, settings config.Config, p Process, log *slog.Logger) *runner {
	r := &runner{cluster: target, settings: settings, out: p.Stdout, log: log, version: p.version()}
	options := rules.Options{
		DefaultNamespace: target.namespace, Params: settings.Params, Carries: engine.Carries, Schemas: offlineSchemas(),
		Sensitive: func(kind string) bool { return slices.Contains(settings.Sensitive, kind) },
	}
	if len(settings.Rules) > 0 {
		r.files = source.New(settings.Rules, p.Stdin, options)
	}
	options.Params = nil // A set object is changed where it is.
	r.show = &printer{out: r.out, body: r.dryRun(), sorts: r.dryRun() && settings.Once}
	if settings.Election.Enabled {
		r.fence = election.NewFence(settings.Election.Renew)
	}
	r.options = operator.Options{
		Cluster:  operator.Cluster{Config: target.config, Namespace: target.namespace, Discovery: target.discovery},
		Settings: settings, Fence: r.fence, Rules: options, Recorder: r.show, Cleaned: r.cleaned,
		Instance: instance(), Log: log, Clock: clock.RealClock{},
	}
	if r.dryRun() || settings.Once {
		r.options.Observers = append(r.options.Observers, r.show)
	}
	return r
}

// load reads the rules of files, by what the cluster says of their objects.
func (r *runner) load(ctx context.Context) (*rules.Set, error) {
	if r.files == nil {
		return &rules.Set{}, nil
	}
	r.schemas = newClusterSchemas(r.cluster)
	set, err := r.files.LoadAsking(ctx, r.schemas)
	if err != nil {
		return nil, err
	}
	r.schemas.logTo(r.log)
	logFindings(r.log, set)
	return set, nil
}

// cleaned logs what is cleaned up, and shows it where the writes are shown.
func (r *runner) cleaned(report cleanup.Report) {
	logCleanup(r.log, report)
	if r.dryRun() || r.settings.Once {
		r.show.cleanedUp(report)
	}
}

func (r *runner) dryRun() bool { return r.settings.DryRun != config.DryRunNone }

// instance names this process in Events.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return plan.FieldManager + "-" + cmp.Or(host, "unknown")
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
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

With --once, --dry-run or at a terminal, changes are printed to the standard output
and not logged; with -o json always, as an object in each line.

Every setting is a flag, a variable (--kube-api-qps is
DYNCONTROLLER_KUBE_API_QPS) and a key of the --config file (kube-api-qps: 50),
in this order of precedence. Without a kubeconfig, the service account of the
pod is used.

With --once, at most one wave of a rollout is carried out. What waits for a later one
is told, and is no failure.

Exit code: 0 after an interrupt, or with --once when all has settled; 1 if the
rules are wrong at the start, or with --once if a write failed, a rule could
not be evaluated, a resource could not be listed or something could not be
recorded or cleaned up; 2 for wrong usage, or with --once
if a resource was not listed within --cache-sync-timeout; 3 if a server cannot listen, the lease
of a leader is lost or, with --once, the API server cannot be reached or an
interrupt came first.`

func newRun(p Process) *cobra.Command {
	var output *config.Value
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
			return p.run(command.Context(), settings, output.Text == formatJSON)
		},
	}
	output = addOutputFlag(command, "how changes are shown: text, at a terminal and with --once or --dry-run, or json, a line for each", formatText, formatJSON)
	config.AddFlags(command.Flags())
	command.Flags().SortFlags = false
	completeFlag(command, "dry-run", config.DryRuns())
	completeFlag(command, "logging-format", config.LoggingFormats())
	return command
}

// run shows changes on the standard output where somebody reads them there.
func (p Process) run(ctx context.Context, settings config.Config, inJSON bool) error {
	if listen := settings.Listen; listen.Profiling && !listen.Secure && !telemetry.Loopback(listen.Metrics) {
		return failure{exitUsage, fmt.Errorf("--profiling is not for everybody who reaches %s; "+
			"add --metrics-secure, or give --metrics-bind-address an address such as 127.0.0.1:8080", listen.Metrics)}
	}
	log := p.logger(settings.Log)
	var show *printer
	if dryRun := settings.DryRun != config.DryRunNone; inJSON || settings.Once || dryRun || isTerminal(p.Stdout) {
		paint := func(text string) string { return p.painted(text, changeColors) }
		show = &printer{out: p.Stdout, paint: paint, json: inJSON, dryRun: dryRun, sorts: dryRun && settings.Once}
		log = slog.New(untold{log.Handler(), settings.Once})
	}
	target, err := p.connect(settings.Cluster)
	if err != nil {
		return failure{exitUsage, err}
	}
	s, err := newService(target, settings, p, log, show, nil)
	if err != nil {
		return internal(err)
	}
	set, err := s.load(ctx)
	if err != nil {
		return err
	}
	if settings.Once {
		return s.once(ctx, set)
	}
	return s.run(ctx, set)
}

// untold is a log without the changes that are shown on the standard output, and of a run that ends without the failures that its
// report has.
type untold struct {
	slog.Handler
	ends bool
}

// Handle implements [slog.Handler].
func (u untold) Handle(ctx context.Context, record slog.Record) error {
	shown := []string{"wrote", "deleted", "would write", "would delete", "cleaned up", "would clean up"}
	if u.ends {
		shown = append(shown, "rule did not act", "write failed")
	}
	if slices.Contains(shown, record.Message) {
		return nil
	}
	return u.Handler.Handle(ctx, record)
}

// WithAttrs implements [slog.Handler].
func (u untold) WithAttrs(attrs []slog.Attr) slog.Handler {
	return untold{u.Handler.WithAttrs(attrs), u.ends}
}

// load reads the rules of files, by what the cluster says of their objects.
func (s *service) load(ctx context.Context) (*rules.Set, error) {
	if s.files == nil {
		return &rules.Set{}, nil
	}
	schemas := newClusterSchemas(s.cluster, s.operator.Learn, nil)
	set, err := s.files.LoadAsking(ctx, schemas)
	if err != nil {
		return nil, err
	}
	schemas.log = s.log
	s.schemas = append(s.schemas, schemas)
	schemas.report()
	logFindings(s.log, set, &rules.Set{})
	return set, nil
}

// cleaned logs what is cleaned up, and shows it where the writes are shown. Somebody else who was faster is no trouble.
func (s *service) cleaned(report cleanup.Report) {
	target := report.Operation.Target
	log := s.log.With("gvr", plan.ResourceName(target.GVR), "namespace", target.Namespace, "name", target.Name,
		"rule", report.Leftover.Rule.String(), "what", string(report.Leftover.Kind))
	switch {
	case report.Result.Class == write.Stale:
		log.Debug("cleaning up was out of date", "err", report.Result.Err)
	case report.Result.Class.Failed():
		log.Warn("not cleaned up", "class", string(report.Result.Class), "err", report.Result.Err)
	case report.Result.Class == write.Simulated:
		log.Info("would clean up")
	default:
		log.Info("cleaned up")
	}
	if s.show != nil {
		s.show.cleanedUp(report)
	}
}

func (s *service) dryRun() bool { return s.settings.DryRun != config.DryRunNone }

// logFindings logs what is doubtful about rules that can be used, and what could not be checked of them. What was found
// of the rules before, too, has been logged.
func logFindings(log *slog.Logger, set, before *rules.Set) {
	for _, found := range set.Warnings() {
		if slices.ContainsFunc(before.Warnings(), func(known *document.Error) bool { return known.Code == found.Code && known.Error() == found.Error() }) {
			continue
		}
		where := []any{"file", found.File, "line", found.Line, "code", string(found.Code), "finding", found.Message, "hint", found.Hint}
		switch {
		case found.Severity == document.Warning:
			log.Warn("rules have a warning", where...)
		case found.Code == document.CodeUntyped:
			log.Info("rules are not checked against a schema", where[:len(where)-2]...) // The hint names flags that run does not have.
		}
	}
}

// once settles what can settle now. Each write is shown when it is made, and the sum at
// the end.
func (s *service) once(ctx context.Context, set *rules.Set) error {
	release, err := s.claim(ctx)
	if err != nil {
		return err
	}
	defer release()
	settled, err := s.settle(ctx, set)
	if err != nil {
		return err
	}
	report, refused := settled.report, settled.refused
	s.show.finish()
	text := s.show.paint(describeReport(report, refused, int(s.show.cleaned.Load()), s.dryRun()))
	if s.show.json {
		data, err := json.Marshal(map[string]any{
			"objects": report.Objects, "written": report.Written, "simulated": report.Simulated, "audited": report.Audited, "waiting": report.Waiting,
			"cleanedUp": s.show.cleaned.Load(), "failures": append([]string{}, failureLines(report, refused)...),
			"waitingForWave": append([]string{}, lines(report.Deferred)...),
		})
		if err != nil {
			return internal(fmt.Errorf("encoding the report: %w", err))
		}
		text = string(data) + "\n"
	}
	if err := put(s.show.out, "the report", text); err != nil {
		return err
	}
	switch {
	case settled.cut != nil:
		return settled.cut
	case report.TimedOut:
		return failure{code: exitUsage}
	case len(report.Failures)+len(report.Unlisted)+len(refused) > 0, report.Unkept != nil:
		return errFinding
	default:
		return nil
	}
}

// settlement is what settling has come to.
type settlement struct {
	report  engine.Report // of all identities together
	refused []error       // why a set, or an identity, does not run
	cut     error         // why it did not come to an end
	secrets bool          // Rules watch or read Secrets, or it is not known which rules there are.
}

func (s *service) settle(ctx context.Context, set *rules.Set) (out settlement, err error) {
	if err := s.cluster.reach(ctx); err != nil {
		return out, internal(err)
	}
	var objects []source.Object
	if s.settings.FromCluster {
		if objects, err = s.cluster.setObjects(ctx, ""); err != nil {
			return out, internal(err)
		}
	}
	for _, err := range s.operator.Take(ctx, set, objects, newClusterSchemas(s.cluster, nil, nil)) {
		out.refused = append(out.refused, fmt.Errorf("running %w", err))
	}
	all, err := s.operator.Settle(ctx)
	if err != nil {
		out.cut = internal(err)
	}
	report := &out.report
	for _, one := range all { // of each identity
		report.Objects += one.Objects
		report.Written += one.Written
		report.Simulated += one.Simulated
		report.Audited += one.Audited
		report.Waiting += one.Waiting
		report.Failures = append(report.Failures, one.Failures...)
		report.Deferred = append(report.Deferred, one.Deferred...)
		report.Unlisted = append(report.Unlisted, one.Unlisted...)
		report.TimedOut = report.TimedOut || one.TimedOut
		report.Unkept = errors.Join(report.Unkept, one.Unkept)
		if one.Refused != nil {
			out.refused = append(out.refused, one.Refused)
		}
		out.secrets = out.secrets || one.Secrets
	}
	out.secrets = out.secrets || len(out.refused) > 0
	return out, nil
}

// kubernetesVerbosity is the first -v at which the Kubernetes client is asked
// for more than warnings and errors.
const kubernetesVerbosity = 4

// mostKubernetesVerbosity is the last one: with the next, the client logs what it sends and
// receives, Secrets and all.
const mostKubernetesVerbosity = 7

// logger returns our logger, and has the Kubernetes client log beside it.
func (p Process) logger(c config.Log) *slog.Logger {
	ours, kubernetes := newLoggers(p.Stderr, c)
	if p.KubernetesLog != nil {
		p.KubernetesLog(kubernetes, verbosityOfKubernetes(c))
	}
	return ours
}

// newLoggers returns a logger for us and one for the Kubernetes client, which share a writer.
func newLoggers(out io.Writer, c config.Log) (ours, kubernetes *slog.Logger) {
	log := func(level slog.Level) *slog.Logger {
		options := &slog.HandlerOptions{Level: level}
		if c.JSON {
			return slog.New(slog.NewJSONHandler(out, options))
		}
		return slog.New(slog.NewTextHandler(out, options))
	}
	level := slog.LevelInfo
	if c.Verbosity > 0 {
		level = slog.LevelDebug
	}
	// The Kubernetes client maps verbosity n to level -n.
	return log(level), log(slog.Level(-verbosityOfKubernetes(c)))
}

func verbosityOfKubernetes(c config.Log) int {
	if c.Verbosity < kubernetesVerbosity {
		return 0
	}
	return min(c.Verbosity, mostKubernetesVerbosity)
}

// KubernetesLog has the Kubernetes client log to log, for the whole process. It
// must be called before the client is used.
func KubernetesLog(log *slog.Logger, verbosity int) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	// The flag is klog's own, and a number is what it takes.
	_ = flags.Set("v", strconv.Itoa(verbosity))
	klog.SetSlogLogger(log)
}

// silence keeps the API server's code in a simulated cluster from logging what it
// answers: its answers are what is shown.
func (p Process) silence() {
	if p.KubernetesLog != nil {
		p.KubernetesLog(slog.New(slog.DiscardHandler), 0)
	}
}

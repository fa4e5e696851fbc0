//go:build !operator

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// dryRun is a dry run on the server that settles, for a command that shows what would become of objects. It is safe for concurrent use.
type dryRun struct {
	Process
	// note is told each write that the API server has taken, with the object before and after it, nil for none, and what of them is not
	// shown. It reports whether that changes something.
	note func(operation plan.Operation, before, answer map[string]any, hidden *redact.Values) bool
	// objects counts those that would change so far.
	objects  func() int
	settling atomic.Bool // The rules are loaded.
}

// dryRunCommand adds to a command the flags of run, shown as far as they matter for it, and has it do a dry run.
func dryRunCommand(command *cobra.Command, p Process, run func(ctx context.Context, settings config.Config) error) *cobra.Command {
	config.AddFlags(command.Flags())
	paths := command.Flags().Lookup("rules")
	paths.Usage = strings.TrimSuffix(paths.Usage, "; watched for changes")
	for _, name := range []string{
		"dry-run", "once", "leader-elect", "leader-elect-lease-duration", "leader-elect-renew-deadline",
		"leader-elect-retry-period", "leader-elect-resource-lock", "leader-elect-resource-name", "leader-elect-resource-namespace",
		"metrics-bind-address", "metrics-secure", "metrics-cert-dir", "profiling", "health-probe-bind-address", "force",
	} {
		command.Flags().Lookup(name).Hidden = true
	}
	command.Args = noArgs
	command.RunE = func(command *cobra.Command, _ []string) error {
		settings, err := config.Load(command.Flags(), p.Env)
		if err == nil {
			err = run(command.Context(), settings)
		}
		if code := (failure{}); err == nil || errors.As(err, &code) && code.err == nil {
			return err
		}
		return failure{exitUsage, err} // As of diff and kubectl diff, 1 says that something differs.
	}
	return command
}

// settle loads the rules and has them settle, with what is set of the options besides. It returns the rules that were in effect.
func (d *dryRun) settle(ctx context.Context, settings config.Config, set func(*operator.Options)) (out settlement, inEffect *rules.Set, err error) {
	settings.Once, settings.DryRun = true, config.DryRunServer
	settings.Listen, settings.Election = config.Listen{}, config.Election{}
	log := d.logger(settings.Log)
	if settings.Log.Verbosity == 0 { // What fails is told in the end.
		log = slog.New(waits{d.Stderr})
	}
	stop := d.tellProgress(ctx)
	defer stop()
	target, err := d.connect(settings.Cluster)
	if err != nil {
		return out, nil, err
	}
	s, err := newService(target, settings, d.Process, log, nil, func(options *operator.Options) {
		options.Writer = d.writer
		set(options)
	})
	if err != nil {
		return out, nil, err
	}
	loaded, err := s.load(ctx)
	if err != nil {
		return out, nil, err
	}
	fmt.Fprint(d.Stderr, loaded.Warnings().Of(document.Warning).Render())
	d.settling.Store(true)
	out, err = s.settle(ctx, loaded)
	return out, s.inEffect.Load(), cmp.Or(err, out.cut)
}

// waits is a log that shows only what a dry run waits for, and why.
type waits struct{ out io.Writer }

// Enabled implements [slog.Handler].
func (w waits) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements [slog.Handler].
func (w waits) Handle(_ context.Context, record slog.Record) error {
	if !slices.Contains([]string{"cannot list or watch", "the first list takes longer than ten seconds"}, record.Message) {
		return nil
	}
	what, why := "", record.Message
	for attr := range record.Attrs {
		err, is := attr.Value.Any().(error)
		switch {
		case attr.Key == "gvr":
			what = attr.Value.String()
		case is && write.Classify(err) == write.Terminal:
			return nil // It is not waited for.
		case is:
			why = err.Error()
		}
	}
	_, err := fmt.Fprintf(w.out, "waiting for %s: %s\n", what, printable.Line(why))
	return err //nolint:wrapcheck // The logger drops it.
}

// WithAttrs implements [slog.Handler].
func (w waits) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements [slog.Handler].
func (w waits) WithGroup(string) slog.Handler { return w }

// progress is how often a dry run that takes long says so.
const progress = 2 * time.Second

// tellProgress tells a person who waits at a terminal that something happens, until it is stopped.
func (d *dryRun) tellProgress(ctx context.Context) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	if isTerminal(d.Stderr) {
		go wait.PollUntilContextCancel(ctx, progress, false, func(context.Context) (bool, error) { //nolint:errcheck // It ends when it is stopped.
			fmt.Fprintln(d.Stderr, d.doing())
			return false, nil
		})
	}
	return stop
}

// doing says what takes so long.
func (d *dryRun) doing() string {
	if !d.settling.Load() {
		return "reading the rules, and the schemas that the API server has for them"
	}
	return fmt.Sprintf("asking the API server what would change: %s so far", document.Count(d.objects(), "object"))
}

// writer wraps the writer of a dry run.
func (d *dryRun) writer(writer cleanup.Writer, reader *live.Reader) cleanup.Writer {
	return noting{writer, reader, d}
}

// noting is a writer that has what it simulates noted.
type noting struct {
	cleanup.Writer
	reader *live.Reader
	dryRun *dryRun
}

// Write implements [cleanup.Writer].
func (n noting) Write(ctx context.Context, operation plan.Operation) write.Result {
	target, result := operation.Target, n.Writer.Write(ctx, operation)
	if body, _ := operation.Body.(map[string]any); operation.Orphans() && len(body) > 0 && result.Class == write.Simulated {
		// The API server has let go of fields, and not applied the others. It does that for a manager that owns nothing.
		rest := operation
		rest.GivesUp, rest.Manager, rest.Force = false, plan.FieldManager+"-diff", true
		result = n.Writer.Write(ctx, rest)
	}
	if result.Class != write.Simulated {
		return result
	}
	var before map[string]any
	if target.UID != "" {
		var err error
		if before, err = n.reader.Get(live.Keeping(ctx, nil), target.GVR, target.Namespace, target.Name); err != nil {
			return write.Result{Class: write.Classify(err), Err: err}
		}
	}
	if versionOf(before) != target.ResourceVersion {
		return write.Result{Class: write.Stale, Err: errors.New("another client has changed it meanwhile")}
	}
	if !n.dryRun.note(operation, before, result.Object, redact.Hidden(ctx)) {
		result.Class = write.Unchanged
	}
	return result
}

func versionOf(object map[string]any) string { return plan.Text(object, "metadata", "resourceVersion") }

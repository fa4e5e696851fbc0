package cli

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"strconv"

	"k8s.io/klog/v2"

	"github.com/dyncontroller/dyncontroller/internal/config"
)

// kubernetesVerbosity is the first -v at which the Kubernetes client is asked
// for more than warnings and errors.
const kubernetesVerbosity = 4

// mostKubernetesVerbosity is the last one: with the next, the client logs what it sends and
// receives, Secrets and all.
const mostKubernetesVerbosity = 7

// newLoggers returns a logger for us and one for the Kubernetes client. They
// share a writer, and lines of theirs do not mix.
func newLoggers(out io.Writer, c config.Log) (ours, kubernetes *slog.Logger) {
	verbosity := verbosityOfKubernetes(c)
	level := slog.LevelInfo
	if c.Verbosity > 0 {
		level = slog.LevelDebug
	}
	// The Kubernetes client maps verbosity n to level -n.
	most := slog.Level(-verbosity)
	options := &slog.HandlerOptions{Level: min(level, most)}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if c.JSON {
		handler = slog.NewJSONHandler(out, options)
	}
	return slog.New(leveled{handler, level}), slog.New(leveled{handler, most})
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

// leveled is a handler that several loggers share, each with its level.
type leveled struct {
	slog.Handler
	level slog.Level
}

// Enabled implements [slog.Handler].
func (l leveled) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }

// WithAttrs implements [slog.Handler].
func (l leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return leveled{l.Handler.WithAttrs(attrs), l.level}
}

// WithGroup implements [slog.Handler].
func (l leveled) WithGroup(name string) slog.Handler {
	return leveled{l.Handler.WithGroup(name), l.level}
}

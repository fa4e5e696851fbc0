package worlds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// replica is the program: what run starts, less listeners and signals.
type replica struct {
	operator *operator.Operator
	line     *line
	end      context.CancelFunc
	ended    sync.WaitGroup
	log      bytes.Buffer // once it has ended
}

// start runs the program with rules of files.
func (w *World) start(ctx context.Context, set *rules.Set) error {
	w.started++
	r := &replica{line: &line{next: w.server.Transport(w.stored)}}
	if w.started <= len(w.faults) {
		r.line.faults = w.faults[w.started-1]
	}
	cluster := w.config(recorded{r.line, w.history, fmt.Sprintf("run-%d", w.started)})
	discovery, err := discovery.NewClient(cluster)
	if err != nil {
		return fmt.Errorf("making a client for discovery: %w", err)
	}
	r.operator, err = operator.New(operator.Options{
		Cluster:  operator.Cluster{Config: cluster, Namespace: "system", Discovery: discovery},
		Settings: config.Config{Rules: []string{"rules.yaml"}, Instance: "world", Workers: 2, DryRun: config.DryRunNone},
		Rules:    rules.Options{Sensitive: func(string) bool { return false }},
		Instance: "world", Log: slog.New(slog.NewTextHandler(&r.log, nil)), Clock: clock.RealClock{},
	})
	if err != nil {
		return fmt.Errorf("making an operator: %w", err)
	}
	if err := r.operator.SetFiles(set); err != nil {
		return fmt.Errorf("giving it rules: %w", err)
	}
	ctx, r.end = context.WithCancel(ctx)
	r.ended.Go(func() { r.operator.Run(ctx) })
	r.ended.Go(func() { r.operator.Lead(ctx) })
	w.replica = r
	return nil
}

// stop ends the replica in order.
func (w *World) stop() {
	w.replica.end()
	w.replica.ended.Wait()
	w.replica = nil
}

// crash ends it from one moment to the next: nothing that it sends arrives any more, and no answer.
func (w *World) crash() {
	w.replica.line.cut.Store(true)
	w.stop()
}

var errCut = errors.New("the process is gone")

// line is the connection of a replica to the API server.
type line struct {
	next   http.RoundTripper
	faults Faults
	sent   atomic.Int64
	cut    atomic.Bool
}

// RoundTrip implements [http.RoundTripper].
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.cut.Load() {
		return nil, errCut
	}
	out, err := l.faults.carry(int(l.sent.Add(1)), r, l.next)
	if l.cut.Load() && err == nil {
		_ = out.Body.Close() // Nobody reads it.
		return nil, errCut
	}
	return out, err
}

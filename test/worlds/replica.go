package worlds

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// replica is the program: what run starts, less listeners and signals.
type replica struct {
	operator  *operator.Operator
	objects   *source.Objects     // nil where the rules are in a file
	candidate *election.Candidate // nil where it is the only one
	line      *line
	stop      context.CancelFunc // in order
	stopped   context.Context    //nolint:containedctx // It is that of stop.
	log       bytes.Buffer       // once it has ended
}

// The times of the lease: those of the defaults, times three, since each renewal is a request.
const (
	leaseDuration = 45 * time.Second
	renewDeadline = 30 * time.Second
	retryPeriod   = 6 * time.Second
)

// name is how the history calls the process of a number, from 0.
func name(number int) string { return fmt.Sprintf("run-%d", number+1) }

// newReplica returns the program before it runs.
func (w *World) newReplica(elected bool) (*replica, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := name(len(w.replicas))
	r := &replica{line: &line{network: w.network, as: name, gone: make(chan struct{})}}
	for _, d := range w.disturbances {
		if d.replica == len(w.replicas) {
			r.line.disturbances = append(r.line.disturbances, d)
		}
	}
	r.line.counts = make([]int, len(r.line.disturbances))
	w.replicas = append(w.replicas, r)
	r.stopped, r.stop = context.WithCancel(context.Background())
	r.line.crash = sync.OnceFunc(func() {
		close(r.line.gone)
		r.stop()
	})
	cluster := connected(r.line)
	discovery, err := discovery.NewClient(cluster)
	if err != nil {
		return nil, fmt.Errorf("making a client for discovery: %w", err)
	}
	options := operator.Options{
		Cluster:  operator.Cluster{Config: cluster, Namespace: "system", Discovery: discovery},
		Settings: config.Config{Instance: "world", Workers: 2, DryRun: config.DryRunNone},
		Rules:    rules.Options{Sensitive: func(string) bool { return false }},
		Instance: name, Log: slog.New(slog.NewTextHandler(&r.log, nil)).With("replica", name), Clock: clock.RealClock{},
	}
	if options.Settings.FromCluster = w.inCluster; !w.inCluster {
		options.Settings.Rules = []string{"rules.yaml"}
	}
	if elected {
		options.Fence = election.NewFence(renewDeadline)
		r.candidate, err = election.New(cluster, election.Options{
			Namespace: "system", Name: "dyncontroller", Lease: leaseDuration, Retry: retryPeriod, Fence: options.Fence, Log: options.Log,
		})
		if err != nil {
			return nil, fmt.Errorf("making a candidate: %w", err)
		}
	}
	if r.operator, err = operator.New(options); err != nil {
		return nil, fmt.Errorf("making an operator: %w", err)
	}
	files := w.set
	if options.Settings.FromCluster {
		process, err := dynamic.NewForConfig(cluster)
		if err != nil {
			return nil, fmt.Errorf("making a client of set objects: %w", err)
		}
		files, r.objects = &rules.Set{}, source.NewObjects(process, options.Log)
	}
	if err := r.operator.SetFiles(files); err != nil {
		return nil, fmt.Errorf("giving it rules: %w", err)
	}
	return r, nil
}

// run works until the context ends, it is stopped, or it loses the lease. It is for one call.
func (r *replica) run(ctx context.Context) {
	defer r.line.crash() // Nothing of it arrives any more.
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	leading, leave := context.WithCancel(ctx)
	heed := context.AfterFunc(r.stopped, leave)
	defer heed()
	var caches sync.WaitGroup
	caches.Go(func() { r.operator.Run(working) })
	if r.objects != nil {
		caches.Go(func() { r.objects.Run(working) })
		caches.Go(func() { r.operator.Follow(working, r.objects, newKnown()) })
	}
	_ = r.candidate.Run(leading, func(ctx context.Context) error { // It has lost the lease, or not: it ends, and is started again.
		r.operator.Lead(ctx)
		return nil
	})
	leave()
	cancel()
	caches.Wait()
}

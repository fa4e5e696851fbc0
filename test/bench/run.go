package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// figures are what was measured of one process, by the keys of rows.
type figures map[string]float64

// runner measures one job.
type runner struct {
	options  options
	job      job
	stage    *stage
	observer *observer
	dir      string // for rule files and logs
	self     string // the path of this program, which has the controllers
	runs     int
}

// contender is a program that does a job.
type contender struct {
	name   string
	binary string // of dyncontroller; empty for a controller of the package controllers.
}

// parseContender reads a name, or NAME=PATH.
func parseContender(text string) contender {
	name, path, is := strings.Cut(text, "=")
	switch {
	case is:
		return contender{name, path}
	case name == "dyncontroller":
		return contender{name, filepath.Join("bin", "dyncontroller-operator")} // The program that clusters run.
	default:
		return contender{name, ""}
	}
}

// command is the command line of a contender that is to write the given value.
func (r *runner) command(c contender, want string) []string {
	workers := strconv.Itoa(r.options.process.workers)
	if c.binary == "" {
		return []string{
			r.self, "controller", "-job", r.job.name, "-name", c.name, "-workers", workers,
			"-kubeconfig", r.stage.plane.Kubeconfig(), "-want", want,
		}
	}
	return []string{
		c.binary, "run", "--rules", filepath.Join(r.dir, r.job.name+".yaml"), "--param", r.job.name + ".tier=" + want, "--workers", workers,
		"--kubeconfig", r.stage.plane.Kubeconfig(), "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
	}
}

// environment is that of this process with the same settings of the garbage collector for all, which tells what it does.
func (r *runner) environment() []string {
	kept := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOMAXPROCS"}, name)
	})
	return append(kept, "GOGC="+r.options.process.gogc, "GOMEMLIMIT="+r.options.process.memLimit, "GODEBUG=gctrace=1")
}

// measure runs a contender through all phases.
func (r *runner) measure(ctx context.Context, c contender) (figures, error) {
	r.runs++
	run := run{runner: r, contender: c, want: "r" + strconv.Itoa(r.runs), of: figures{}}
	err := run.working(ctx)
	if err == nil {
		err = r.stage.clear(ctx, tidbClusters(), createdLabel)
	}
	if err == nil && r.options.measures("restart") {
		err = run.restart(ctx)
	}
	if err == nil && r.job.children {
		err = r.stage.clear(ctx, configMaps(), "app=bench")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return run.of, nil
}

// run is one contender in one round.
type run struct {
	*runner

	contender contender
	want      string
	of        figures
}

// start starts the contender. Its log is read when it has stopped.
func (r *run) start(ctx context.Context, phase string) (*process, error) {
	log := filepath.Join(r.dir, fmt.Sprintf("%s-%s-%s-%s.log", r.job.name, r.contender.name, r.want, phase))
	return startProcess(ctx, log, r.environment(), r.command(r.contender, r.want)...)
}

// working is the life of one process: the backlog, then updates that do not matter, then new objects.
func (r *run) working(ctx context.Context) (err error) {
	r.observer.expect(r.want)
	before, err := r.stage.requests(ctx)
	if err != nil {
		return err
	}
	server, err := r.stage.cpu(ctx)
	if err != nil {
		return err
	}
	p, err := r.start(ctx, "working")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()

	toDo := r.options.objects
	if !r.job.all {
		toDo /= 2
	}
	matched, err := r.observer.waitMatched(ctx, p, toDo)
	if err != nil {
		return err
	}
	serverNow, err := r.stage.cpu(ctx)
	if err != nil {
		return err
	}
	if err := p.settle(ctx, r.options.quiet); err != nil {
		return err
	}
	first, middle, last := matched[0], matched[toDo/2], matched[toDo-1]
	r.of["backlog.seconds"] = last.Sub(p.began).Seconds()
	r.of["backlog.first"] = first.Sub(p.began).Seconds()
	r.of["backlog.rate"] = float64(toDo-1) / last.Sub(first).Seconds()
	r.of["backlog.laterate"] = float64(toDo-1-toDo/2) / last.Sub(middle).Seconds()
	r.of["backlog.server"] = serverNow - server
	if err := errors.Join(r.settled("backlog", p, 0), r.requests(ctx, "backlog", before)); err != nil {
		return err
	}
	if r.options.measures("irrelevant") {
		if err := r.irrelevant(ctx, p); err != nil {
			return err
		}
	}
	if r.options.measures("latency") {
		return r.latency(ctx, p)
	}
	return nil
}

// irrelevant measures what updates cost of which the contender needs to know nothing.
func (r *run) irrelevant(ctx context.Context, p *process) error {
	before, err := p.cpu()
	if err != nil {
		return p.ended(err)
	}
	if err := r.stage.disturb(ctx, r.options.updates, 1000*r.runs); err != nil {
		return fmt.Errorf("making updates that do not matter: %w", err)
	}
	if err := p.settle(ctx, r.options.quiet); err != nil {
		return err
	}
	return r.settled("irrelevant", p, before)
}

// latency creates objects one by one, each when the one before is as it should be.
func (r *run) latency(ctx context.Context, p *process) error {
	before, err := p.cpu()
	if err != nil {
		return p.ended(err)
	}
	var times []float64
	for i := range r.options.creations {
		name := fmt.Sprintf("created-%s-%06d", r.want, i)
		if err := r.stage.create(ctx, name, 3, map[string]string{createdLabel: "true"}); err != nil {
			return fmt.Errorf("creating an object: %w", err)
		}
		took, err := r.observer.waitLatency(ctx, p, name)
		if err != nil {
			return err
		}
		times = append(times, float64(took)/float64(time.Millisecond))
	}
	if err := p.settle(ctx, r.options.quiet); err != nil {
		return err
	}
	slices.Sort(times)
	r.of["latency.p50"], r.of["latency.p99"], r.of["latency.p999"] = quantile(times, 0.5), quantile(times, 0.99), quantile(times, 0.999)
	return r.settled("latency", p, before)
}

// restart starts the contender where there is nothing left to do.
func (r *run) restart(ctx context.Context) (err error) {
	r.observer.expect("")
	before, err := r.stage.requests(ctx)
	if err != nil {
		return err
	}
	p, err := r.start(ctx, "restart")
	if err != nil {
		return err
	}
	settled := errors.Join(p.settle(ctx, r.options.quiet), r.settled("restart", p, 0), r.requests(ctx, "restart", before))
	if err := errors.Join(settled, p.stop()); err != nil {
		return err
	}
	log, err := os.Open(p.log)
	if err != nil {
		return err
	}
	defer log.Close()
	heap, err := parseHeap(log)
	r.of["restart.heap"], r.of["restart.heappeak"] = float64(heap.last), float64(heap.peak)
	if heap.last > 0 {
		r.of["restart.heapratio"] = float64(heap.peak) / float64(heap.last)
	}
	return err
}

// settled notes the memory of a process that has settled, and its CPU time since an earlier moment.
func (r *run) settled(phase string, p *process, since time.Duration) error {
	cpu, err := p.cpu()
	if err != nil {
		return p.ended(err)
	}
	m, err := p.memory()
	if err != nil {
		return p.ended(err)
	}
	r.of[phase+".cpu"] = (cpu - since).Seconds()
	r.of[phase+".anonymous"] = float64(m.anonymous) / (1 << 20)
	r.of[phase+".file"] = float64(m.file) / (1 << 20)
	r.of[phase+".rss"] = float64(m.anonymous+m.file) / (1 << 20)
	r.of[phase+".peak"] = float64(m.peak) / (1 << 20)
	r.of[phase+".anonymouspeak"] = float64(p.peakOfAnonymous()) / (1 << 20)
	return nil
}

// requests counts what the API server has answered in a phase, by verb. A watch counts when it ends, so it is not among them.
func (r *run) requests(ctx context.Context, phase string, before controlplane.Requests) error {
	after, err := r.stage.requests(ctx)
	if err != nil {
		return err
	}
	for _, what := range []string{"LIST", "GET", "POST", "PUT", "PATCH", "APPLY", "DELETE", "other", "writes"} {
		r.of[phase+"."+what] = 0
	}
	since := after.Since(before)
	for request, n := range since {
		verb := request.Verb
		switch request.Resource {
		case "leases": // The API server renews its own.
			continue
		case "":
			verb = "other" // Discovery, schemas.
		}
		r.of[phase+"."+verb] += float64(n)
	}
	for request, n := range since.Writes() {
		if request.Resource != "leases" {
			r.of[phase+".writes"] += float64(n)
		}
	}
	return nil
}

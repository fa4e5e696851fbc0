package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

const replicas = 4 // of each ReplicaSet

// figures are what was measured of a run, by the columns of the table.
type figures [7]float64

func figureNames() []string {
	return []string{"s", "creates", "status writes", "Events", "reads", "CPU s", "peak MB"}
}

// race has ReplicaSets settle from nothing, by turns with each of the two.
func race(ctx context.Context, sets, rounds int, out io.Writer) (err error) {
	s, err := setStage(ctx)
	if err != nil {
		return err
	}
	defer func() { err = s.strike(err) }()
	collecting, err := s.kubeControllerManager(ctx, collector)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, collecting.stop()) }()
	w, err := watch(ctx, s.client, []string{"replicasets", "pods"})
	if err != nil {
		return err
	}
	p, failed := s.place(ctx, w, "speed")
	// The collector reads the whole cluster first.
	if err := errors.Join(*failed, w.settle(ctx, p.namespace, 10*time.Second, 0)); err != nil {
		return err
	}
	names := []string{theirName, "dyncontroller"}
	fmt.Fprintf(out, "%d ReplicaSets of %d replicas exist when the program starts; the time ends when all Pods are there and all statuses are right. "+
		"kube-controller-manager runs its replicaset controller alone, dyncontroller is `bin/dyncontroller-operator`; another kube-controller-manager "+
		"collects garbage beside both. The two ran alternately, %d rounds each, on %d processors; a cell is the median (minimum-maximum). "+
		"CPU time and memory are those of the program, "+
		"and a watch counts as a read when it begins.\n\n", sets, replicas, rounds, runtime.NumCPU())
	fmt.Fprintf(out, "| limit, requests/s | | %s |\n|---|---|%s\n", strings.Join(figureNames(), " | "), strings.Repeat("---|", len(figureNames())))
	for _, limit := range [][2]int{{1000, 2000}, {20, 30}} {
		flags := []string{fmt.Sprintf("--kube-api-qps=%d", limit[0]), fmt.Sprintf("--kube-api-burst=%d", limit[1])}
		all := map[string][]figures{}
		for round := range rounds * 2 {
			name := names[(round+round/2)%2] // Each is first in turn.
			one, err := s.lap(ctx, p, name, sets, flags)
			if err = errors.Join(err, *failed); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			all[name] = append(all[name], one)
			fmt.Fprintf(os.Stderr, "%d requests/s: %s took %.1f s\n", limit[0], name, one[0])
		}
		for _, name := range names {
			fmt.Fprintf(out, "| %d, burst %d | %s |", limit[0], limit[1], name)
			for i := range figureNames() {
				fmt.Fprintf(out, " %s |", spread(all[name], i))
			}
			fmt.Fprintln(out)
		}
	}
	return nil
}

// spread is the median of a figure, with the least and the most.
func spread(of []figures, i int) string {
	var values []float64
	for _, f := range of {
		values = append(values, f[i])
	}
	slices.Sort(values)
	first, middle, last := values[0], values[len(values)/2], values[len(values)-1]
	if i == 0 || i == 5 {
		return fmt.Sprintf("%.1f (%.1f-%.1f)", middle, first, last)
	}
	return fmt.Sprintf("%.0f (%.0f-%.0f)", middle, first, last)
}

// lap measures one of the two from its start until all Pods and statuses are there.
func (s *stage) lap(ctx context.Context, p *place, name string, sets int, flags []string) (f figures, err error) {
	b, err := readBook("replicaset")
	if err != nil {
		return f, err
	}
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range sets {
		group.Go(func() error {
			labels := object{"app": fmt.Sprintf("set-%d", i)}
			_, err := p.of("replicasets").Create(creating, &unstructured.Unstructured{Object: merged(b.Bases["set"], object{
				"metadata": object{"name": labels["app"]}, "spec": object{
					"replicas": replicas, "selector": object{"matchLabels": labels}, "template": object{"metadata": object{"labels": labels}},
				},
			})}, metav1.CreateOptions{})
			return err
		})
	}
	there := func() bool { return len(p.world.list("replicasets", p.namespace)) == sets }
	if err := group.Wait(); err != nil || !controlplane.Wait(time.Minute, there) {
		return f, fmt.Errorf("creating ReplicaSets: %w", err)
	}
	began := time.Now()
	var running runner
	if name == theirName {
		running, err = s.kubeControllerManager(ctx, "replicaset-controller", flags...)
	} else {
		rules := filepath.Join("examples", "rules", "replicaset", "replicaset.yaml")
		running, err = s.run(ctx, name, append([]string{filepath.Join("bin", "dyncontroller-operator"), "run"}, append(s.runFlags(rules), flags...)...)...)
	}
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, running.stop(), s.sweep(ctx, p)) }()
	for !settled(p, sets) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return f, ctx.Err()
		}
		if time.Since(began) > 20*time.Minute {
			return f, errors.New("it did not settle")
		}
	}
	f[0] = time.Since(began).Seconds()
	if err := p.world.settle(ctx, p.namespace, 5*time.Second, 5*time.Second); err != nil {
		return f, err
	}
	f[5], f[6], err = usage(running.pid)
	if err != nil {
		return f, err
	}
	requests, err := s.requests(began, name)
	for _, r := range requests {
		switch {
		case strings.Contains(r.UserAgent, "garbage-collector"): // It runs beside both.
		case !r.writes():
			f[4]++
		case r.ObjectRef.Resource == "events":
			f[3]++
		case r.ObjectRef.Subresource == "status":
			f[2]++
		default:
			f[1]++
		}
	}
	return f, err
}

func settled(p *place, sets int) bool {
	if len(p.world.list("pods", p.namespace)) != sets*replicas {
		return false
	}
	return !slices.ContainsFunc(p.world.list("replicasets", p.namespace), func(set *unstructured.Unstructured) bool {
		return field(set, "status", "replicas") != int64(replicas) || field(set, "status", "fullyLabeledReplicas") != int64(replicas) ||
			field(set, "status", "observedGeneration") != set.GetGeneration()
	})
}

// sweep removes all Pods and ReplicaSets.
func (s *stage) sweep(ctx context.Context, p *place) error {
	for _, kind := range []string{"replicasets", "pods"} {
		err := p.of(kind).DeleteCollection(ctx, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(0)), PropagationPolicy: new(metav1.DeletePropagationBackground),
		}, metav1.ListOptions{})
		if err != nil {
			return err
		}
	}
	if !controlplane.Wait(2*time.Minute, func() bool { return len(p.world.list("replicasets", "speed"))+len(p.world.list("pods", "speed")) == 0 }) {
		return errors.New("something is left")
	}
	return nil
}

// usage is the CPU time of a process in seconds, and its peak of resident memory in MB.
func usage(pid int) (cpu, peak float64, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, ticks := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.ParseFloat(ticks, 64)
		if err != nil {
			return 0, 0, err
		}
		cpu += n / 100
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	peak, err = strconv.ParseFloat(strings.Fields(after)[0], 64)
	return cpu, peak * 1024 / 1e6, err
}

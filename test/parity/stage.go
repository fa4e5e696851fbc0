package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/internal/cli"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

const collector = "garbage-collector-controller"

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, users: ["system:apiserver"]}
- {level: Metadata}
`

// stage is an API server that records who asks it for what.
type stage struct {
	dir    string
	plane  *controlplane.ControlPlane
	client dynamic.Interface
}

func setStage(ctx context.Context) (*stage, error) {
	dir, err := os.MkdirTemp("", "dyncontroller-parity-")
	if err != nil {
		return nil, err
	}
	s := &stage{dir: dir}
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	s.plane, err = controlplane.Start(ctx, controlplane.Options{
		Dir: dir, APIServerArgs: []string{
			"--audit-policy-file=" + policy, "--audit-log-path=" + s.path("audit.log"), "--audit-log-maxsize=2000",
		},
	})
	if err != nil {
		return nil, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // That Endpoints are deprecated, for dyncontroller in this process too.
	s.client, err = dynamic.NewForConfig(s.plane.RESTConfig())
	return s, err
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// strike stops the API server. What all have logged is kept if something went wrong.
func (s *stage) strike(err error) error {
	if err := errors.Join(err, s.plane.Stop()); err != nil {
		return fmt.Errorf("%w\nthe logs are in %s", errors.Join(err, os.RemoveAll(filepath.Join(s.dir, "etcd"))), s.dir)
	}
	return os.RemoveAll(s.dir)
}

// runner is a controller at work.
type runner struct {
	pid  int // 0 if it is in this process
	stop func() error
}

// run starts a program that logs to a file.
func (s *stage) run(ctx context.Context, name string, command ...string) (runner, error) {
	log, err := os.Create(s.path(name + ".log"))
	if err != nil {
		return runner{}, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := errors.Join(cmd.Start(), log.Close()); err != nil { // The child has a descriptor of its own.
		return runner{}, err
	}
	return runner{pid: cmd.Process.Pid, stop: func() error {
		err := cmd.Process.Signal(syscall.SIGTERM)
		if ended := cmd.Wait(); err != nil {
			return fmt.Errorf("%s had ended: %w: %w", name, err, ended)
		}
		return nil
	}}, nil
}

// kubeControllerManager runs just some of its controllers.
func (s *stage) kubeControllerManager(ctx context.Context, controllers string, flags ...string) (runner, error) {
	binary, err := controlplane.Binary()
	if err != nil {
		return runner{}, err
	}
	return s.run(ctx, "kcm-"+controllers, append([]string{
		binary, "kube-controller-manager", "--kubeconfig=" + s.plane.Kubeconfig(), "--controllers=" + controllers,
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=1000", "--kube-api-burst=2000",
	}, flags...)...)
}

// dyncontroller runs `dyncontroller run` in this process.
func (s *stage) dyncontroller(ctx context.Context, rules string) (runner, error) {
	log, err := os.Create(s.path("dyncontroller.log"))
	if err != nil {
		return runner{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, cli.Process{
			Args: append([]string{"run"}, s.runFlags(rules)...), Stdin: strings.NewReader(""), Stdout: log, Stderr: log, Version: "parity",
		})
	}()
	return runner{stop: func() error {
		cancel()
		if code := <-code; code != 0 {
			return fmt.Errorf("dyncontroller ended with exit code %d", code)
		}
		return log.Close()
	}}, nil
}

func (s *stage) runFlags(rules string) []string {
	return []string{"--rules", rules, "--kubeconfig", s.plane.Kubeconfig(), "--metrics-bind-address=0", "--health-probe-bind-address=0"}
}

// side is one of the two that do the same job.
type side struct {
	name   string // in names of namespaces
	client string // how its user agent begins
	start  []func(context.Context) (runner, error)
}

// outcome is what came of a scenario on one side.
type outcome struct {
	moments []moment // after each step
	err     error
}

// play plays all scenarios on a side, and counts what is written in a quiet time afterwards.
func (s *stage) play(ctx context.Context, on side, e example, scenarios map[int][]step, o options) (out map[int]*outcome, writes int, err error) {
	var running []runner
	defer func() {
		for _, r := range running {
			err = errors.Join(err, r.stop())
		}
	}()
	for _, start := range on.start {
		r, err := start(ctx)
		if err != nil {
			return nil, 0, err
		}
		running = append(running, r)
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := watch(watching, s.client, e.kinds)
	if err != nil {
		return nil, 0, err
	}
	if err := s.warm(ctx, w, on.name+"-warm", e); err != nil {
		return nil, 0, err
	}
	group, playing := errgroup.WithContext(ctx)
	group.SetLimit(o.parallel)
	out = map[int]*outcome{}
	for number, steps := range scenarios {
		result := &outcome{}
		out[number] = result
		group.Go(func() error {
			result.moments, result.err = s.scenario(playing, w, fmt.Sprintf("%s-%s-%d", on.name, e.name, number), e, steps)
			return playing.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	began := time.Now()
	select {
	case <-time.After(o.quiet):
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	requests, err := s.requests(began, on.client)
	return out, len(slices.DeleteFunc(requests, func(r request) bool { return !r.writes() })), err
}

func (s *stage) place(ctx context.Context, w *world, namespace string) (*place, *error) {
	failed := new(error)
	p := &place{world: w, namespace: namespace, do: func(f func(context.Context) error) {
		if *failed == nil {
			*failed = f(ctx)
		}
	}}
	p.do(func(ctx context.Context) error {
		_, err := s.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(ctx, &unstructured.Unstructured{
			Object: object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}},
		}, metav1.CreateOptions{})
		return err
	})
	return p, failed
}

// warm waits until the controllers are at work: a child is made, and goes after its parent.
func (s *stage) warm(ctx context.Context, w *world, namespace string, e example) error {
	p, failed := s.place(ctx, w, namespace)
	b, err := readBook(e.name)
	if err != nil {
		return err
	}
	p.create(e.kinds[0], b.Bases[e.base])
	for _, there := range []bool{true, false} {
		if *failed == nil && !controlplane.Wait(2*time.Minute, func() bool { return (len(w.list(e.kinds[1], namespace)) > 0) == there }) {
			return fmt.Errorf("%s: waited for %s to be there: %t", namespace, e.kinds[1], there)
		}
		p.delete(e.kinds[0]+"/web", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
	}
	return *failed
}

func (s *stage) scenario(ctx context.Context, w *world, namespace string, e example, steps []step) ([]moment, error) {
	p, failed := s.place(ctx, w, namespace)
	var out []moment
	for _, step := range steps {
		step.do(p)
		p.do(func(ctx context.Context) error { return w.settle(ctx, namespace, e.quiet, step.wait) })
		if *failed != nil {
			return nil, fmt.Errorf("%s: %w", step.say, *failed)
		}
		now := w.view(namespace)
		var m moment
		for _, c := range e.columns {
			m = append(m, c.of(now))
		}
		out = append(out, m)
	}
	return out, nil
}

// clear removes what a side has left in its namespaces; no controller runs.
func (s *stage) clear(ctx context.Context, on side) error {
	for _, resource := range resources() {
		found, err := s.client.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, o := range found.Items {
			if !strings.HasPrefix(o.GetNamespace(), on.name+"-") {
				continue
			}
			client := s.client.Resource(resource).Namespace(o.GetNamespace())
			_, err := client.Patch(ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			if err == nil {
				err = client.Delete(ctx, o.GetName(), metav1.DeleteOptions{
					GracePeriodSeconds: new(int64(0)), PropagationPolicy: new(metav1.DeletePropagationBackground),
				})
			}
			if gone(err) != nil {
				return err
			}
		}
	}
	return nil
}

// request is an entry of the audit log.
type request struct {
	Stage, Verb, UserAgent   string
	ObjectRef                struct{ APIGroup, Resource, Subresource string }
	RequestReceivedTimestamp metav1.MicroTime
}

// writes leaves out reviews, which are questions though they are created, and Leases, which are renewed for ever.
func (r request) writes() bool {
	return !slices.Contains([]string{"get", "list", "watch"}, r.Verb) && r.ObjectRef.Resource != "leases" &&
		!slices.Contains([]string{"authentication.k8s.io", "authorization.k8s.io"}, r.ObjectRef.APIGroup)
}

// requests are those of a client since a moment, a watch when it began.
func (s *stage) requests(since time.Time, client string) ([]request, error) {
	data, err := os.ReadFile(s.path("audit.log"))
	if err != nil {
		return nil, err
	}
	var out []request
	for line := range bytes.Lines(data[:bytes.LastIndexByte(data, '\n')+1]) {
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		if strings.HasPrefix(r.UserAgent, client) && !r.RequestReceivedTimestamp.Time.Before(since) &&
			(r.Verb == "watch") == (r.Stage == "ResponseStarted") {
			out = append(out, r)
		}
	}
	return out, nil
}

// column is what a column held after each step.
func (o *outcome) column(i int) (out list) {
	for _, m := range o.moments {
		out = append(out, m[i])
	}
	return out
}

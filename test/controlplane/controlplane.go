package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// startTimeout is what a busy machine may need; a second or two is usual.
const startTimeout = 2 * time.Minute

// ControlPlane is a running control plane. Its methods may be called concurrently.
type ControlPlane struct {
	options   Options
	binary    string
	dir       string
	remove    string // What Stop removes, if anything.
	child     *child
	config    *rest.Config
	dynamic   dynamic.Interface
	discovery *discovery.DiscoveryClient
	stopped   func() error
}

// Start returns when the API server is ready. The context bounds the start alone; Stop must be called in the end.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	c := &ControlPlane{options: o}
	if err := c.start(ctx); err != nil {
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	var err error
	if c.binary, err = Binary(); err != nil {
		return err
	}
	if err := c.makeDir(); err != nil {
		return err
	}
	if c.child, err = startChild(ctx, c.binary, c.options.arguments(c.dir), c.options.Environment, c.options.Output); err != nil {
		return errors.Join(err, c.removeDir())
	}
	c.stopped = sync.OnceValue(func() error { return errors.Join(c.child.stop(), c.removeDir()) })

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.connect(ctx); err != nil {
		_ = c.Stop() // What kept it from being ready says more.
		return err
	}
	return nil
}

// connect waits for the API server and makes the clients for it, without client-go's limit of 5 requests a second.
func (c *ControlPlane) connect(ctx context.Context) error {
	err := c.child.waitReady(ctx)
	if err != nil {
		return err
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig()); err != nil {
		return err
	}
	c.config.QPS = -1
	if c.dynamic, err = dynamic.NewForConfig(c.config); err != nil {
		return err
	}
	c.discovery, err = discovery.NewDiscoveryClientForConfig(c.config)
	return err
}

func (c *ControlPlane) makeDir() (err error) {
	if c.options.Dir != "" {
		c.dir, err = filepath.Abs(c.options.Dir)
		return err
	}
	c.dir, err = os.MkdirTemp("", "dyncontroller-cluster-")
	c.remove = c.dir
	return err
}

func (c *ControlPlane) removeDir() error {
	if c.remove == "" {
		return nil
	}
	return os.RemoveAll(c.remove)
}

// Stop ends all processes and removes a temporary directory. It reports if the control plane had failed before. It
// may be called again.
func (c *ControlPlane) Stop() error { return c.stopped() }

// Dir is the directory with the kubeconfig and, for each component, its log in DIR/COMPONENT/log.
func (c *ControlPlane) Dir() string { return c.dir }

// Kubeconfig is the path of a kubeconfig that may do everything. It stays valid while components are restarted.
func (c *ControlPlane) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// RESTConfig is what Kubeconfig says, without a limit on the rate of requests. The caller may change it.
func (c *ControlPlane) RESTConfig() *rest.Config { return rest.CopyConfig(c.config) }

// Kubectl runs kubectl with the given arguments as the administrator and returns its stdout; an error says its stderr.
func (c *ControlPlane) Kubectl(ctx context.Context, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.binary, append([]string{"kubectl"}, arguments...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "KUBECACHEDIR="+filepath.Join(c.dir, "kubectl-cache"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %q: %w\n%s", arguments, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const pollInterval = 20 * time.Millisecond

// Kill ends components as a crash would (SIGKILL) and keeps them down until Restart. It returns when they have ended.
// A component that is killed in another way is started again at once, without Restart.
func (c *ControlPlane) Kill(ctx context.Context, components ...Component) error {
	for _, component := range components {
		if err := c.hold(component); err != nil {
			return fmt.Errorf("killing %s: %w", component, err)
		}
	}
	for _, component := range components {
		if err := c.poll(ctx, func() bool { return !exists(c.file(component, "pid")) }); err != nil {
			return fmt.Errorf("killing %s: %w", component, err)
		}
	}
	return nil
}

// Restart starts components again that Kill has ended, on the same ports and with the same data. It returns when the
// API server serves again or, if etcd or the API server is still held down, when the components have been started.
func (c *ControlPlane) Restart(ctx context.Context, components ...Component) error {
	for _, component := range components {
		if err := os.Remove(c.file(component, "down")); err != nil {
			return fmt.Errorf("restarting %s, which is not down: %w", component, err)
		}
	}
	for _, component := range components {
		if err := c.poll(ctx, func() bool { return exists(c.file(component, "pid")) }); err != nil {
			return fmt.Errorf("restarting %s: %w", component, err)
		}
	}
	if exists(c.file(Etcd, "down")) || exists(c.file(APIServer, "down")) {
		return nil
	}
	if err := c.poll(ctx, func() bool { return c.serves(ctx) }); err != nil {
		return fmt.Errorf("restarting %q: the API server does not serve: %w", components, err)
	}
	return nil
}

// file is one of the files by which "cluster up" is asked and answers; see test/cluster/internal/supervisor.
func (c *ControlPlane) file(component Component, name string) string {
	return filepath.Join(c.dir, string(component), name)
}

// hold refuses a component that does not run here, for which nobody would answer.
func (c *ControlPlane) hold(component Component) error {
	if !exists(c.file(component, "command")) {
		return errors.New("it is not part of this control plane")
	}
	return os.WriteFile(c.file(component, "down"), nil, 0o600)
}

// serves asks for an object besides /readyz, which for a moment remembers an etcd that is gone.
func (c *ControlPlane) serves(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if c.discovery.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() != nil {
		return false
	}
	_, err := c.dynamic.Resource(namespaces()).Get(ctx, "default", metav1.GetOptions{})
	return err == nil
}

// poll waits until the condition holds, as long as the control plane runs.
func (c *ControlPlane) poll(ctx context.Context, condition func() bool) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-c.child.exited:
			return c.child.ended()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

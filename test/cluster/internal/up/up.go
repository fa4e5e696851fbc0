// Package up runs a whole control plane: it reserves ports, makes credentials, starts etcd, kube-apiserver and
// perhaps kube-controller-manager as child processes, and keeps them running until it is told to stop.
package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/dyncontroller/dyncontroller/test/cluster/internal/parent"
	"github.com/dyncontroller/dyncontroller/test/cluster/internal/supervisor"
)

// Run starts the control plane, writes Dir/kubeconfig and prints "ready" on stdout once it serves, and stops
// everything when ctx is done. It fails when a component cannot be kept running.
func Run(ctx context.Context, o Options, stdout io.Writer, log *slog.Logger) error {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	o.Dir = dir
	held, err := lock(o.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }() // Ending would close it too.
	l, err := newLayout(o)
	if err != nil {
		return err
	}
	defer l.release()

	s := supervisor.New(log, []string{parent.Environment()}, held)
	defer s.Stop()
	if err := start(ctx, l, s); err != nil {
		return ignoreStop(ctx, err)
	}
	if _, err := fmt.Fprintf(stdout, "ready\nexport KUBECONFIG=%s\n", l.path("kubeconfig")); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.Failed():
		return err
	}
}

// start brings the components up in the order of their needs.
func start(ctx context.Context, l *layout, s *supervisor.Supervisor) error {
	client, err := newClient(l.serving.CA)
	if err != nil {
		return err
	}
	for _, c := range l.components() {
		if err := s.Add(ctx, c.Component); err != nil {
			return err
		}
		if err := c.health.wait(ctx, client, s.Failed()); err != nil {
			return err
		}
	}
	return l.writeKubeconfig()
}

// ignoreStop tells a failure from having been told to stop during the start.
func ignoreStop(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// writeAtomically renames the file into place: whoever sees it sees all of it.
func writeAtomically(path string, data []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

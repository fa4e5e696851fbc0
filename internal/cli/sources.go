package cli

import (
	"cmp"
	"fmt"
	"log/slog"

	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/internal/source"
)

// newObjects returns the set objects of a cluster.
func newObjects(target *cluster, log *slog.Logger) (*source.Objects, error) {
	client, err := dynamic.NewForConfig(target.config)
	if err != nil {
		return nil, fmt.Errorf("making a client for rule sets: %w", err)
	}
	return source.NewObjects(client, log), nil
}

// newCandidate returns who takes part in the election for this process.
func newCandidate(r *runner) (*election.Candidate, error) {
	settings := r.settings.Election
	return election.New(r.cluster.config, election.Options{
		Namespace: cmp.Or(settings.Namespace, r.cluster.namespace), Name: settings.Name,
		Lease: settings.Lease, Retry: settings.Retry, Fence: r.fence, Log: r.log,
	})
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// instanceLease is the name of the Lease that a process of an instance holds, unless replicas elect a leader.
func instanceLease(instance string) string { return plan.FieldManager + "-instance-" + instance }

// claim refuses to run while another process runs the same rules: each would write again what the other cleans up. Of replicas, one
// leads. Rules of files belong to an instance. Set objects belong to the process that has the Lease of the leader election.
func (s *service) claim(ctx context.Context) (release func(), err error) {
	var releases []func()
	release = func() {
		for _, one := range releases {
			one()
		}
	}
	if s.election != nil || s.settings.Force || s.dryRun() {
		return release, nil
	}
	take := func(namespace, name, what, advice string) error {
		one, err := election.Claim(ctx, s.cluster.config, namespace, name, s.log)
		if _, is := errors.AsType[*election.ClaimedError](err); is {
			return internal(fmt.Errorf("%s: %w; stop it, %s, or --force it", what, err, advice))
		}
		if err != nil {
			s.log.Debug("it is not known whether another process runs the same rules", "lease", name, "err", err)
			return nil
		}
		releases = append(releases, one)
		return nil
	}
	if s.files != nil {
		instance, namespace := s.settings.Instance, s.cluster.namespace
		if err := take(namespace, instanceLease(instance), fmt.Sprintf("the instance %s of the namespace %s", instance, namespace),
			"give this process another --instance"); err != nil {
			return nil, err
		}
	}
	if elected := s.settings.Election; s.settings.FromCluster {
		namespace := cmp.Or(elected.Namespace, s.cluster.namespace)
		if err := take(namespace, elected.Name, fmt.Sprintf("the rule sets in the cluster, by the Lease %s of the namespace %s", elected.Name, namespace),
			"have all of them use --leader-elect"); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

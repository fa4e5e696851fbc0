// Package tenants tries rule sets that live in the cluster: with their own identities,
// by several processes, on a real control plane.
package tenants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// planes are the control planes of the tests that do not break theirs.
var planes = controlplane.NewPool(func(ctx context.Context) (*plane, error) {
	on, err := audited(ctx)
	if err != nil {
		return nil, err
	}
	if err := install(ctx, on); err != nil {
		return nil, errors.Join(err, on.Stop())
	}
	return on, nil
})

// directory is of the package, until its tests have ended.
var directory string

// policy has every request logged once it is answered, without its body.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  users: ["system:apiserver", "system:kube-controller-manager"]
- level: Metadata
`

func TestMain(m *testing.M) {
	if intervals, is := os.LookupEnv(asDyncontroller); is {
		os.Exit(dyncontroller(intervals))
	}
	os.Exit(test(m))
}

func test(m *testing.M) int {
	var err error
	if directory, err = os.MkdirTemp("", "tenants"); err != nil {
		return failed(err)
	}
	defer func() {
		if err := os.RemoveAll(directory); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return planes.Main(m.Run)
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// alongside has a test run beside others, with a control plane that is its own until it ends.
func alongside(t *testing.T) {
	t.Helper()
	t.Parallel()
	planes.Lend(t)
}

// cluster is the control plane of the test.
func cluster(t *testing.T) *plane {
	t.Helper()
	return planes.Of(t)
}

// audited starts a control plane that deletes namespaces and writes an audit log.
func audited(ctx context.Context) (*plane, error) {
	own, err := os.MkdirTemp(directory, "audit")
	if err != nil {
		return nil, err
	}
	rules, log := filepath.Join(own, "policy.yaml"), filepath.Join(own, "audit.log")
	if err := os.WriteFile(rules, []byte(policy), 0o600); err != nil {
		return nil, err
	}
	on, err := controlplane.Start(ctx, controlplane.Options{
		ControllerManager: true,
		APIServerArgs:     []string{"--audit-policy-file=" + rules, "--audit-log-path=" + log},
	})
	if err != nil {
		return nil, err
	}
	audits.Store(on, &auditLog{path: log})
	return on, nil
}

// install adds the CRDs of the rule sets, and what rules here are about.
func install(ctx context.Context, c *plane) error {
	module, err := controlplane.ModuleDir(ctx, controlplane.TidbOperator)
	if err != nil {
		return err
	}
	return c.InstallCRDs(ctx,
		"../../deploy/crds/rulesets.yaml", "../../deploy/crds/clusterrulesets.yaml",
		filepath.Join(module, "manifests", "crd", "v1", "pingcap.com_tidbclusters.yaml"))
}

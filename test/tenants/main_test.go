// Package tenants tries rule sets that live in the cluster, with their own identities: in virtual time what the program does, and by several
// processes on a real control plane what only that shows.
package tenants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/virtual"
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
	utilruntime.ErrorHandlers = nil //nolint:reassign // A pause between errors, which begins in one bubble, does not end in another.
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

type plane = controlplane.ControlPlane

// alongside has a test run beside others, with a control plane that is its own until it ends.
func alongside(t *testing.T) {
	t.Helper()
	t.Parallel()
	planes.Lend(t)
}

// virtually runs a test in virtual time, with -real alongside.
func virtually(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	virtual.Test(t, alongside, commonCRDs(t), test)
}

// virtuallyAlone is virtually for tests of all sets of a cluster: with -real they have a control plane that no other test has had.
func virtuallyAlone(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) {
		t.Parallel()
		planes.Use(t, alone(t))
	}, commonCRDs(t), test)
}

// commonCRDs are those that all tests have.
var commonCRDs = virtual.CRDs(customResources)

// cluster is that of the test.
func cluster(t *testing.T) virtual.Cluster {
	t.Helper()
	if c := virtual.Of(t); c != nil {
		return c
	}
	return controlPlane(t)
}

// controlPlane is that of a test which needs a real one.
func controlPlane(t *testing.T) *plane {
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

// install adds the CRDs that all tests have.
func install(ctx context.Context, c *plane) error {
	files, err := customResources(ctx)
	if err != nil {
		return err
	}
	return c.InstallCRDs(ctx, files...)
}

// customResources are the files of those of the rule sets, and of what rules here are about.
func customResources(ctx context.Context) ([]string, error) {
	module, err := controlplane.ModuleDir(ctx, controlplane.TidbOperator)
	return []string{
		"../../deploy/crds/rulesets.yaml", "../../deploy/crds/clusterrulesets.yaml",
		filepath.Join(module, "manifests", "crd", "v1", "pingcap.com_tidbclusters.yaml"),
	}, err
}

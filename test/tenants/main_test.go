// Package tenants tries rule sets that live in the cluster: with their own identities,
// by several processes, on a real control plane.
package tenants

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

var (
	// cluster is the control plane of all tests that do not break it.
	cluster *controlplane.ControlPlane
	// audits is the audit log of its API server.
	audits string
	// binary is dyncontroller, built for these tests.
	binary string
)

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
	os.Exit(run(m))
}

func run(m *testing.M) int {
	directory, err := os.MkdirTemp("", "tenants")
	if err != nil {
		return failed(err)
	}
	defer func() {
		if err := os.RemoveAll(directory); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	ctx := context.Background()
	if binary, err = build(ctx, directory); err != nil {
		return failed(err)
	}
	options, err := audited(directory)
	if err != nil {
		return failed(err)
	}
	return controlplane.Main(options, func(c *controlplane.ControlPlane) int {
		cluster = c
		if err := install(ctx, c); err != nil {
			return failed(err)
		}
		return m.Run()
	})
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// audited are options of a control plane that deletes namespaces and writes an audit log.
func audited(directory string) (controlplane.Options, error) {
	path := filepath.Join(directory, "policy.yaml")
	audits = filepath.Join(directory, "audit.log")
	return controlplane.Options{
		ControllerManager: true,
		APIServerArgs:     []string{"--audit-policy-file=" + path, "--audit-log-path=" + audits},
	}, os.WriteFile(path, []byte(policy), 0o600)
}

// build builds dyncontroller as it is tested: with the race detector where that is on.
func build(ctx context.Context, directory string) (string, error) {
	path := filepath.Join(directory, "dyncontroller")
	arguments := []string{"build", "-o", path}
	if raceDetector {
		arguments = append(arguments, "-race")
	}
	command := exec.CommandContext(ctx, "go", append(arguments, "../../cmd/dyncontroller")...)
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building dyncontroller: %w\n%s", err, output)
	}
	return path, nil
}

// install adds the CRDs of the rule sets, and what rules here are about.
func install(ctx context.Context, c *controlplane.ControlPlane) error {
	module, err := controlplane.ModuleDir(ctx, controlplane.TidbOperator)
	if err != nil {
		return err
	}
	return c.InstallCRDs(ctx,
		"../../deploy/crds/rulesets.yaml", "../../deploy/crds/clusterrulesets.yaml",
		filepath.Join(module, "manifests", "crd", "v1", "pingcap.com_tidbclusters.yaml"))
}

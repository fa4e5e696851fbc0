package main

import (
	"context"
	"fmt"
	"os"
	_ "time/tzdata" // For CronJob time zones, as the real kube-apiserver and kube-controller-manager link it.

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.etcd.io/etcd/server/v3/storage/wal"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // For kubectl's credential plugins.
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // For --logging-format=json.
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // For the client-go metrics of the components.
	_ "k8s.io/component-base/metrics/prometheus/version"  // For kubernetes_build_info.
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/dyncontroller/dyncontroller/test/cluster/internal/parent"
)

// program is one of the linked programs; run gets its arguments through os.Args, where all four read them and where
// client-go finds the name that managedFields and user agents will show.
type program struct {
	name, short string
	// component says that it serves until it is stopped, and so must not outlive its parent.
	component bool
	run       func() (exitStatus int)
}

// exitError is the exit status of a program that has said itself what was wrong.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func programs() []program {
	return []program{
		{"etcd", "Run etcd with its own flags", true, func() int {
			wal.SegmentSizeBytes = 8 << 20 // It allocates two of them at once, 64 MB each by default, for every test run.
			etcdmain.Main(os.Args)
			return 0 // It exits itself if it fails.
		}},
		{"kube-apiserver", "Run kube-apiserver with its own flags", true, func() int {
			return cli.Run(apiserver.NewAPIServerCommand())
		}},
		{"kube-controller-manager", "Run kube-controller-manager with its own flags", true, func() int {
			return cli.Run(controllermanager.NewControllerManagerCommand())
		}},
		{"kubectl", "Run kubectl", false, func() int {
			_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)) // As its own main does, for -v to count from the start.
			if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
				kubectlutil.CheckErr(err) // It prints the error as kubectl does, and exits.
			}
			return 0
		}},
	}
}

func (p program) command() *cobra.Command {
	return &cobra.Command{
		Use:                p.name,
		Short:              p.short,
		DisableFlagParsing: true,
		RunE: func(command *cobra.Command, args []string) error {
			if p.component {
				go exitWithParent(command.Context(), parent.Find())
			}
			os.Args = append([]string{p.name}, args...)
			if status := p.run(); status != 0 {
				return exitError(status)
			}
			return nil
		},
	}
}

func exitWithParent(ctx context.Context, p parent.Process) {
	p.Wait(ctx)
	fmt.Fprintln(os.Stderr, "the parent process has ended")
	os.Exit(1) //nolint:revive // The linked program cannot be asked to return.
}

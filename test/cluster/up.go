package main

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dyncontroller/dyncontroller/test/cluster/internal/parent"
	"github.com/dyncontroller/dyncontroller/test/cluster/internal/up"
)

func newUp() *cobra.Command {
	var o up.Options
	command := &cobra.Command{
		Use:   "up --dir DIR",
		Short: "Run a control plane on free loopback ports until SIGINT, SIGTERM or the end of the parent process",
		Long: `Run etcd, kube-apiserver and perhaps kube-controller-manager on free loopback ports.

When the API server is ready, DIR/kubeconfig is written and "ready" printed, with a line that exports it in a shell.
Ports and credentials stay the same until the end. For each component there is a directory DIR/COMPONENT with

  log      what it printed
  pid      its process
  command  its command line

A component that is killed (kill -9 $(cat DIR/etcd/pid)) is started again at once. To kill it and keep it down,
touch DIR/COMPONENT/down; to start it again, remove that file. If a component ends by itself, all is stopped
and the end of its log printed.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			starter := parent.Find()
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			go func() {
				starter.Wait(ctx)
				stop()
			}()
			return up.Run(ctx, o, command.OutOrStdout(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Dir, "dir", "", "directory for the kubeconfig, all state and logs")
	cobra.CheckErr(command.MarkFlagRequired("dir"))
	flags.BoolVar(&o.ControllerManager, "controller-manager", false, "run kube-controller-manager as well")
	flags.StringSliceVar(&o.FeatureGates, "feature-gates", nil,
		"feature gates of kube-apiserver and kube-controller-manager, as Name=true,...")
	flags.StringArrayVar(&o.APIServerArgs, "apiserver-arg", nil, "a flag for kube-apiserver (repeatable)")
	flags.StringArrayVar(&o.ControllerManagerArgs, "controller-manager-arg", nil,
		"a flag for kube-controller-manager (repeatable)")
	return command
}

// Command cluster is a Kubernetes control plane for tests, built from source: etcd, kube-apiserver,
// kube-controller-manager and kubectl in one binary.
//
//	cluster up --dir DIR                 a control plane on free loopback ports, until a signal or its parent's end
//	cluster etcd|kube-apiserver|...      one component with its own flags, which is how up runs them
//	cluster kubectl ...                  kubectl itself
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	err := newCommand().ExecuteContext(context.Background())
	if exit := exitError(0); errors.As(err, &exit) {
		os.Exit(int(exit))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "cluster",
		Short:         "A Kubernetes control plane for tests: etcd, kube-apiserver, kube-controller-manager, kubectl",
		SilenceUsage:  true,
		SilenceErrors: true,

		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	// A package of the components declares --version for every program that links it; ours has none.
	cobra.CheckErr(pflag.CommandLine.MarkHidden("version"))
	root.AddCommand(newUp())
	for _, p := range programs() {
		root.AddCommand(p.command())
	}
	return root
}

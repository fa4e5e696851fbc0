package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
)

// Process is what a command may touch of the process that it runs in.
type Process struct {
	Args   []string // without the name of the program
	Env    []string // as of os.Environ; KUBECONFIG and the like are client-go's to read
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Version is that of the program, empty to ask the build.
	Version string
	// KubernetesLog redirects what the Kubernetes client logs, of which there
	// is one for a whole process: [KubernetesLog], or nil to leave it alone.
	KubernetesLog func(log *slog.Logger, verbosity int)
}

// Run carries out one command and returns the exit code: 0 for success, 1 for a
// finding, a difference or a failed test, 2 for wrong usage, 3 for what kept
// the command from doing its work. When the context is done, `run` finishes the
// writes that are under way and returns 0.
func Run(ctx context.Context, p Process) int {
	root := newRoot(p)
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	command, err := root.ExecuteContextC(ctx)
	return report(p.Stderr, command, err)
}

func newRoot(p Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "dyncontroller",
		Short: "Keeps Kubernetes objects as rules say",
		Long: `dyncontroller watches objects of a Kubernetes cluster and keeps them as rules
say: a rule names what it watches, when it applies, and what to do then.

Write rules, check them with validate and test, try them with eval on a file
or with run --dry-run=client on a cluster, and put them into effect with run.`,
		Example: `  dyncontroller validate rules/
  dyncontroller eval --rules rules/ --object pod.yaml
  dyncontroller run --rules rules/ --once --dry-run=server
  dyncontroller run --rules rules/`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newRun(p), newValidate(p), newTest(p), newEval(p), newExplain(p), newSchema(p), newRBAC(p), newCleanup(p), newVersion(p))
	for _, name := range []string{"diff", "graph", "init", "functions"} {
		root.AddCommand(notYet(name))
	}
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		if !command.Runnable() {
			// Cobra shows the help for a shell that it does not know, as if that
			// were what was asked for.
			command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
		}
	}
	return root
}

// notYet is a command that is part of the design but not built.
func notYet(name string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              "Not supported yet",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			if instead := meanwhile(name); instead != "" {
				return failure{exitUsage, fmt.Errorf("%s is not supported yet; %s", name, instead)}
			}
			return failure{exitUsage, fmt.Errorf("%s is not supported yet", name)}
		},
	}
}

// meanwhile says what does some of the work of a command that is not built, or "".
func meanwhile(command string) string {
	return map[string]string{
		"functions": "see docs/reference/functions.md",
	}[command]
}

//go:build operator

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// forAuthors are what the program of an image has not got, so that it links no simulated cluster.
func forAuthors(Process) []*cobra.Command {
	var out []*cobra.Command
	for _, name := range []string{"validate", "test", "eval", "diff", "report", "explain", "status", "suspend", "resume", "init", "record", "graph", "functions", "schema", "rbac"} {
		run := func(*cobra.Command, []string) error {
			return failure{exitUsage, fmt.Errorf("%s is not part of the operator's program, which is built for images; use that of make build", name)}
		}
		out = append(out, &cobra.Command{Use: name, Short: "Not part of this program", Hidden: true, DisableFlagParsing: true, RunE: run})
	}
	return out
}

// completeCluster is for shells, and an image has no user at one.
func (Process) completeCluster(*cobra.Command) {}

//go:build operator

package cli

import "github.com/spf13/cobra"

// forAuthors are what the program of an image has not got, so that it links no simulated cluster.
func forAuthors(Process) []*cobra.Command {
	var out []*cobra.Command
	for _, name := range []string{"validate", "test", "eval", "diff", "explain", "schema", "rbac"} {
		out = append(out, absent(name, "is not part of the operator's program, which is built for images; use that of make build"))
	}
	return out
}

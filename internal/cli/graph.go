//go:build !operator

package cli

import (
	"github.com/spf13/cobra"

	"github.com/dyncontroller/dyncontroller/pkg/rules/diagram"
)

func newGraph(p Process) *cobra.Command {
	v := &validation{Process: p}
	command := &cobra.Command{
		Use:   "graph PATH...",
		Short: "Draw which rules read and write which resources",
		Long: `Print a graph of rules and resources: an arrow from a resource to each rule that
watches or reads it, and from a rule to each resource that it writes, with the
fields. Rules that are in conflict or in a cycle are red: what validate says of them
is told by the code. A PATH is as of validate.

Exit code: 0 if the graph is printed, 1 if there is a mistake in the rules, 2 if a
PATH cannot be read or holds nothing of its kind, 3 if the cluster cannot be asked.`,
		Example: `  dyncontroller graph rules/ | dot -Tsvg > rules.svg
  dyncontroller graph rules/ -o mermaid`,
		Args: paths,
		RunE: func(command *cobra.Command, args []string) error {
			v.paths = args
			set, err := v.load(command.Context())
			if err != nil {
				return err
			}
			return put(v.Stdout, "the graph", diagram.Of(set).Text(v.output.Text))
		},
	}
	v.addFlags(command.Flags(), ownNamespace)
	v.output = addOutputFlag(command, "the language of the graph: dot (Graphviz) or mermaid", diagram.Dot, diagram.Mermaid)
	return command
}

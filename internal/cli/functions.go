//go:build !operator

package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
)

func newFunctions(p Process) *cobra.Command {
	var names []string
	for _, f := range function.All() {
		names = append(names, f.Name)
	}
	command := &cobra.Command{
		Use:   "functions [NAME]...",
		Short: "Print the functions of expressions",
		Long: `Print the functions that expressions can call, or what the named ones do, with an
example of each. A parameter in brackets may be left out, one with dots repeated.

Exit code: 0, or 2 if there is no function of a name.`,
		Example: `  dyncontroller functions
  dyncontroller functions sortBy groupBy
  dyncontroller functions -o json`,
		ValidArgs: names,
	}
	output := addOutputFlag(command, "how the functions are shown: text or json", formatText, formatJSON)
	command.RunE = func(_ *cobra.Command, args []string) error {
		rows := []map[string]string{}
		var text strings.Builder
		table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
		for _, f := range function.All() {
			first, _, _ := strings.Cut(f.Doc, ". ")
			switch {
			case len(args) == 0:
				fmt.Fprintf(table, "%s\t%s\n", f.Signature(), strings.TrimSuffix(first, "."))
			case slices.Contains(args, f.Name):
				fmt.Fprintf(&text, "%s\n  %s\n  %s is %s\n", f.Signature(), f.Doc, f.Example.Expression, f.Example.Want)
			default:
				continue
			}
			rows = append(rows, map[string]string{"name": f.Name, "call": f.Signature(), "doc": f.Doc, "example": f.Example.Expression, "result": f.Example.Want})
		}
		for _, name := range args {
			switch hint := function.Instead(name); {
			case slices.Contains(names, name):
			case hint != "":
				return failure{exitUsage, fmt.Errorf("there is no function %q; %s", name, hint)}
			default:
				return failure{exitUsage, fmt.Errorf("there is no function %q%s", name, meant("", name, names))}
			}
		}
		if output.Text == formatJSON {
			return writeJSON(p.Stdout, rows)
		}
		_ = table.Flush() // It writes to memory.
		return put(p.Stdout, "the functions", text.String())
	}
	return command
}

//go:build !operator

package cli

import "github.com/spf13/cobra"

// forAuthors are the commands of who writes rules. The simulated cluster of test and eval is half of the program.
func forAuthors(p Process) []*cobra.Command {
	return []*cobra.Command{newValidate(p), newTest(p), newEval(p), newDiff(p), newReport(p), newExplain(p), newStatus(p), newSuspend(p), newResume(p), newSchema(p), newRBAC(p), newGraph(p), newFunctions(p), newInit(p), newRecord(p)}
}

package controlplane

import (
	"context"
	"fmt"
	"os"
)

// Main runs body, usually m.Run of a TestMain, with a control plane and returns the exit code. If body fails, the
// logs are kept and their place is told.
func Main(o Options, body func(*ControlPlane) int) int {
	c, err := Start(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return c.end(body(c))
}

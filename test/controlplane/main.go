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
	code := body(c)
	if code != 0 && c.remove != "" {
		c.remove = c.file(Etcd, "data") // It is large and tells nothing.
		fmt.Fprintln(os.Stderr, "the logs of the control plane are kept in", c.Dir())
	}
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

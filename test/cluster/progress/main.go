// Command progress runs "go build" with the arguments it is given and says every few seconds how far that is: the
// control plane takes minutes when nothing is cached, and go build is silent meanwhile.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const interval = 5 * time.Second

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, buildArgs []string, out io.Writer) error {
	c := &counter{out: out, started: time.Now()}
	stop := c.report(interval)
	defer stop()

	packages, err := c.watch(exec.CommandContext(ctx, "go", "list", "-deps", "."))
	if err != nil {
		return fmt.Errorf("listing the packages: %w", err)
	}
	c.expect(strings.Fields(packages))
	if _, err := c.watch(exec.CommandContext(ctx, "go", append([]string{"build", "-v"}, buildArgs...)...)); err != nil {
		return fmt.Errorf("building: %w", err)
	}
	return nil
}

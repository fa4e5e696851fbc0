// Command dyncontroller keeps Kubernetes objects as rules say.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/dyncontroller/dyncontroller/internal/cli"
)

// version is set by the linker.
var version string

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal stops gracefully; a second one finds the default again.
	context.AfterFunc(ctx, restore)
	os.Exit(cli.Run(ctx, cli.Process{
		Name:          filepath.Base(os.Args[0]),
		Args:          os.Args[1:],
		Env:           os.Environ(),
		Stdin:         os.Stdin,
		Stdout:        os.Stdout,
		Stderr:        os.Stderr,
		Version:       version,
		KubernetesLog: cli.KubernetesLog,
	}))
}

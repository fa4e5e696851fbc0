// Command builtin writes what Kubernetes says of its own kinds into the folder that pkg/rules/schema/builtin embeds: the
// OpenAPI documents of the Kubernetes that go.mod requires, condensed to what a checker of rules asks, with what only its
// code knows beside it: defaults, and how Go types are encoded.
//
//	go run ./builtin FOLDER
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the folder to write to, got %d arguments", len(args))
	}
	folder, err := kubernetes(ctx)
	if err != nil {
		return err
	}
	files, err := generate(folder)
	if err != nil {
		return err
	}
	return write(args[0], files)
}

// kubernetes finds the folder of the module that is linked in, where its documents lie too.
func kubernetes(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return "", fmt.Errorf("finding the Kubernetes module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

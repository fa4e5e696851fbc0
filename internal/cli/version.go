package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(p Process) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of dyncontroller, what it was built with, and for what.",
		Example: "  dyncontroller version",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(p.Stdout, "dyncontroller %s %s %s/%s\n", p.version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

// version is that of the linker, else of the module, else the commit.
func (p Process) version() string {
	if p.Version != "" {
		return p.Version
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	return buildVersion(build)
}

const unknownVersion = "unknown"

func buildVersion(build *debug.BuildInfo) string {
	if v := build.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" {
			return "devel-" + setting.Value[:min(12, len(setting.Value))]
		}
	}
	return cmp.Or(build.Main.Version, unknownVersion)
}

func noArgs(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, have %q", command.Name(), args)
	}
	return nil
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Process is what a command may touch of the process that it runs in.
type Process struct {
	Name   string   // of the program, as it was called
	Args   []string // without the name of the program
	Env    []string // as of os.Environ; KUBECONFIG and the like are client-go's to read
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer // safe for concurrent use, as files are: loggers share it
	// Version is that of the program, empty to ask the build.
	Version string
	// KubernetesLog redirects what the Kubernetes client logs, of which there
	// is one for a whole process: [KubernetesLog], or nil to leave it alone.
	KubernetesLog func(log *slog.Logger, verbosity int)
	// Access says when run looks at what accounts may do; zero for [access.DefaultIntervals]. Only tests set it.
	Access access.Intervals
	// Transport carries requests to API servers, and to controllers whatever their certificate, in place of the network. Rule files are polled
	// then. It is nil for the network; only tests set it.
	Transport http.RoundTripper
	// Listen listens for requests for metrics and health; nil for [telemetry.TCP]. Only tests set it.
	Listen telemetry.Listen
	color  *config.Value
}

// Run carries out one command and returns the exit code: 0 for success, 1 for a
// finding, a difference or a failed test, 2 for wrong usage, 3 for what kept
// the command from doing its work. When the context is done, `run` finishes the
// writes that are under way and returns 0.
func Run(ctx context.Context, p Process) int {
	p.Stdout, p.Stderr = printable.NewWriter(p.Stdout, bold, red, green, cyan, reset), printable.NewWriter(p.Stderr)
	p.logger(config.Log{}) // The Kubernetes client logs past no Writer, whichever command it serves.
	root := newRoot(p)
	root.SetArgs(p.Args)
	command, err := root.ExecuteContextC(ctx)
	return report(p.Stderr, command, err)
}

func newRoot(p Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "dyncontroller",
		Short: "Keeps Kubernetes objects as rules say",
		Long: `dyncontroller watches objects of a Kubernetes cluster and keeps them as rules
say: a rule names what it watches, when it applies, and what to do then.

Begin with init, check rules with validate and test, try them with eval on a file,
see with diff what they would change in a cluster, and put them into effect with run.`,
		Example: `  dyncontroller validate rules/
  dyncontroller eval --rules rules/ --object pod.yaml
  dyncontroller diff --rules rules/
  dyncontroller run --rules rules/`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       p.version(),
	}
	p.color = addColorFlag(root)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	if strings.HasPrefix(p.Name, "kubectl-") { // A plugin of kubectl.
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl dyncontroller"}
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout) // Before the commands: completion takes it when it is made.
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newRun(p), newCleanup(p), newVersion(p))
	root.AddCommand(forAuthors(p)...)
	p.completeCluster(root)
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		if !command.Runnable() {
			// Cobra shows the help for a shell that it does not know, as if that
			// were what was asked for.
			command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
		}
	}
	return root
}

// The exit codes.
const (
	exitClean    = 0
	exitFinding  = 1
	exitUsage    = 2
	exitInternal = 3
)

// failure is what kept a command from doing its work, with the exit code for
// it. An error that is none is taken for wrong usage, since cobra's own have no
// type.
type failure struct {
	code int
	err  error // nil for what has been shown
}

// Error implements error.
func (f failure) Error() string { return fmt.Sprint(f.err) }

// Unwrap returns the cause.
func (f failure) Unwrap() error { return f.err }

// errFinding ends a command that has shown what it found.
var errFinding = failure{code: exitFinding}

func internal(err error) error { return failure{exitInternal, err} }

// report shows an error, and returns the exit code that it stands for.
func report(out io.Writer, command *cobra.Command, err error) int {
	var wrongRules *source.Error
	var failed failure
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &wrongRules):
		// Files that are wrong are a finding, paths are wrong usage. What could not be checked is for validate to say.
		notes := func(e *document.Error) bool { return e.Severity == document.Note }
		io.WriteString(out, slices.DeleteFunc(slices.Clone(wrongRules.Mistakes), notes).Render())
		for _, unusable := range wrongRules.Unusable {
			show(out, unusable)
		}
		if errors.As(err, &failed) { // The command has a code of its own for them.
			return failed.code
		}
		if len(wrongRules.Unusable) > 0 {
			return exitUsage
		}
		return exitFinding
	case errors.As(err, &failed):
		if failed.err != nil {
			show(out, failed.err)
		}
		return failed.code
	default:
		show(out, err)
		fmt.Fprintf(out, "Run '%s --help' for usage.\n", command.CommandPath())
		return exitUsage
	}
}

// pointedError is an error in an expression, of which the second and the third line point at the place.
type pointedError struct {
	error
	excerpt string
}

// Unwrap returns the error without the excerpt.
func (e pointedError) Unwrap() error { return e.error }

// show prints each of the errors that were joined, with its place in a file
// where it has one.
func show(out io.Writer, err error) {
	//nolint:errorlint // Only what is joined at the top is taken apart; an error that was wrapped has words around it.
	switch err := err.(type) {
	case document.Errors:
		io.WriteString(out, err.Render())
	case pointedError:
		show(out, err.error)
		io.WriteString(out, err.excerpt)
	case interface{ Unwrap() []error }:
		for _, one := range err.Unwrap() {
			show(out, one)
		}
	default:
		text, suggestions := err.Error(), ""
		if strings.HasPrefix(text, `unknown command "`) { // Cobra quotes it, and lists commands below.
			text, suggestions, _ = strings.Cut(text, "\n")
		}
		io.WriteString(out, printable.Sprintf("dyncontroller: %s\n", text)+suggestions)
	}
}

// meant is advice about a name that nothing has, empty where no known one is near.
func meant(prefix, name string, known []string) string {
	near := document.Suggest(name, known)
	if near == "" {
		return ""
	}
	return "; did you mean " + prefix + near + "?"
}

// flagError words what pflag found.
func flagError(command *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		switch name := unknown.GetSpecifiedName(); {
		case strings.Contains(command.Use, "PATH...") && slices.Contains([]string{"f", "rules", "file", "filename"}, name): // as elsewhere
			return fmt.Errorf("%s takes the PATH without a flag: %s rules/", command.Name(), command.CommandPath())
		case unknown.GetSpecifiedShortnames() != "":
			return fmt.Errorf("%s has no flag -%s", command.Name(), name)
		case command.Name() == "run" && config.Unsupported(name):
			return fmt.Errorf("--%s is not supported yet", name)
		default:
			var known []string
			command.Flags().VisitAll(func(flag *pflag.Flag) { known = append(known, flag.Name) })
			return fmt.Errorf("%s has no flag --%s%s", command.Name(), name, meant("--", name, known))
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
	}
	return err
}

// The values of --output of commands that do not show findings.
const (
	formatText = "text"
	formatJSON = "json"
	formatYAML = "yaml"
)

// isTerminal reports whether a person reads a stream.
func isTerminal(stream any) bool {
	if written, is := stream.(*printable.Writer); is {
		stream = written.Unwrap()
	}
	file, is := stream.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// addOutputFlag adds --output, of which the first of the formats is the default.
func addOutputFlag(command *cobra.Command, usage string, formats ...string) *config.Value {
	out := &config.Value{Text: formats[0], Kind: "FORMAT", Check: config.OneOf(new(string), formats)}
	command.Flags().VarP(out, "output", "o", usage)
	completeFlag(command, "output", formats)
	return out
}

// completeFlag offers values to the completion of a shell.
func completeFlag(command *cobra.Command, flag string, values []string) {
	// It fails only for a flag that is not there, which a test would show.
	_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// put writes what a command came to, as text.
func put(out io.Writer, what, text string) error {
	if _, err := io.WriteString(out, text); err != nil {
		return internal(fmt.Errorf("writing %s: %w", what, err))
	}
	return nil
}

// writeJSON writes indented JSON, in which < and > stay readable.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return internal(fmt.Errorf("writing the result: %w", err))
	}
	return nil
}

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

// version is that of the linker, else of the build, which names the commit.
func (p Process) version() string {
	build, ok := debug.ReadBuildInfo()
	if p.Version != "" || !ok {
		return p.Version
	}
	return build.Main.Version
}

func noArgs(command *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case command.Flags().Lookup("rules") != nil:
		return fmt.Errorf("%s takes the PATH with a flag: dyncontroller %[1]s --rules %s", command.Name(), args[0])
	}
	return fmt.Errorf("%s takes no arguments, have %q", command.Name(), args)
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// The exit codes.
const (
	exitClean    = 0
	exitFinding  = 1
	exitUsage    = 2
	exitInternal = 3
)

// errFinding ends a command that has shown what it found.
var errFinding = errors.New("there are findings")

// failure is what kept a command from doing its work, with the exit code for
// it. An error that is none is taken for wrong usage, since cobra's own have no
// type.
type failure struct {
	code int
	err  error
}

// Error implements error.
func (f failure) Error() string { return f.err.Error() }

// Unwrap returns the cause.
func (f failure) Unwrap() error { return f.err }

// told is a failure that the user has been told of.
type told struct{ code int }

// Error implements error.
func (told) Error() string { return "the last run failed" }

func internal(err error) error { return failure{exitInternal, err} }

// report shows an error, and returns the exit code that it stands for.
func report(out io.Writer, command *cobra.Command, err error) int {
	var wrongRules *source.Error
	var failed failure
	var known told
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, errFinding):
		return exitFinding
	case errors.As(err, &wrongRules):
		return reportRules(out, wrongRules)
	case errors.As(err, &known):
		return known.code
	case errors.As(err, &failed):
		show(out, failed.err)
		return failed.code
	default:
		show(out, err)
		fmt.Fprintf(out, "Run '%s --help' for usage.\n", command.CommandPath())
		return exitUsage
	}
}

// reportRules tells files that are wrong, which is a finding, from paths that
// are. What could not be checked is for validate to say.
func reportRules(out io.Writer, err *source.Error) int {
	notes := func(e *document.Error) bool { return e.Severity == document.Note }
	io.WriteString(out, slices.DeleteFunc(slices.Clone(err.Mistakes), notes).Render())
	for _, unusable := range err.Unusable {
		show(out, unusable)
	}
	if len(err.Unusable) > 0 {
		return exitUsage
	}
	return exitFinding
}

// show prints each of the errors that were joined, with its place in a file
// where it has one.
func show(out io.Writer, err error) {
	//nolint:errorlint // Only what is joined at the top is taken apart; an error that was wrapped has words around it.
	switch err := err.(type) {
	case document.Errors:
		io.WriteString(out, err.Render())
	case interface{ Unwrap() []error }:
		for _, one := range err.Unwrap() {
			show(out, one)
		}
	default:
		fmt.Fprintf(out, "dyncontroller: %v\n", err)
	}
}

// flagError words what pflag found.
func flagError(command *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		switch name := unknown.GetSpecifiedName(); {
		case strings.Contains(command.Use, "PATH...") && slices.Contains(flagsOfPaths(), name):
			return fmt.Errorf("%s takes the PATH without a flag: %s rules/", command.Name(), command.CommandPath())
		case unknown.GetSpecifiedShortnames() == "":
			return unknownFlag(command, name)
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
	}
	return err
}

// flagsOfPaths lists what other commands, here and elsewhere, call the flag that names
// files.
func flagsOfPaths() []string { return []string{"f", "rules", "file", "filename"} }

func unknownFlag(command *cobra.Command, name string) error {
	if command.Name() == "run" && config.Unsupported(name) {
		return fmt.Errorf("--%s is not supported yet", name)
	}
	var known []string
	command.Flags().VisitAll(func(flag *pflag.Flag) { known = append(known, flag.Name) })
	if near := document.Suggest(name, known); near != "" {
		return fmt.Errorf("%s has no flag --%s; did you mean --%s?", command.Name(), name, near)
	}
	return fmt.Errorf("%s has no flag --%s", command.Name(), name)
}

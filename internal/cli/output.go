package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The values of --output of commands that do not show findings.
const (
	formatText = "text"
	formatJSON = "json"
)

// format is the value of --output, one of several.
type format struct {
	text    string
	choices []string
	not     []string // known, but not built yet
}

// String implements [pflag.Value].
func (f *format) String() string { return f.text }

// Type implements [pflag.Value].
func (f *format) Type() string { return "FORMAT" }

// Set implements [pflag.Value].
func (f *format) Set(text string) error {
	switch {
	case slices.Contains(f.choices, text):
		f.text = text
		return nil
	case slices.Contains(f.not, text):
		return fmt.Errorf("the format %s is not supported yet", text)
	default:
		return fmt.Errorf("want %s, have %q", strings.Join(f.choices, " or "), text)
	}
}

// completeFlag offers values to the completion of a shell.
func completeFlag(command *cobra.Command, flag string, values []string) {
	// It fails only for a flag that is not there, which a test would show.
	_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
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

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

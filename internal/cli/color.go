package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dyncontroller/dyncontroller/internal/config"
)

// addColorFlag adds --color to all commands.
func addColorFlag(root *cobra.Command) *config.Value {
	whens := []string{"auto", "always", "never"}
	out := &config.Value{Text: whens[0], Kind: "WHEN", Check: config.OneOf(new(string), whens)}
	root.PersistentFlags().Var(out, "color", "use colours: auto (at a terminal, unless NO_COLOR is set), always or never")
	completeFlag(root, "color", whens)
	return out
}

// painted is a text for the standard output, in colours where they are wanted: see https://no-color.org. There are no
// other colours in it.
func (p Process) painted(text string, colors []lineColor) string {
	if when := p.color.Text; when == "never" || when == "auto" && (p.env("NO_COLOR") != "" || !isTerminal(p.Stdout)) {
		return text
	}
	return colorize(strings.ReplaceAll(text, "\x1b", `\u001b`), colors)
}

// env is the value of a variable, empty where there is none.
func (p Process) env(name string) string {
	for _, entry := range p.Env {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			return value
		}
	}
	return ""
}

// The escapes of a terminal.
const (
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	reset = "\x1b[0m"
)

// lineColor is the colour of lines that begin with one of several texts, empty for none.
type lineColor struct {
	color    string
	prefixes []string
}

// colorize gives each line the first colour that it has.
func colorize(text string, colors []lineColor) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		i := slices.IndexFunc(colors, func(c lineColor) bool {
			return slices.ContainsFunc(c.prefixes, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
		})
		if i >= 0 && colors[i].color != "" && line != "\n" {
			line = colors[i].color + strings.TrimSuffix(line, "\n") + reset + "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Component is a program to keep running. What is known about it at run time lies in its directory Dir:
//
//	log      what it printed, over all its lives
//	pid      its process, while there is one
//	command  the command line, ready for a shell
//	down     made by whoever wants the component killed and kept down; removing it starts the component again
type Component struct {
	Name string
	Dir  string
	// Command is the program with its arguments.
	Command []string
}

const tailLines = 20

func (c Component) path(file string) string { return filepath.Join(c.Dir, file) }

// heldDown says whether somebody wants the component down.
func (c Component) heldDown() bool {
	_, err := os.Stat(c.path("down"))
	return err == nil
}

// prepare writes the command line and removes what an earlier run may have left.
func (c Component) prepare() error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	for _, file := range []string{"pid", "down"} {
		if err := os.Remove(c.path(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.WriteFile(c.path("command"), []byte(quote(c.Command)+"\n"), 0o600)
}

// quote writes a command as a shell would have to be given it.
func quote(command []string) string {
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// tail is the end of the log, for an error message.
func (c Component) tail() string {
	data, err := os.ReadFile(c.path("log"))
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

package supervisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestEnvironmentAndInheritedFiles(t *testing.T) {
	inherited := filepath.Join(t.TempDir(), "inherited")
	file, err := os.Create(inherited)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	s := New(nil, []string{"GREETING=hello"}, file)
	defer s.Stop()
	add(t, s, "c", `echo $GREETING >&3; exec sleep 1000`)
	eventually(t, "the greeting in the inherited file", func() bool {
		data, err := os.ReadFile(inherited)
		return err == nil && string(data) == "hello\n"
	})
}

func TestPrepareRemovesWhatAnEarlierRunLeft(t *testing.T) {
	c := Component{Name: "c", Dir: t.TempDir(), Command: []string{"true"}}
	for _, file := range []string{"pid", "down"} {
		if err := os.WriteFile(c.path(file), []byte("1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.prepare(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"pid", "down"} {
		if _, err := os.Stat(c.path(file)); err == nil {
			t.Errorf("%q of an earlier run is still there", file)
		}
	}
}

// The command file must give a shell exactly the command.
func TestCommandFileRunsInAShell(t *testing.T) {
	words := []string{"it's", "a b", `c"d`, "$HOME", "", "*", "é"}
	c := Component{Name: "c", Dir: t.TempDir(), Command: append([]string{"printf", `%s|`}, words...)}
	if err := c.prepare(); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), "/bin/sh", c.path("command")).Output()
	if want := strings.Join(words, "|") + "|"; err != nil || string(got) != want {
		t.Errorf("the shell ran it with %q, %v; want %q", got, err, want)
	}
}

func TestTailWithoutALog(t *testing.T) {
	c := Component{Name: "c", Dir: t.TempDir()}
	if got := c.tail(); !strings.Contains(got, "no log") {
		t.Errorf("tail = %q", got)
	}
}

package tenants

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// page is the guide whose commands are typed.
const page = "../../docs/guide/clusters.md"

var (
	fence = regexp.MustCompile("(?ms)^```(\\S+)[^\n]*\n(.*?)^```$")
	named = regexp.MustCompile(`^# (\S+\.yaml)\n`)
	typed = regexp.MustCompile(`(?m)^\$ (kubectl .*)\n((?:[^$\n].*\n)*)`)
	ages  = regexp.MustCompile(`\b\d+s\b`)
	// logged is what kubectl's client library says of itself, such as that a watch was given up.
	logged = regexp.MustCompile(`(?m)^[IWE]\d{4} .*\n`)
)

// TestGuide types the kubectl commands of the guide, one after the other, and holds that
// they print what the guide shows. How old something is may differ.
func TestGuide(t *testing.T) {
	t.Parallel()
	on := bare(t)
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	place := workplace(t, on, string(data))
	n := 0
	for _, block := range fence.FindAllStringSubmatch(string(data), -1) {
		if block[1] != "console" {
			continue
		}
		for _, command := range typed.FindAllStringSubmatch(block[2], -1) {
			n++
			line, want := command[1], command[2]
			if got := place.shell(t, line); !shows(want, got) {
				t.Errorf("%s (-want +got):\n%s", line, cmp.Diff(want, got))
			}
			if strings.HasPrefix(line, "kubectl apply -k") {
				replica(t, on)
			}
		}
	}
	if n < 10 {
		t.Errorf("the guide has %d commands", n)
	}
}

// place is where commands are typed.
type place struct {
	folder      string
	environment []string
}

// workplace has the files of the guide and deploy, and the kubectl of commands is that of the control plane.
func workplace(t *testing.T, on *plane, text string) place {
	t.Helper()
	deploy, err := filepath.Abs("../../deploy")
	if err != nil {
		t.Fatal(err)
	}
	program, err := controlplane.Binary()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files := map[string]string{"kubectl": "#!/bin/sh\nexec '" + program + "' kubectl \"$@\"\n"}
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		if name := named.FindStringSubmatch(block[2]); name != nil {
			files[name[1]] = block[2]
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o700); err != nil { // One of them is run.
			t.Fatal(err)
		}
	}
	if err := os.Symlink(deploy, filepath.Join(folder, "deploy")); err != nil {
		t.Fatal(err)
	}
	return place{folder, append(os.Environ(),
		"PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG="+on.Kubeconfig())}
}

// shell types a line, and returns what is printed but for logs.
func (p place) shell(t *testing.T, line string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-c", line)
	command.Dir, command.Env = p.folder, p.environment
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return logged.ReplaceAllString(string(out), "")
}

// shows compares what a page shows with what was printed; a line "..." stands for any.
func shows(shown, got string) bool {
	plain := func(text string) string {
		var lines []string
		for line := range strings.Lines(ages.ReplaceAllString(text, "AGE")) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(lines, "\n")
	}
	head, tail, elided := strings.Cut(plain(shown), "...\n")
	return plain(got) == plain(shown) || elided && strings.HasPrefix(plain(got), head) && strings.HasSuffix(plain(got), tail)
}

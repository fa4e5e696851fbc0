package cli

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/tools/clientcmd"
)

func TestMain(m *testing.M) {
	program := func() {
		os.Exit(Run(context.Background(), Process{
			Name: filepath.Base(os.Args[0]),
			Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: "v1.2.3",
		}))
	}
	testscript.Main(m, map[string]func(){"dyncontroller": program, "kubectl-dyncontroller": program})
}

// TestScript runs testdata/script: what needs no cluster, as a user types it. A command of exits is a call in this process,
// which has one working directory and one environment, so scripts run one after the other, and before the parallel tests.
// What exec runs is a process.
func TestScript(t *testing.T) {
	scripts, err := filepath.Abs("testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	// What the Kubernetes client reads of the environment by itself is not that of who runs the tests.
	clientcmd.RecommendedHomeFile = filepath.Join(t.TempDir(), "none")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	testscript.RunT(oneByOne{t}, testscript.Params{
		Dir:                 scripts,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "" && os.Getenv("CI") == "",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": func(ts *testscript.TestScript, neg bool, args []string) { exits(t, ts, neg, args) },
		},
		Setup: func(env *testscript.Env) error {
			// With the race detector, each process would sleep for a second before it ends.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
	})
}

// oneByOne is a test whose parts do not run in parallel.
type oneByOne struct{ *testing.T }

func (oneByOne) Parallel() {}

func (oneByOne) Verbose() bool { return testing.Verbose() }

func (o oneByOne) Run(name string, do func(testscript.T)) {
	o.T.Run(name, func(t *testing.T) { do(oneByOne{t}) })
}

// exits runs a command and checks its exit code: exits CODE dyncontroller ARG...
func exits(t *testing.T, ts *testscript.TestScript, neg bool, args []string) {
	t.Helper()
	if neg || len(args) < 2 || args[1] != "dyncontroller" {
		ts.Fatalf("usage: exits CODE dyncontroller ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	// Only a process is given the environment and the standard input of a script.
	ts.Check(ts.Exec("sh", "-c", `env -0 >"$TMPDIR/env"; cat >"$TMPDIR/stdin"`))
	env, stdin := ts.ReadFile(ts.Getenv("TMPDIR")+"/env"), ts.ReadFile(ts.Getenv("TMPDIR")+"/stdin")
	t.Setenv("KUBECONFIG", ts.Getenv("KUBECONFIG"))
	t.Chdir(ts.MkAbs("."))
	got := Run(t.Context(), Process{
		Args: args[2:], Env: strings.Split(env, "\x00"), Stdin: strings.NewReader(stdin), Stdout: ts.Stdout(), Stderr: ts.Stderr(), Version: "v1.2.3",
	})
	if got != want {
		ts.Fatalf("want exit code %d, got %d", want, got)
	}
}

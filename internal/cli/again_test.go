package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const watchedRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: pods}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules:
  - name: owner
    watch: pods
    actions:
    - patch: {merge: {metadata: {labels: {owner: nobody}}}}
`

const watchedTest = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleTest
metadata: {name: owner}
spec:
  rules: [../rules/rules.yaml]
  cases:
  - {name: one, objects: [pod.yaml]}
`

// replace replaces a file as editors do: by renaming another.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// watching is a `test --watch` that has not ended.
func watching(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t: t, stop: cancel, code: make(chan int, 1)}
	go func() {
		r.code <- Run(ctx, Process{
			Args: append([]string{"test", "--watch"}, args...), Stdin: strings.NewReader(""), Stdout: &r.stdout, Stderr: &r.stderr,
		})
	}()
	t.Cleanup(cancel)
	return r
}

// ran waits until so many runs are over.
func (r *running) ran(times int) {
	r.t.Helper()
	r.eventually("a run", func() bool { return strings.Count(r.stderr.String(), "Ctrl-C ends") >= times })
	if have := strings.Count(r.stderr.String(), "Ctrl-C ends"); have != times {
		r.t.Fatalf("want %d runs, have %d:\n%s", times, have, r.stderr.String())
	}
}

func (r *running) ends(want int) {
	r.t.Helper()
	r.stop()
	if code := <-r.code; code != want {
		r.t.Errorf("it ends with %d, want %d:\n%s", code, want, r.stdout.String())
	}
}

func TestWatchRunsAgain(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder) // The rules are beside the tests.
	rules, tests := filepath.Join(folder, "rules", "rules.yaml"), filepath.Join(folder, "tests")
	replace(t, rules, watchedRules)
	replace(t, filepath.Join(tests, "pod.yaml"), "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}")
	replace(t, filepath.Join(tests, "test.yaml"), watchedTest)
	if code, _, stderr := invoke(t, "test", tests, "--update"); code != exitClean {
		t.Fatal(stderr)
	}
	r := watching(t, tests)
	r.ran(1)
	replace(t, rules, strings.ReplaceAll(watchedRules, "nobody", "somebody"))
	r.ran(2)
	if !strings.Contains(r.stderr.String(), "changed: "+rules) || !strings.Contains(r.stdout.String(), "1 failed") {
		t.Errorf("have %s and %s", r.stdout.String(), r.stderr.String())
	}
	replace(t, filepath.Join(tests, "second_test.yaml"), strings.ReplaceAll(watchedTest, "one", "two"))
	r.ran(3) // A new file in a directory that was searched.
	r.ends(exitFinding)
}

func TestWatchDoesNotFollowItsOwnGoldens(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder) // The rules are beside the tests.
	rules, tests := filepath.Join(folder, "rules", "rules.yaml"), filepath.Join(folder, "tests")
	replace(t, rules, watchedRules)
	replace(t, filepath.Join(tests, "pod.yaml"), "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}")
	replace(t, filepath.Join(tests, "test.yaml"), watchedTest)
	r := watching(t, tests, "--update")
	r.ran(1)
	replace(t, rules, strings.ReplaceAll(watchedRules, "nobody", "somebody"))
	r.ran(2)
	replace(t, rules, watchedRules)
	r.ran(3) // And not a fourth for what the runs before wrote.
	r.ends(exitClean)
}

func TestWatchOutlivesWhatCannotRun(t *testing.T) {
	folder := t.TempDir()
	r := watching(t, folder)
	r.ran(1)
	r.says("there is no RuleTest in")
	r.ends(exitUsage)
	if strings.Count(r.stderr.String(), "there is no RuleTest") != 1 {
		t.Errorf("it is told twice: %s", r.stderr.String())
	}
}

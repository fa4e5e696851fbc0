package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// leaving leaves behind all that rules can: a finalizer, applied fields with either release, children. The rule that
// stays shows what must not be touched.
const (
	leaving = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: SET, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    configmaps: {version: v1, resource: configmaps}
  rules:
`
	stayingRule = `
  - name: SET-stays
    watch: tidbclusters
    actions:
    - patch: {apply: {metadata: {annotations: {example.com/SET-stays: "yes"}}}}
    - apply: {resource: configmaps, manifest: {metadata: {name: SET-stays, labels: {example: "yes"}}}, prune: true}
    onDelete: {actions: [{event: {reason: Going, message: going}}]}
`
	goingRules = `
  - name: orphan
    watch: tidbclusters
    actions:
    - patch: {apply: {metadata: {annotations: {example.com/orphan: "yes"}}}, release: Orphan}
  - name: remove
    watch: tidbclusters
    actions:
    - patch: {apply: {metadata: {annotations: {example.com/remove: "yes"}}}, release: Remove}
  - name: pruned
    watch: tidbclusters
    actions:
    - apply: {resource: configmaps, manifest: {metadata: {name: pruned, labels: {example: "yes"}}}, prune: true}
  - name: kept
    watch: tidbclusters
    actions:
    - apply: {resource: configmaps, manifest: {metadata: {name: kept, labels: {example: "yes"}}}}
  - name: hold
    watch: tidbclusters
    onDelete: {actions: [{event: {reason: Going, message: going}}]}
`
)

// rulesOf is the text of a set.
func rulesOf(set string, parts ...string) string {
	return strings.ReplaceAll(leaving+strings.Join(parts, ""), "SET", set)
}

// traces are what rules have left behind.
type traces struct {
	Finalizers, Managers, Children []string
	Annotations                    map[string]string
}

func tracesIn(t *testing.T, namespace string) traces {
	t.Helper()
	object := get(t, tidbclusters, namespace, "db")
	out := traces{
		Finalizers: object.GetFinalizers(), Children: names(t, configmaps, namespace, "example=yes"),
		Annotations: object.GetAnnotations(),
	}
	for _, entry := range object.GetManagedFields() {
		if strings.HasPrefix(entry.Manager, plan.FieldManager+"/") {
			out.Managers = append(out.Managers, entry.Manager)
		}
	}
	slices.Sort(out.Managers)
	slices.Sort(out.Finalizers)
	return out
}

// left are the traces of the rules that stay in the sets.
func left(namespace string, sets ...string) traces {
	// Orphan is the default.
	out := traces{Annotations: map[string]string{"example.com/orphan": "yes", "example.com/one-stays": "yes"}, Children: []string{"kept"}}
	for _, set := range sets {
		rule := plan.Rule{Kind: "RuleSet", Namespace: namespace, Set: set, Name: set + "-stays"}
		out.Finalizers = append(out.Finalizers, rule.Finalizer())
		out.Managers = append(out.Managers, rule.FieldManager())
		out.Children = append(out.Children, set+"-stays")
		out.Annotations["example.com/"+set+"-stays"] = "yes"
	}
	slices.Sort(out.Managers)
	slices.Sort(out.Finalizers)
	slices.Sort(out.Children)
	return out
}

// footprints runs the sets "one" and "two" from files of a directory until all that they leave behind is there, and ends.
func footprints(t *testing.T) (namespace, directory string, args []string) {
	t.Helper()
	namespace, directory = cluster(t).Namespace(t), t.TempDir()
	tidbCluster(t, namespace, "db", "")
	rulesIn(t, namespace, directory, "one.yaml", rulesOf("one", stayingRule, goingRules))
	rulesIn(t, namespace, directory, "two.yaml", rulesOf("two", stayingRule))
	// An inventory of the test's own, since those of other tests name sets that this one has no files of.
	args = []string{"--namespace", namespace, "--instance", namespace}
	p := start(t, append(args, "--rules", directory)...)
	eventually(t, "all is there", func() bool {
		now := tracesIn(t, namespace)
		return len(now.Finalizers) == 3 && len(now.Managers) == 4 && len(now.Children) == 4 && len(now.Annotations) == 4
	})
	if code := p.wait(t); code != 0 {
		t.Fatalf("ended with %d", code)
	}
	return namespace, directory, args
}

func rulesIn(t *testing.T, namespace, directory, name, text string) {
	t.Helper()
	writeFile(t, filepath.Join(directory, name), strings.ReplaceAll(text, "NAMESPACE", namespace))
}

func removeFile(t *testing.T, directory, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(directory, name)); err != nil {
		t.Fatal(err)
	}
}

// TestCleanupAfterRestart holds that nothing is left of rules that went while no process ran, but for values that were
// to stay and children that were not to be pruned.
func TestCleanupAfterRestart(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(t *testing.T, namespace, directory string)
		more   []string
		stay   []string
	}{
		"RuleRemoved": {
			change: func(t *testing.T, namespace, directory string) {
				rulesIn(t, namespace, directory, "one.yaml", rulesOf("one", stayingRule))
			},
			stay: []string{"one", "two"},
		},
		"FileRemovedAndPrune": {
			change: func(t *testing.T, _, directory string) { removeFile(t, directory, "one.yaml") },
			more:   []string{"--prune"},
			stay:   []string{"two"},
		},
	} {
		for _, mode := range []string{"run", "once"} {
			runVirtually(t, name+"/"+mode, func(t *testing.T) {
				namespace, directory, args := footprints(t)
				args = slices.Concat(args, tc.more, []string{"--rules", directory})
				tc.change(t, namespace, directory)
				want := left(namespace, tc.stay...)
				if mode == "once" {
					if output, code := once(t, args...); code != 0 {
						t.Fatalf("ended with %d:\n%s", code, output)
					}
				} else {
					p := start(t, args...)
					eventually(t, "it is clean", func() bool { return cmp.Equal(want, tracesIn(t, namespace)) })
					p.wait(t)
				}
				if diff := cmp.Diff(want, tracesIn(t, namespace)); diff != "" {
					t.Errorf("what is left (-want +got):\n%s", diff)
				}
				settled(t, args...)
			})
		}
	}
}

// TestCleanupNever holds that what is not known to be gone for good is not cleaned up.
func TestCleanupNever(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(t *testing.T, namespace, directory string)
		more   []string
		fails  bool
	}{
		"FileRemoved": {
			reason: "Without --prune it is only reported.",
			change: func(t *testing.T, _, directory string) { removeFile(t, directory, "one.yaml") },
		},
		"SecondInstance": {
			reason: "What another instance has is not its own.",
			change: func(t *testing.T, namespace, directory string) {
				removeFile(t, directory, "one.yaml")
				removeFile(t, directory, "two.yaml")
				rulesIn(t, namespace, directory, "other.yaml", strings.Replace(rulesOf("other", `
  - name: other
    watch: tidbclusters
    when: "false"
    actions: [{event: {reason: Never, message: never}}]
`), `"false"`, "false", 1))
			},
			more: []string{"--instance", "second", "--prune"},
		},
		"EmptiedDirectory": {
			reason: "It may be a mount that is not there.",
			change: func(t *testing.T, _, directory string) {
				removeFile(t, directory, "one.yaml")
				removeFile(t, directory, "two.yaml")
			},
			more: []string{"--prune"}, fails: true,
		},
		"MissingDirectory": {
			reason: "Nor is a path that is not there a removal.",
			change: func(t *testing.T, _, directory string) {
				if err := os.RemoveAll(directory); err != nil {
					t.Fatal(err)
				}
			},
			more: []string{"--prune"}, fails: true,
		},
		"UnreadableFile": {
			reason: "What it says may be what it said. A link to nowhere is unreadable for an administrator too.",
			change: func(t *testing.T, _, directory string) {
				removeFile(t, directory, "one.yaml")
				if err := os.Symlink("nowhere", filepath.Join(directory, "one.yaml")); err != nil {
					t.Fatal(err)
				}
			},
			more: []string{"--prune"}, fails: true,
		},
		"WrongFile": {
			reason: "Somebody is about to correct it.",
			change: func(t *testing.T, namespace, directory string) {
				rulesIn(t, namespace, directory, "one.yaml", strings.Replace(rulesOf("one", stayingRule), "watch:", "wacth:", 1))
			},
			more: []string{"--prune"}, fails: true,
		},
		"Nothing": {
			reason: "A restart with the same files.",
			change: func(*testing.T, string, string) {},
			more:   []string{"--prune"},
		},
	} {
		runVirtually(t, name, func(t *testing.T) {
			namespace, directory, args := footprints(t)
			want := tracesIn(t, namespace)
			tc.change(t, namespace, directory)
			output, code := once(t, slices.Concat(args, tc.more, []string{"--rules", directory})...)
			if (code != 0) != tc.fails {
				t.Errorf("%s\nended with %d:\n%s", tc.reason, code, output)
			}
			if diff := cmp.Diff(want, tracesIn(t, namespace)); diff != "" {
				t.Errorf("%s\nwhat is left (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCleanupNotByMistakeWhileRunning holds that a directory that is emptied under a running process cleans up nothing.
func TestCleanupNotByMistakeWhileRunning(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace, directory, args := footprints(t)
		want := tracesIn(t, namespace)
		p := start(t, slices.Concat(args, []string{"--prune", "--rules", directory})...)
		eventually(t, "the process is at work", func() bool { return strings.Contains(p.output.String(), "starting") })
		removeFile(t, directory, "one.yaml")
		removeFile(t, directory, "two.yaml")
		eventually(t, "the mistake is logged", func() bool { return strings.Contains(p.output.String(), "those from before stay in effect") })
		deleteObject(t, configmaps, namespace, "pruned")
		eventually(t, "the rules from before make it again", func() bool { return exists(t, configmaps, namespace, "pruned") })
		p.wait(t)
		if diff := cmp.Diff(want, tracesIn(t, namespace)); diff != "" {
			t.Errorf("what is left (-want +got):\n%s", diff)
		}
	})
}

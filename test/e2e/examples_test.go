package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// example copies the rules of an example, for one namespace alone, so that they leave what other tests have in peace.
func example(t *testing.T, namespace, set string) (path string) {
	t.Helper()
	return exampleIn(t, namespace, set, set)
}

// exampleIn is example for one of several files of rules in a folder.
func exampleIn(t *testing.T, namespace, folder, set string) (path string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "rules", folder, set+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// A RuleSet that names no namespace is in that of the command line.
	text := strings.Replace(string(data), "\nkind: ClusterRuleSet\n", "\nkind: RuleSet\n", 1)
	if text == string(data) {
		t.Fatalf("the example %s is no ClusterRuleSet", set)
	}
	return rulesFile(t, namespace, text)
}

// apart are the arguments for a process with a namespace and an inventory of its own.
func apart(namespace string) []string {
	return []string{"--namespace", namespace, "--instance", namespace}
}

// report writes the status of a Pod, as the kubelet would.
func report(t *testing.T, namespace, name, status string) {
	t.Helper()
	_, err := client(t).Resource(pods).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType,
		fmt.Appendf(nil, `{"status":%s}`, status), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
}

// warnings are the notes of the Warnings about a TidbCluster that have a reason, one a line.
func warnings(t *testing.T, namespace, name, reason string) string {
	t.Helper()
	var out []string
	for _, event := range listEvents(t, namespace) {
		if event.Type == "Warning" && event.Reason == reason && event.Regarding.Kind == "TidbCluster" && event.Regarding.Name == name {
			out = append(out, event.Note)
		}
	}
	return strings.Join(out, "\n")
}

// TestExamplesFailedPods holds that a Pod of a cluster goes once it has failed for as long as the parameter says, and no
// other Pod does.
func TestExamplesFailedPods(t *testing.T) {
	virtually(t, func(t *testing.T) {
		const (
			keep = 5 * time.Second
			ours = "labels: {app.kubernetes.io/managed-by: tidb-operator, app.kubernetes.io/instance: db}"
		)
		namespace := cluster(t).Namespace(t)
		allowPods(t, namespace)
		tidbCluster(t, namespace, "db", "")
		pod(t, namespace, "healthy", ours)
		pod(t, namespace, "never-ready", ours)
		pod(t, namespace, "once-ready", ours)
		pod(t, namespace, "foreign", "labels: {app.kubernetes.io/instance: db}")
		pod(t, namespace, "orphan", "labels: {app.kubernetes.io/managed-by: tidb-operator, app.kubernetes.io/instance: nobody}")
		report(t, namespace, "healthy", `{"phase":"Running"}`)
		start(t, append(apart(namespace), "--rules", example(t, namespace, "failed-pods"), "--param", "failed-pods.keep="+keep.String())...)
		for _, name := range []string{"foreign", "orphan", "never-ready"} {
			report(t, namespace, name, `{"phase":"Failed"}`)
		}
		failed := time.Now().Add(time.Second).UTC().Truncate(time.Second) // Times in an object have whole seconds.
		report(t, namespace, "once-ready", fmt.Sprintf(
			`{"phase":"Failed","conditions":[{"type":"Ready","status":"False","lastTransitionTime":%q}]}`, failed.Format(time.RFC3339)))

		eventually(t, "the Pod that was ready is gone", func() bool { return !exists(t, pods, namespace, "once-ready") })
		if kept := time.Since(failed); kept < keep {
			t.Errorf("the Pod that was ready was kept for %s after it failed, want %s", kept, keep)
		}
		eventually(t, "the Pod that never was ready is gone", func() bool { return !exists(t, pods, namespace, "never-ready") })
		eventually(t, "an event names both", func() bool {
			notes := warnings(t, namespace, "db", "FailedPods")
			return strings.Contains(notes, "never-ready") && strings.Contains(notes, "once-ready")
		})
		if diff := cmp.Diff([]string{"foreign", "healthy", "orphan"}, names(t, pods, namespace, "")); diff != "" {
			t.Errorf("Pods that stay (-want +got):\n%s", diff)
		}
	})
}

// connected runs the example connection-config on a TidbCluster "db" until it is held and has its ConfigMap.
func connected(t *testing.T) (namespace string, p *process) {
	t.Helper()
	namespace = cluster(t).Namespace(t)
	tidbCluster(t, namespace, "db", "")
	p = start(t, append(apart(namespace), "--rules", example(t, namespace, "connection-config"))...)
	eventually(t, "the cluster is held and has its ConfigMap", func() bool {
		return len(get(t, tidbclusters, namespace, "db").GetFinalizers()) == 1 && exists(t, configmaps, namespace, "db-connection")
	})
	return namespace, p
}

// TestExamplesConnectionConfig holds that the ConfigMap is there as long as TiDB has servers, and that a cluster waits
// for those who use it.
func TestExamplesConnectionConfig(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace, p := connected(t)
		want := map[string]any{"host": "db-tidb." + namespace + ".svc", "port": "4000"}
		if diff := cmp.Diff(want, field(get(t, configmaps, namespace, "db-connection"), "data")); diff != "" {
			t.Errorf("what the ConfigMap says (-want +got):\n%s", diff)
		}
		edit(t, tidbclusters, namespace, "db", `{"spec":{"tidb":{"replicas":0}}}`)
		eventually(t, "the ConfigMap goes with the servers", func() bool { return !exists(t, configmaps, namespace, "db-connection") })
		edit(t, tidbclusters, namespace, "db", `{"spec":{"tidb":{"replicas":1}}}`)
		eventually(t, "it comes back with them", func() bool { return exists(t, configmaps, namespace, "db-connection") })

		allowPods(t, namespace)
		pod(t, namespace, "app", "labels: {example.com/uses-tidb: db}")
		pod(t, namespace, "another", "labels: {example.com/uses-tidb: another}")
		// A process that runs may see the Pod up to two seconds after the deletion. One that starts has seen it.
		p.wait(t)
		start(t, append(apart(namespace), "--rules", example(t, namespace, "connection-config"))...)
		deleteObject(t, tidbclusters, namespace, "db")
		eventually(t, "the event that says why it waits is there", func() bool { return warnings(t, namespace, "db", "InUse") != "" })
		if !exists(t, tidbclusters, namespace, "db") || !exists(t, configmaps, namespace, "db-connection") {
			t.Error("the cluster, or its ConfigMap, did not wait for the Pod that uses it")
		}
		deleteObject(t, pods, namespace, "app")
		eventually(t, "the cluster goes after its last user", func() bool { return !exists(t, tidbclusters, namespace, "db") })
		eventually(t, "the ConfigMap goes with the cluster", func() bool { return !exists(t, configmaps, namespace, "db-connection") })
	})
}

// TestExamplesCleanup holds that nothing of the example is left after cleanup --all, and that it says what it did.
func TestExamplesCleanup(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace, p := connected(t)
		if code := p.wait(t); code != 0 {
			t.Fatalf("ended with %d", code)
		}
		cleanup := append([]string{"cleanup", "--all", "--yes", "--kubeconfig", cluster(t).Kubeconfig()}, apart(namespace)...)
		stdout, stderr, code := command(t, append(cleanup, "--dry-run")...)
		if code != 0 || len(get(t, tidbclusters, namespace, "db").GetFinalizers()) != 1 || !exists(t, configmaps, namespace, "db-connection") {
			t.Fatalf("the dry run changed something, or ended with %d:\n%s%s", code, stdout, stderr)
		}
		stdout, stderr, code = command(t, cleanup...)
		printed := strings.Split(strings.TrimSpace(stdout), "\n")
		slices.Sort(printed)
		want := []string{
			"deleted configmaps " + namespace + "/db-connection (connection-config/connection)",
			"took a finalizer off tidbclusters " + namespace + "/db (connection-config/in-use)",
		}
		if diff := cmp.Diff(want, printed); code != 0 || diff != "" {
			t.Errorf("ended with %d: %s\nwhat is printed (-want +got):\n%s", code, stderr, diff)
		}
		object := get(t, tidbclusters, namespace, "db")
		if held := object.GetFinalizers(); len(held) > 0 || object.GetDeletionTimestamp() != nil {
			t.Errorf("the cluster is held by %s, or being deleted", held)
		}
		if exists(t, configmaps, namespace, "db-connection") {
			t.Error("the ConfigMap is still there")
		}
		for _, entry := range object.GetManagedFields() {
			if strings.HasPrefix(entry.Manager, plan.FieldManager+"/") {
				t.Errorf("%s still owns fields of the cluster", entry.Manager)
			}
		}
	})
}

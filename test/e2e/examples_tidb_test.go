package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

var backups = schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "backups"}

// knowBackups has the API server know the Backups of tidb-operator, too.
func knowBackups(t *testing.T) {
	t.Helper()
	module, err := controlplane.ModuleDir(t.Context(), controlplane.TidbOperator)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster(t).InstallCRDs(t.Context(), filepath.Join(module, "manifests", "crd", "v1", "pingcap.com_backups.yaml")); err != nil {
		t.Fatal(err)
	}
}

// TestExamplesTidbBackup holds that there is exactly one Backup a night for a cluster of production, whoever starts the
// process again, and that it outlives the cluster.
func TestExamplesTidbBackup(t *testing.T) {
	virtually(t, func(t *testing.T) {
		knowBackups(t)
		namespace := cluster(t).Namespace(t)
		begun := time.Now().UTC().Add(-time.Hour)
		night := fmt.Sprintf(`tidb-operations.night={begins: "0 %d * * *", lasts: 23h, zone: UTC}`, begun.Hour())
		rules := append(apart(namespace), "--rules", exampleIn(t, namespace, "tidbcluster", "tidb-operations"), "--param", night)
		const ready = `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`
		for _, name := range []string{"orders", "search", "paused"} {
			tidbCluster(t, namespace, name, "env: prod")
		}
		edit(t, tidbclusters, namespace, "orders", ready)
		edit(t, tidbclusters, namespace, "paused", `{"spec":{"paused":true},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)

		want := []string{"orders-" + begun.Format(time.DateOnly)}
		p := start(t, rules...)
		eventually(t, "there is a backup", func() bool { return cmp.Equal(want, names(t, backups, namespace, "")) })
		made := get(t, backups, namespace, want[0])
		if code := p.wait(t); code != 0 {
			t.Fatalf("ended with %d", code)
		}
		edit(t, tidbclusters, namespace, "orders", `{"metadata":{"annotations":{"note":"changed while no process ran"}}}`)
		for range 3 {
			if output, code := once(t, rules...); code != 0 {
				t.Fatalf("ended with %d:\n%s", code, output)
			}
		}
		if diff := cmp.Diff(want, names(t, backups, namespace, "")); diff != "" {
			t.Errorf("backups after restarts (-want +got):\n%s", diff)
		}
		if version := get(t, backups, namespace, want[0]).GetResourceVersion(); version != made.GetResourceVersion() {
			t.Error("the backup was written again")
		}

		start(t, rules...)
		edit(t, tidbclusters, namespace, "search", ready)
		want = append(want, "search-"+begun.Format(time.DateOnly))
		eventually(t, "a cluster that is ready later has its backup then", func() bool {
			return cmp.Equal(want, names(t, backups, namespace, ""))
		})
		deleteObject(t, tidbclusters, namespace, "orders")
		eventually(t, "the cluster is gone", func() bool { return !exists(t, tidbclusters, namespace, "orders") })
		if owners := get(t, backups, namespace, want[0]).GetOwnerReferences(); len(owners) > 0 {
			t.Errorf("the backup goes with %v", owners)
		}
	})
}

// TestExamplesTidbOperations holds that Pods have the labels of their cluster, that a member that is not ready is told, and
// that a cluster for tests goes when its time has come, and no other one does.
func TestExamplesTidbOperations(t *testing.T) {
	virtually(t, func(t *testing.T) {
		knowBackups(t)
		namespace := cluster(t).Namespace(t)
		allowPods(t, namespace)
		const ours = "labels: {app.kubernetes.io/managed-by: tidb-operator, app.kubernetes.io/instance: db, app.kubernetes.io/component: %s}"
		tidbCluster(t, namespace, "db", "team: payments")
		pod(t, namespace, "db-pd-0", fmt.Sprintf(ours, "pd"))
		pod(t, namespace, "db-tikv-0", fmt.Sprintf(ours, "tikv"))
		report(t, namespace, "db-pd-0", `{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`)
		report(t, namespace, "db-tikv-0", `{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`)
		for name, labels := range map[string]string{"pr-1": "env: test", "forgotten": "env: test", "production": "env: prod"} {
			tidbCluster(t, namespace, name, labels)
			edit(t, tidbclusters, namespace, name, `{"metadata":{"annotations":{"example.com/ttl":"1w"}}}`)
		}
		edit(t, tidbclusters, namespace, "forgotten", `{"metadata":{"annotations":{"example.com/ttl":"a day"}}}`)

		start(t, append(apart(namespace), "--rules", exampleIn(t, namespace, "tidbcluster", "tidb-operations"))...)
		label := func(name string) any { return get(t, pods, namespace, name).GetLabels()["team"] }
		eventually(t, "Pods have the team", func() bool { return label("db-pd-0") == "payments" && label("db-tikv-0") == "payments" })
		edit(t, tidbclusters, namespace, "db", `{"metadata":{"labels":{"team":"search"}}}`)
		eventually(t, "the team of Pods follows", func() bool { return label("db-pd-0") == "search" && label("db-tikv-0") == "search" })
		eventually(t, "the member is told", func() bool {
			return warnings(t, namespace, "db", "UnhealthyMember") == "db-tikv-0 has not been ready for 10m"
		})
		eventually(t, "the mistake is told", func() bool {
			return strings.Contains(warnings(t, namespace, "forgotten", "UnreadableTTL"), `"a day"`)
		})
		edit(t, tidbclusters, namespace, "pr-1", `{"metadata":{"annotations":{"example.com/ttl":"1s"}}}`)
		edit(t, tidbclusters, namespace, "production", `{"metadata":{"annotations":{"example.com/ttl":"1s"}}}`)
		eventually(t, "the test cluster is gone", func() bool { return !exists(t, tidbclusters, namespace, "pr-1") })
		if diff := cmp.Diff([]string{"db", "forgotten", "production"}, names(t, tidbclusters, namespace, "")); diff != "" {
			t.Errorf("clusters that stay (-want +got):\n%s", diff)
		}
	})
}

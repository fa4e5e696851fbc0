package tenants

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

var (
	podtemplates   = schema.GroupVersionResource{Version: "v1", Resource: "podtemplates"}
	services       = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	resourcequotas = schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}
)

// Why a right is needed that a set does not use each time.
const (
	lost     = "what became of a write is asked where the answer to it was lost, and whether an object is gone"
	streamed = "a cache lists where the API server does not stream to it"
	inside   = "the API server asks for it within the patch that makes the object"
	admitted = "the admission plugin OwnerReferencesPermissionEnforcement asks for it"
)

// leasts are the examples, and a set that uses all actions.
func leasts(t *testing.T) map[string]least {
	t.Helper()
	of := func(path ...string) string {
		text := read(t, append([]string{"..", "..", "examples", "rules"}, path...)...)
		return strings.Replace(text, "\nspec:\n", "\nspec:\n  serviceAccountName: bot\n  serviceAccountNamespace: NAMESPACE\n", 1)
	}
	return map[string]least{
		"guardrails": {
			document: of("tidbcluster", "tidb-guardrails.yaml"), kind: clusterRuleSets, name: "tidb-guardrails", work: guarded, left: guardedLeft,
			spare: map[string]string{"get tidbclusters.pingcap.com": lost},
		},
		"connection": {
			document: of("connection-config", "connection-config.yaml"), kind: clusterRuleSets, name: "connection-config", work: connected, left: connectedLeft,
			spare: map[string]string{
				"create configmaps": inside, "get configmaps": lost, "list pods": streamed, "update tidbclusters/finalizers.pingcap.com": admitted,
			},
		},
		"failed pods": {
			document: of("failed-pods", "failed-pods.yaml"), kind: clusterRuleSets, name: "failed-pods", work: swept, left: nothingLeft,
			spare: map[string]string{"get pods": lost, "list pods": streamed, "get tidbclusters.pingcap.com": lost, "list tidbclusters.pingcap.com": streamed},
		},
		"everything": {
			document: allActions, kind: ruleSets, name: "everything", work: worked, left: workedLeft,
			spare: map[string]string{
				"create limitranges": inside, "create services": inside, "update configmaps/finalizers": admitted,
				"get podtemplates": lost, "get resourcequotas": lost, "get limitranges": lost, "get services": lost,
				"get serviceaccounts": lost, "get pods": lost, "list podtemplates": streamed,
			},
		},
	}
}

func fixture(t *testing.T, namespace string, path ...string) {
	t.Helper()
	h := sameHome{t: t, on: controlPlane(t)}
	h.create(namespace, read(t, filepath.Join(append([]string{"..", "..", "examples", "rules"}, path...)...)))
}

// counted waits until an Event of the reason, or of any, was told, or told again.
func counted(t *testing.T, on virtual.Cluster, namespace, reason string, again bool) {
	t.Helper()
	eventually(t, "the Event "+reason, func() bool {
		for _, event := range items(t, on, events, namespace) {
			if (reason == "" || event.Object["reason"] == reason) && (!again || event.Object["series"] != nil) {
				return true
			}
		}
		return false
	})
}

// guarded lets the guardrails mend a cluster that is wrong, twice.
func guarded(t *testing.T, namespace string) {
	t.Helper()
	fixture(t, namespace, "tidbcluster", "fixtures", "all-wrong.yaml")
	mended := func() bool {
		object := get(t, cluster(t), tidbclusters, namespace, "all-wrong")
		return field(object, "metadata", "labels", "team") == "unassigned" && field(object, "spec", "pd", "replicas") == int64(3) &&
			field(object, "spec", "tikv", "replicas") == int64(3) && field(object, "spec", "tikv", "version") == nil &&
			field(object, "spec", "version") == "v8.5.5" && owned(object)
	}
	eventually(t, "it is mended", mended)
	counted(t, cluster(t), namespace, "EvenPD", false)
	eventually(t, "the rule has seen that it is mended, which ends the episode", mendedBy(t, clusterRuleSets, "", "tidb-guardrails", "pd-quorum"))
	edit(t, cluster(t), tidbclusters, namespace, "all-wrong", `{"spec": {"pd": {"replicas": 2}}}`)
	eventually(t, "it is mended again", mended)
	counted(t, cluster(t), namespace, "EvenPD", true)
}

// mendedBy reports whether the status of a set has a rule that has written, and matches nothing since.
func mendedBy(t *testing.T, kind schema.GroupVersionResource, namespace, set, rule string) func() bool {
	return func() bool {
		all, _ := field(get(t, cluster(t), kind, namespace, set), "status", "rules").([]any)
		return slices.ContainsFunc(all, func(element any) bool {
			fields, _ := element.(map[string]any)
			writes, _ := fields["writes"].(int64)
			return fields["name"] == rule && writes > 0 && fields["matched"] == int64(0)
		})
	}
}

func guardedLeft(t *testing.T, namespace string) string {
	t.Helper()
	if owned(get(t, cluster(t), tidbclusters, namespace, "all-wrong")) {
		return "a field that it owns"
	}
	return ""
}

func nothingLeft(*testing.T, string) string { return "" }

// connected makes and prunes what applications find a cluster by, refuses what is not
// its own, and keeps the cluster while it is used.
func connected(t *testing.T, namespace string) {
	t.Helper()
	exists := func(want bool) {
		t.Helper()
		const name = "orders-connection"
		eventually(t, name, func() bool { return (get(t, cluster(t), configmaps, namespace, name) != nil) == want })
	}
	fixture(t, namespace, "connection-config", "fixtures", "cluster.yaml")
	exists(true)
	for _, again := range []bool{false, true} {
		edit(t, cluster(t), tidbclusters, namespace, "orders", `{"spec": {"tidb": {"replicas": 0}}}`)
		exists(false)
		apply(t, cluster(t), namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: orders-connection, namespace: NAMESPACE}\n")
		edit(t, cluster(t), tidbclusters, namespace, "orders", `{"spec": {"tidb": {"replicas": 1}}}`)
		counted(t, cluster(t), namespace, "", again) // That it is not its own.
		kubectl(t, controlPlane(t), "delete", "configmap", "orders-connection", "-n", namespace)
	}
	edit(t, cluster(t), tidbclusters, namespace, "orders", `{"metadata": {"labels": {"a": "b"}}}`)
	exists(true)

	fixture(t, namespace, "connection-config", "fixtures", "web.yaml")
	kubectl(t, controlPlane(t), "delete", "tidbcluster", "orders", "-n", namespace, "--wait=false")
	counted(t, cluster(t), namespace, "InUse", false)
	kubectl(t, controlPlane(t), "delete", "pod", "web", "-n", namespace, "--force")
	eventually(t, "the cluster that nobody uses is gone", func() bool { return get(t, cluster(t), tidbclusters, namespace, "orders") == nil })
	exists(false)
	fixture(t, namespace, "connection-config", "fixtures", "cluster.yaml")
	exists(true)
	eventually(t, "the finalizer", func() bool { return len(get(t, cluster(t), tidbclusters, namespace, "orders").GetFinalizers()) > 0 })
}

func connectedLeft(t *testing.T, namespace string) string {
	t.Helper()
	switch {
	case get(t, cluster(t), configmaps, namespace, "orders-connection") != nil:
		return "the ConfigMap"
	case len(get(t, cluster(t), tidbclusters, namespace, "orders").GetFinalizers()) > 0:
		return "the finalizer"
	default:
		return ""
	}
}

// swept deletes a Pod that has failed, twice.
func swept(t *testing.T, namespace string) {
	t.Helper()
	fixture(t, namespace, "failed-pods", "fixtures", "cluster.yaml")
	for _, again := range []bool{false, true} {
		fixture(t, namespace, "failed-pods", "fixtures", "evicted.yaml")
		eventually(t, "the Pod is deleted", func() bool { return get(t, cluster(t), pods, namespace, "orders-discovery-5f6c") == nil })
		counted(t, cluster(t), namespace, "FailedPods", again)
	}
}

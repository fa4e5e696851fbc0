package tenants

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// boss is a ServiceAccount that may do everything.
const boss = `apiVersion: v1
kind: ServiceAccount
metadata: {name: bot, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: boss-NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: bot, namespace: NAMESPACE}]
`

var (
	tidbclusters = schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
	pods         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// TestSameAsFileAndObject holds that a document does the same from a file and from the
// cluster: the same requests to equal objects, down to the last byte of their bodies.
func TestSameAsFileAndObject(t *testing.T) {
	examples := filepath.Join("..", "..", "examples", "rules")
	cases := map[string]struct {
		document string
		objects  []string
		kind     schema.GroupVersionResource
		set      string
		writes   int // at least
	}{
		"tricky": {tricky, []string{trickyObject}, ruleSets, "tricky", 3},
		"guardrails": {
			example(t, examples, "tidbcluster", "tidb-guardrails.yaml"), []string{
				read(t, examples, "tidbcluster", "fixtures", "all-wrong.yaml"), read(t, examples, "tidbcluster", "fixtures", "components-move.yaml"),
				read(t, examples, "tidbcluster", "fixtures", "tagged.yaml"), read(t, examples, "tidbcluster", "fixtures", "right.yaml"),
			}, clusterRuleSets, "tidb-guardrails", 10,
		},
		"connection": {
			example(t, examples, "connection-config", "connection-config.yaml"), []string{
				read(t, examples, "connection-config", "fixtures", "cluster.yaml"), read(t, examples, "connection-config", "fixtures", "web.yaml"),
			}, clusterRuleSets, "connection-config", 2,
		},
		"failed pods": {
			example(t, examples, "failed-pods", "failed-pods.yaml"), []string{
				read(t, examples, "failed-pods", "fixtures", "cluster.yaml"), read(t, examples, "failed-pods", "fixtures", "evicted.yaml"),
			}, clusterRuleSets, "failed-pods", 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			virtuallyAlone(t, func(t *testing.T) {
				on := cluster(t)
				home(t, on, "rules")
				home(t, on, "shop")
				path := filepath.Join(t.TempDir(), "rules.yaml")
				if err := os.WriteFile(path, []byte(c.document), 0o600); err != nil {
					t.Fatal(err)
				}
				h := sameHome{t: t, on: on, namespace: "shop", document: c.document, path: path, objects: c.objects}
				file := h.asFile()
				if len(file) < c.writes {
					t.Errorf("there are %d writes, want %d", len(file), c.writes)
				}
				h.wipe()
				object := h.asObject(c.kind, c.set, len(file))
				if diff := cmp.Diff(file, object); diff != "" {
					t.Errorf("as an object it does something else than as a file (-file +object):\n%s", diff)
				}
				t.Logf("%d equal writes", len(file))
			})
		})
	}
}

// home makes a namespace with a ServiceAccount that may do everything.
func home(t *testing.T, on virtual.Cluster, namespace string) {
	t.Helper()
	apply(t, on, namespace, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE}\n---\n"+boss)
	if virtual.Transport(on) == nil { // The controller manager makes it, and Pods need it.
		eventually(t, "its ServiceAccount", func() bool { return get(t, on, serviceaccounts, namespace, "default") != nil })
	}
}

// alone is a control plane for one test, with the kinds that rules here are about.
func alone(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	on, err := controlplane.Start(t.Context(), controlplane.Options{ControllerManager: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := install(t.Context(), on); err != nil {
		t.Fatal(err)
	}
	home(t, on, "rules")
	return on
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// example is an example, with the identity that a set in the cluster must have.
func example(t *testing.T, path ...string) string {
	t.Helper()
	text := read(t, path...)
	if strings.Count(text, "\nspec:\n") != 1 {
		t.Fatalf("%s is not one set", path)
	}
	return strings.Replace(text, "\nspec:\n", "\nspec:\n  serviceAccountName: bot\n  serviceAccountNamespace: rules\n", 1)
}

// sameHome runs a document in one of its homes, each time with new objects that are
// equal.
type sameHome struct {
	t         *testing.T
	on        virtual.Cluster
	namespace string
	document  string
	path      string // of the document
	objects   []string
}

// asFile settles the document as a file, and returns what was written.
func (h sameHome) asFile() []string {
	h.t.Helper()
	r := h.prepare()
	p := launch(h.t, h.on, "run", "--kubeconfig", r.kubeconfig, "--rules", h.path, "--once")
	if code := p.code(); code != 0 {
		h.t.Fatalf("it ended with %d:\n%s", code, p.output)
	}
	return r.writes(h.t)
}

// asObject runs the document as an object until there are as many writes, and again to
// settle whatever else it may want.
func (h sameHome) asObject(kind schema.GroupVersionResource, name string, writes int) []string {
	h.t.Helper()
	r := h.prepare()
	namespace := h.namespace
	if kind == clusterRuleSets {
		namespace = ""
	}
	set := &unstructured.Unstructured{}
	body, err := yaml.YAMLToJSON([]byte(h.document))
	if err == nil {
		err = set.UnmarshalJSON(body) // Large numbers stay what they are.
	}
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := client(h.t, h.on).Resource(kind).Namespace(namespace).Create(h.t.Context(), set, metav1.CreateOptions{}); err != nil {
		h.t.Fatal(err)
	}
	p := launch(h.t, h.on, "run", "--kubeconfig", r.kubeconfig, "--rules-from-cluster", "--metrics-bind-address", "0", "--health-probe-bind-address", "0")
	h.t.Cleanup(func() {
		p.stop(h.t)
		if h.t.Failed() {
			h.t.Logf("as an object:\n%s\nwrites:\n%s", p.output, strings.Join(r.writes(h.t), "\n"))
		}
	})
	ready(h.t, h.on, kind, namespace, name)
	eventually(h.t, "as many writes as of the file", func() bool { return len(r.writes(h.t)) >= writes })
	p.stop(h.t)
	settled := launch(h.t, h.on, "run", "--kubeconfig", r.kubeconfig, "--rules-from-cluster", "--once")
	if code := settled.code(); code != 0 {
		h.t.Errorf("it ended with %d:\n%s", code, settled.output)
	}
	out := r.writes(h.t)
	return out
}

// prepare makes the objects, and the way on which requests are recorded.
func (h sameHome) prepare() *tape {
	h.t.Helper()
	for _, text := range h.objects {
		for document := range strings.SplitSeq(text, "\n---\n") {
			h.create(h.namespace, document)
		}
	}
	return record(h.t, h.on, h.namespace)
}

// wipe deletes all that was made, without what keeps it and what is remembered of it.
func (h sameHome) wipe() {
	h.t.Helper()
	for _, of := range []schema.GroupVersionResource{tidbclusters, pods, configmaps, events} {
		if err := client(h.t, h.on).Resource(of).Namespace(h.namespace).DeleteCollection(h.t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			h.t.Fatal(err)
		}
	}
	of := client(h.t, h.on).Resource(tidbclusters).Namespace(h.namespace)
	eventually(h.t, "everything is gone", func() bool {
		list, err := of.List(h.t.Context(), metav1.ListOptions{})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, held := range list.Items {
			_, err := of.Patch(h.t.Context(), held.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				h.t.Fatal(err)
			}
		}
		return len(list.Items) == 0
	})
}

// create makes an object with its status, as a fixture has it.
func (h sameHome) create(namespace, document string) {
	h.t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
		h.t.Fatal(err)
	}
	of := map[string]schema.GroupVersionResource{"TidbCluster": tidbclusters, "Pod": pods}[object.GetKind()]
	object.SetNamespace(namespace)
	status, has := object.Object["status"]
	made, err := client(h.t, h.on).Resource(of).Namespace(namespace).Create(h.t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	if !has {
		return
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = client(h.t, h.on).Resource(of).Namespace(namespace).
		Patch(h.t.Context(), made.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		h.t.Fatal(err)
	}
}

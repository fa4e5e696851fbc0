package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// full is a control plane with everything that Options can ask for.
type full struct {
	*ControlPlane
	audit string
}

func TestControlPlane(t *testing.T) {
	t.Parallel()
	audit := filepath.Join(t.TempDir(), "audit.log")
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	text := "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, Options{
		ControllerManager: true,
		FeatureGates:      map[string]bool{"ShardedListAndWatch": true},
		APIServerArgs:     []string{"--anonymous-auth=false", "--audit-policy-file=" + policy, "--audit-log-path=" + audit},
	})
	f := full{c, audit}
	t.Run("kubectl", f.kubectl)
	t.Run("kubeconfig", f.kubeconfig)
	t.Run("TidbCluster", f.tidbCluster)
	t.Run("requests", f.requests)
	t.Run("Deployment", f.deployment)
	t.Run("namespace deletion", f.namespaceDeletion)
	t.Run("feature gate", f.featureGate)
	t.Run("audit", f.auditLog)
}

func (s full) auditLog(t *testing.T) {
	if data, err := os.ReadFile(s.audit); err != nil || !strings.Contains(string(data), `"kind":"Event"`) {
		t.Errorf("no audit event was written: %v", err)
	}
}

// The version comes from the linker's flags in the Makefile; without them it would be v0.0.0.
func (s full) kubectl(t *testing.T) {
	out, err := s.Kubectl(t.Context(), "version")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Client Version: v1.", "Server Version: v1."} {
		if !strings.Contains(out, want) {
			t.Errorf("kubectl version says\n%s\nwant %q in it", out, want)
		}
	}
	if _, err := s.Kubectl(t.Context(), "get", "nothing"); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("an error of kubectl: %v, want what it said", err)
	}
}

func (s full) kubeconfig(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if len(config.CAData) == 0 || config.BearerToken == "" || config.Insecure {
		t.Error("the kubeconfig needs other files, or trusts anybody")
	}
	if !strings.HasPrefix(config.Host, "https://127.0.0.1:") {
		t.Errorf("the API server is at %s", config.Host)
	}
	if got := s.RESTConfig(); got == s.RESTConfig() || got.Host != config.Host {
		t.Error("RESTConfig is not a copy of the kubeconfig's")
	}
	// RBAC must be at work: an unknown user may not read.
	config.Impersonate.UserName = "nobody"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(configmaps()).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a user without rights reads ConfigMaps: %v", err)
	}
}

// Once InstallCRDs has returned, an object can be created at once, without a retry.
func (s full) tidbCluster(t *testing.T) {
	installTidb(t, s.ControlPlane)
	namespace := s.Namespace(t)
	created := create(t, s.ControlPlane, tidbclusters(), namespace, tidbCluster("basic"))
	replicas, found, err := unstructured.NestedInt64(created.Object, "spec", "pd", "replicas")
	if replicas != 2 || !found || err != nil {
		t.Errorf("replicas = %d, %t, %v", replicas, found, err)
	}
	installTidb(t, s.ControlPlane) // A second time updates.

	wrong := tidbCluster("wrong")
	if err := unstructured.SetNestedField(wrong, "two", "spec", "pd", "replicas"); err != nil {
		t.Fatal(err)
	}
	_, err = s.dynamic.Resource(tidbclusters()).Namespace(namespace).
		Create(t.Context(), &unstructured.Unstructured{Object: wrong}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("the schema is not enforced: %v", err)
	}
}

func (s full) requests(t *testing.T) {
	namespace := s.Namespace(t)
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"} // The controller manager makes ConfigMaps too.
	secret := configMap("one")
	secret.SetKind("Secret")
	client := s.dynamic.Resource(secrets).Namespace(namespace)
	before, err := s.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	patch := func(data string, o metav1.PatchOptions) {
		t.Helper()
		if _, err := client.Patch(t.Context(), "one", types.MergePatchType, []byte(data), o); err != nil {
			t.Fatal(err)
		}
	}
	create(t, s.ControlPlane, secrets, namespace, secret.DeepCopy().Object)
	patch(`{"data": {"a": "MQ=="}}`, metav1.PatchOptions{})
	patch(`{"data": {"a": "Mg=="}}`, metav1.PatchOptions{})
	patch(`{"data": {"a": "Mw=="}}`, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	if _, err := client.Apply(t.Context(), "one", secret, metav1.ApplyOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	stale := []byte(`{"metadata": {"resourceVersion": "1"}, "data": {"a": "NA=="}}`)
	if _, err := client.Patch(t.Context(), "one", types.MergePatchType, stale, metav1.PatchOptions{}); !apierrors.IsConflict(err) {
		t.Fatalf("a stale patch: %v", err)
	}
	after, err := s.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sent := after.Since(before)
	for _, tc := range []struct {
		pattern Request
		want    int
	}{
		{Request{Verb: "POST", Resource: "secrets", Code: "201"}, 1},
		{Request{Verb: "PATCH", Resource: "secrets", Code: "200", DryRun: "All"}, 1},
		{Request{Verb: "APPLY", Resource: "secrets", Code: "200"}, 1},
		{Request{Verb: "PATCH", Resource: "secrets", Code: "409"}, 1},
	} {
		if got := sent.Count(tc.pattern); got != tc.want {
			t.Errorf("%s: counted %d, want %d of\n%s", tc.pattern, got, tc.want, sent)
		}
	}
	if got := sent.Writes().Count(Request{Resource: "secrets"}); got != 5 {
		t.Errorf("counted %d writes, want 5: one create, three patches, one apply of\n%s", got, sent)
	}
}

// A Deployment that gets its Pod shows the controller manager at work, with service account tokens and admission.
func (s full) deployment(t *testing.T) {
	namespace := s.Namespace(t)
	labels := map[string]any{"app": "web"}
	create(t, s.ControlPlane, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, namespace, map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   map[string]any{"name": "web"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web:1"}}},
			},
		},
	})
	err := s.poll(t.Context(), func() bool {
		list, err := s.dynamic.Resource(pods()).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 1
	})
	if err != nil {
		t.Error(err)
	}
}

func (s full) namespaceDeletion(t *testing.T) {
	name, err := s.CreateNamespace(t.Context(), "short-lived")
	if err != nil {
		t.Fatal(err)
	}
	create(t, s.ControlPlane, configmaps(), name, configMap("inside").Object)
	if err := s.DeleteNamespace(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	err = s.poll(t.Context(), func() bool {
		_, err := s.dynamic.Resource(namespaces()).Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if err != nil {
		t.Error(err)
	}
	if err := s.DeleteNamespace(t.Context(), name); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
}

func (s full) featureGate(t *testing.T) {
	metrics, err := s.Kubectl(t.Context(), "get", "--raw", "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	if want := `kubernetes_feature_enabled{name="ShardedListAndWatch",stage="ALPHA"} 1`; !strings.Contains(metrics, want) {
		t.Errorf("the metrics lack %q", want)
	}
}

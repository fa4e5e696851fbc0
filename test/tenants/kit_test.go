package tenants

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

var (
	configmaps          = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	serviceaccounts     = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	namespaces          = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	events              = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
	roles               = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	roleBindings        = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
	clusterRoles        = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	clusterRoleBindings = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
	ruleSets            = v1alpha1.RuleSets()
	clusterRuleSets     = v1alpha1.ClusterRuleSets()
)

// client may do everything.
func client(t *testing.T, on virtual.Cluster) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(on.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// apply does what kubectl apply --server-side does with a text, in which NAMESPACE stands for a
// namespace. The process of kubectl would take as much time as the test.
func apply(t *testing.T, on virtual.Cluster, namespace, text string) {
	t.Helper()
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(strings.ReplaceAll(text, "NAMESPACE", namespace)), 4096)
	for {
		var object unstructured.Unstructured
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if object.Object == nil {
			continue
		}
		body, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		options := metav1.PatchOptions{FieldManager: "kubectl", Force: new(true), FieldValidation: metav1.FieldValidationStrict}
		to := client(t, on).Resource(resource).Namespace(object.GetNamespace())
		if _, err := to.Patch(t.Context(), object.GetName(), types.ApplyPatchType, body, options); err != nil {
			t.Fatalf("applying %s %s: %v", resource.Resource, object.GetName(), err)
		}
	}
}

func kubectl(t *testing.T, on *plane, arguments ...string) string {
	t.Helper()
	out, err := on.Kubectl(t.Context(), arguments...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return out
}

// account makes a ServiceAccount with a Role of these rules, as RBAC has them in YAML
// flow style: {apiGroups: [""], resources: [configmaps], verbs: [get]}.
func account(t *testing.T, on virtual.Cluster, namespace, name string, rules ...string) {
	t.Helper()
	text := "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: " + name + ", namespace: " + namespace + "}\n"
	apply(t, on, namespace, text+"---\n"+role(name, rules...)+`---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: `+name+`, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: `+name+`}
subjects: [{kind: ServiceAccount, name: `+name+`, namespace: NAMESPACE}]
`)
}

// role is a Role in NAMESPACE, to be applied.
func role(name string, rules ...string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: " + name + ", namespace: NAMESPACE}\n" +
		"rules: [" + strings.Join(rules, ", ") + "]\n"
}

// get returns an object, nil where there is none.
func get(t *testing.T, on virtual.Cluster, gvr schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object, err := client(t, on).Resource(gvr).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// edit changes an object by a merge patch.
func edit(t *testing.T, on virtual.Cluster, gvr schema.GroupVersionResource, namespace, name, patch string) {
	t.Helper()
	_, err := client(t, on).Resource(gvr).Namespace(namespace).
		Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl"})
	if err != nil {
		t.Fatal(err)
	}
}

// remove deletes an object, which may stay for its finalizers.
func remove(t *testing.T, on virtual.Cluster, gvr schema.GroupVersionResource, namespace, name string) {
	t.Helper()
	if err := client(t, on).Resource(gvr).Namespace(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// removed deletes an object and waits until it is gone.
func removed(t *testing.T, on virtual.Cluster, gvr schema.GroupVersionResource, namespace, name string) {
	t.Helper()
	remove(t, on, gvr, namespace, name)
	within(t, 2*time.Minute, name+" is gone", func() bool { return get(t, on, gvr, namespace, name) == nil })
}

// ready waits until a set is.
func ready(t *testing.T, on virtual.Cluster, gvr schema.GroupVersionResource, namespace, name string) {
	t.Helper()
	within(t, 2*time.Minute, name+" is ready", func() bool {
		status, _, _ := condition(t, on, gvr, namespace, name, "Ready")
		return status == "True"
	})
}

// notes are those of the Events in a namespace.
func notes(t *testing.T, on virtual.Cluster, namespace string) (out []string) {
	t.Helper()
	list, err := client(t, on).Resource(events).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range list.Items {
		note, _ := event.Object["note"].(string)
		out = append(out, note)
	}
	return out
}

func field(object *unstructured.Unstructured, path ...string) any {
	if object == nil {
		return nil
	}
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	return value
}

// condition returns the status, reason and message of a condition of a set, empty where
// it has none, or one of an older generation.
func condition(t *testing.T, on virtual.Cluster, gvr schema.GroupVersionResource, namespace, name, kind string) (status, reason, message string) {
	t.Helper()
	object := get(t, on, gvr, namespace, name)
	all, _ := field(object, "status", "conditions").([]any)
	for _, element := range all {
		fields, _ := element.(map[string]any)
		if fields["type"] == kind && fields["observedGeneration"] == object.GetGeneration() {
			status, _ = fields["status"].(string)
			reason, _ = fields["reason"].(string)
			message, _ = fields["message"].(string)
		}
	}
	return status, reason, message
}

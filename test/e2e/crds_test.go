package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// installOwnCRDs makes the API server serve our own kinds.
func installOwnCRDs(t *testing.T) {
	t.Helper()
	folder := filepath.Join("..", "..", "deploy", "crds")
	if err := cluster(t).InstallCRDs(t.Context(), filepath.Join(folder, "rulesets.yaml"), filepath.Join(folder, "clusterrulesets.yaml")); err != nil {
		t.Fatal(err)
	}
}

// ruleSet is a RuleSet of that name. Its rules stand in an order that is not that of their
// names.
func ruleSet(name string) string {
	return fmt.Sprintf(`apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: %s, namespace: default}
spec:
  serviceAccountName: rules
  params: {least: 3, none: null, big: 9223372036854775807, deep: {list: [1, "two", null, {a: {}}]}}
  let: {size: object.metadata.name}
  resources:
    pods: {version: v1, resource: pods, labelSelector: crds=never}
    maps: {version: v1, resource: configmaps, labelSelector: crds=never}
  rules:
  - name: second
    watch: pods
    when: object.spec.nodeName == "a"
    actions:
    - patch: {merge: {metadata: {labels: {a: null, b: "${size}"}}}}
  - name: first
    watch: maps
    for: 300
    actions:
    - patch: {json: [{op: add, path: /metadata/labels, value: {}}]}
    - delete: {}
`, name)
}

// keep makes a set that is gone after the test.
func keep(t *testing.T, gvr schema.GroupVersionResource, namespace string, set map[string]any) *unstructured.Unstructured {
	t.Helper()
	sets := client(t).Resource(gvr).Namespace(namespace)
	got, err := sets.Create(t.Context(), &unstructured.Unstructured{Object: set}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	forget(t, gvr, namespace, got.GetName())
	return got
}

// forget deletes a set after the test.
func forget(t *testing.T, gvr schema.GroupVersionResource, namespace, name string) {
	t.Helper()
	sets := client(t).Resource(gvr).Namespace(namespace)
	t.Cleanup(func() {
		if err := sets.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("deleting the set %s: %v", name, err)
		}
	})
}

// TestCRDExamples stores each example as an object, unchanged but for the ServiceAccount
// that it must name there, and reads back what was sent.
func TestCRDExamples(t *testing.T) {
	virtually(t, func(t *testing.T) {
		installOwnCRDs(t)
		found, err := filepath.Glob(filepath.Join("..", "..", "examples", "rules", "*", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		stored := 0
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			set := decode(t, string(data))
			if set["kind"] != "ClusterRuleSet" {
				continue
			}
			stored++
			body, _ := set["spec"].(map[string]any)
			body["serviceAccountName"], body["serviceAccountNamespace"] = "rules", "default"
			want := runtime.DeepCopyJSONValue(body)
			name := keep(t, v1alpha1.ClusterRuleSets(), "", set).GetName()
			if diff := cmp.Diff(want, field(get(t, v1alpha1.ClusterRuleSets(), "", name), "spec")); diff != "" {
				t.Errorf("%s (-sent +stored):\n%s", path, diff)
			}
		}
		if stored < 3 {
			t.Errorf("there are only %d sets", stored)
		}
	})
}

// TestCRDKeepsValuesAndTypos says that what no client may lose is stored as it was sent.
func TestCRDKeepsValuesAndTypos(t *testing.T) {
	virtually(t, func(t *testing.T) {
		installOwnCRDs(t)
		for name, text := range map[string]string{
			"right": ruleSet("kept-right"),
			"typo":  strings.Replace(ruleSet("kept-typo"), "when:", "whenn:", 1),
			"empty": strings.Replace(ruleSet("kept-empty"), `when: object.spec.nodeName == "a"`, "when:", 1),
		} {
			set := decode(t, text)
			want := runtime.DeepCopyJSONValue(set["spec"])
			stored := keep(t, v1alpha1.RuleSets(), "default", set)
			if diff := cmp.Diff(want, field(stored, "spec")); diff != "" {
				t.Errorf("%s (-sent +stored):\n%s", name, diff)
			}
		}
	})
}

// TestCRDRefuses holds what somebody reads who applies a set that cannot be right.
func TestCRDRefuses(t *testing.T) {
	alongside(t)
	installOwnCRDs(t)
	whole := `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: refused}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules: [{name: rule, watch: pods, actions: [{delete: {}}]}]
`
	for _, tc := range []struct{ reason, text, want string }{
		{"no identity", whole, "a set in the cluster names the ServiceAccount as which it reads and writes"},
		{"half an identity", strings.Replace(whole, "spec:", "spec:\n  serviceAccountName: a", 1), "a ClusterRuleSet has no namespace, so its ServiceAccount needs one"},
		{
			"no identity", strings.Replace(ruleSet("refused"), "  serviceAccountName: rules\n", "", 1),
			"a set in the cluster names the ServiceAccount, of its own namespace, as which it reads and writes",
		},
		{
			"another namespace's identity", strings.Replace(ruleSet("refused"), "spec:", "spec:\n  serviceAccountNamespace: kube-system", 1),
			"spec.serviceAccountNamespace: Forbidden: leave it out: the ServiceAccount of a RuleSet is in its own namespace",
		},
		{
			"other namespaces", strings.Replace(ruleSet("refused"), "resource: pods,", "resource: pods, namespaces: [kube-system],", 1),
			"spec.resources: Forbidden: leave namespaces out, or make it a ClusterRuleSet: a RuleSet acts in its own namespace only",
		},
		{
			"two rules of one name", strings.Replace(ruleSet("refused"), "name: first", "name: second", 1),
			`spec.rules[1]: Duplicate value: {"name":"second"}`,
		},
		{
			"nothing watched", strings.Replace(ruleSet("refused"), "watch: pods", `watch: ""`, 1),
			"spec.rules[0].watch: Required value: name what the rule watches: a key of resources, or several with commas",
		},
	} {
		path := filepath.Join(t.TempDir(), "set.yaml")
		writeFile(t, path, tc.text)
		_, err := controlPlane(t).Kubectl(t.Context(), "apply", "-f", path)
		// Kubectl writes each cause in a line of its own.
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: kubectl says %v, want %q", tc.reason, err, tc.want)
		}
	}
}

// TestCRDKubectlApply applies a set, changes it, and applies it again, in both ways that
// kubectl has. What is stored is what the file says, in its order.
func TestCRDKubectlApply(t *testing.T) {
	alongside(t)
	installOwnCRDs(t)
	for way, flags := range map[string][]string{"client": nil, "server": {"--server-side"}} {
		t.Run(way, func(t *testing.T) {
			name := "applied-" + way
			path := filepath.Join(t.TempDir(), "set.yaml")
			apply := func(text string) {
				t.Helper()
				writeFile(t, path, text)
				if out, err := controlPlane(t).Kubectl(t.Context(), append([]string{"apply", "-f", path}, flags...)...); err != nil {
					t.Fatal(out, err)
				}
				if diff := cmp.Diff(decode(t, text)["spec"], field(get(t, v1alpha1.RuleSets(), "default", name), "spec")); diff != "" {
					t.Errorf("-file +stored:\n%s", diff)
				}
			}
			text := ruleSet(name)
			if way == "client" {
				text = strings.NewReplacer("none: null, ", "", "a: null, ", "").Replace(text) // TestCRDNullIsLost says why.
			}
			apply(text)
			forget(t, v1alpha1.RuleSets(), "default", name)
			apply(text)

			head, rules, _ := strings.Cut(text, "  - name: second\n")
			second, first, _ := strings.Cut(rules, "  - name: first\n")
			turned := head + "  - name: first\n" + first + "  - name: second\n" + second
			apply(turned)
			apply(strings.Replace(turned, "    when: object.spec.nodeName == \"a\"\n", "", 1))
			apply(head + "  - name: between\n" + first)
		})
	}
}

// TestCRDNullIsLost holds what the warning about a literal null is for: kubectl's
// client-side apply sends none, neither for a set that is new nor for one that is there.
func TestCRDNullIsLost(t *testing.T) {
	alongside(t)
	installOwnCRDs(t)
	const name = "null-is-lost"
	path := filepath.Join(t.TempDir(), "set.yaml")
	for i, text := range []string{ruleSet(name), strings.Replace(ruleSet(name), "none: null", `none: ""`, 1), ruleSet(name)} {
		writeFile(t, path, text)
		if out, err := controlPlane(t).Kubectl(t.Context(), "apply", "-f", path); err != nil {
			t.Fatal(out, err)
		}
		if i == 0 {
			forget(t, v1alpha1.RuleSets(), "default", name)
		}
		params, _ := field(get(t, v1alpha1.RuleSets(), "default", name), "spec", "params").(map[string]any)
		if value, there := params["none"]; there != (i == 1) {
			t.Errorf("apply %d: none is there: %t, as %v", i, there, value)
		}
	}
}

package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	gadgetsCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.removed.example.com}, spec: {group: removed.example.com, scope: Namespaced,
		names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}, versions: [VERSIONS]}}`
	gadgetsVersion = `{name: NAME, served: true, storage: STORED, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, tier: {type: string}}}}}}}`
	gadgetsRules   = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: gadgets, namespace: NAMESPACE}
spec:
  resources:
    gadgets: {group: removed.example.com, version: VERSION, resource: gadgets}
  rules:
  - name: tier
    watch: gadgets
    actions: [{patch: {apply: {spec: {tier: gold}}, force: true, release: Remove}}]
`
)

// TestRemovedVersion holds that the entries of rules in managedFields follow the version that the rules name, and that drift is
// repaired once the CRD has lost a version that entries of others, or of a rule, still name.
func TestRemovedVersion(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	version := func(name, stored string) string {
		return strings.NewReplacer("NAME", name, "STORED", stored).Replace(gadgetsVersion)
	}
	both := strings.Replace(gadgetsCRD, "VERSIONS", version("v1beta1", "false")+", "+version("v1", "true"), 1)
	apply := func(gvr schema.GroupVersionResource, namespace, manager, text string) error {
		object := &unstructured.Unstructured{Object: decode(t, text)}
		_, err := client(t).Resource(gvr).Namespace(namespace).Apply(t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: true})
		return err
	}
	if err := apply(definitions, "", "test", both); err != nil {
		t.Fatal(err)
	}
	old, v1 := schema.GroupVersionResource{Group: "removed.example.com", Version: "v1beta1", Resource: "gadgets"}, schema.GroupVersionResource{Group: "removed.example.com", Version: "v1", Resource: "gadgets"}
	for _, name := range []string{"moved", "late"} {
		eventually(t, "it is served in both versions", func() bool {
			return apply(v1, namespace, "test", `{apiVersion: removed.example.com/v1, kind: Gadget, metadata: {name: `+name+`}}`) == nil &&
				apply(old, namespace, "other", `{apiVersion: removed.example.com/v1beta1, kind: Gadget, metadata: {name: `+name+`}, spec: {size: 1}}`) == nil
		})
	}
	run := func(version string) {
		t.Helper()
		args := []string{"--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, strings.ReplaceAll(gadgetsRules, "VERSION", version))}
		if output, code := once(t, args...); code != 0 {
			t.Fatalf("it ended with %d:\n%s", code, output)
		}
		if output, code := once(t, args...); code != 0 || !strings.Contains(output, "0 writes") {
			t.Errorf("a second run ended with %d:\n%s", code, output)
		}
	}
	named := func(name string) (versions []string) {
		for _, entry := range get(t, v1, namespace, name).GetManagedFields() {
			if strings.HasPrefix(entry.Manager, "dyncontroller/") {
				versions = append(versions, entry.APIVersion)
			}
		}
		return versions
	}
	run("v1beta1")
	run("v1")
	if got := named("moved"); len(got) != 1 || got[0] != "removed.example.com/v1" {
		t.Errorf("while both are served the entry of the rule is moved: %v", got)
	}
	run("v1beta1")
	if err := apply(definitions, "", "test", strings.Replace(gadgetsCRD, "VERSIONS", version("v1", "true"), 1)); err != nil {
		t.Fatal(err)
	}
	edit(t, v1, namespace, "late", `{"spec":{"tier":"tin"}}`)
	eventually(t, "nothing is applied any more, as the version is gone", func() bool {
		err := apply(v1, namespace, "test", `{apiVersion: removed.example.com/v1, kind: Gadget, metadata: {name: late, labels: {a: b}}}`)
		return err != nil && strings.Contains(err.Error(), "invalid group/version")
	})
	run("v1")
	if tier := field(get(t, v1, namespace, "late"), "spec", "tier"); tier != "gold" {
		t.Errorf("the drift is not repaired: %v", tier)
	}
	if err := apply(v1, namespace, "test", `{apiVersion: removed.example.com/v1, kind: Gadget, metadata: {name: late}}`); err != nil {
		t.Errorf("others can apply too: %v", err)
	}
}

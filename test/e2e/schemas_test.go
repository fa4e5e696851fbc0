package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

var shops = apischema.GroupVersionResource{Group: "shops.example.com", Version: "v1", Resource: "shops"}

// shopCRD is the CRD of shops, whose spec has these fields.
func shopCRD(t *testing.T, fields string) {
	t.Helper()
	path := rulesFile(t, "", fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.shops.example.com}
spec:
  group: shops.example.com
  scope: Namespaced
  names: {plural: shops, singular: shop, kind: Shop}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: %s}}}}}
`, fields))
	if err := cluster(t).InstallCRDs(t.Context(), path); err != nil {
		t.Fatal(err)
	}
}

// TestSchemasChange holds that run starts without a CRD, says so, checks the rules when
// it comes, and goes by the schema that is in effect, not by one that was: no write is
// lost because it once had no effect.
func TestSchemasChange(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	const text = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: shops, namespace: NAMESPACE}
spec:
  resources:
    shops: {group: shops.example.com, version: v1, resource: shops}
    configmaps: {version: v1, resource: configmaps, labelSelector: shop=yes}
  rules:
  - name: unsized
    watch: shops
    actions: [{patch: {merge: {spec: {size: null}}}}]
  - name: colored
    watch: shops
    when: object.metadata.name == "colored"
    actions: [{patch: {merge: {spec: "${fromYAML('color: red')}"}}}]
  - name: marked
    watch: shops
    when: object.spec.FIELD != nil
    actions: [{patch: {merge: {metadata: {labels: {marked: "yes"}}}}}]
  - name: other
    watch: configmaps
    actions: [{patch: {merge: {data: {other: acts}}}}]
`
	path := rulesFile(t, namespace, strings.Replace(text, "FIELD", "naem", 1))
	p := start(t, "--rules", path)
	says := func(what string) {
		t.Helper()
		eventually(t, "the log says "+what, func() bool { return strings.Contains(p.output.String(), what) })
	}
	says("rules are not checked against a schema")
	create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {shop: "yes"}}}`)
	eventually(t, "other rules act", func() bool { return field(get(t, configmaps, namespace, "c"), "data", "other") == "acts" })

	// It comes, and the rules turn out to be wrong. They stay in effect.
	shopCRD(t, `{name: {type: string}, size: {type: integer, default: 1}}`)
	create(t, shops, namespace, `{apiVersion: shops.example.com/v1, kind: Shop, metadata: {name: plain}, spec: {name: corner}}`)
	says("do not fit the schemas of the cluster")
	says(`object.spec has no field \"naem\"`)

	// They are corrected. A default cannot be removed, and so nobody tries.
	writeFile(t, path, strings.ReplaceAll(strings.Replace(text, "FIELD", "name", 1), "NAMESPACE", namespace))
	marked := func(name string) bool {
		return field(get(t, shops, namespace, name), "metadata", "labels", "marked") == "yes"
	}
	eventually(t, "the rules act", func() bool { return marked("plain") })
	before := get(t, shops, namespace, "plain")
	create(t, shops, namespace, `{apiVersion: shops.example.com/v1, kind: Shop, metadata: {name: colored}, spec: {name: corner}}`)
	says(`unknown field \"spec.color\"`)
	if now := get(t, shops, namespace, "plain"); field(now, "spec", "size") != int64(1) || now.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("the size is %v, want its default, and no write", field(now, "spec", "size"))
	}

	// Now it can be removed, and there is a color.
	shopCRD(t, `{name: {type: string}, size: {type: integer}, color: {type: string}}`)
	eventually(t, "the size is removed", func() bool { return field(get(t, shops, namespace, "plain"), "spec", "size") == nil })
	eventually(t, "it is colored", func() bool { return field(get(t, shops, namespace, "colored"), "spec", "color") == "red" })
	eventually(t, "and marked", func() bool { return marked("colored") })

	// It goes, and the other rules go on.
	if err := client(t).Resource(definitions).Delete(t.Context(), "shops.shops.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	edit(t, configmaps, namespace, "c", `{"data":null}`)
	eventually(t, "other rules act", func() bool { return field(get(t, configmaps, namespace, "c"), "data", "other") == "acts" })
	if code := p.wait(t); code != 0 {
		t.Errorf("ended with %d", code)
	}
}

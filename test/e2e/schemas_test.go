package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

var shops = apischema.GroupVersionResource{Group: "shops.example.com", Version: "v1", Resource: "shops"}

// shopCRD installs the CRD of shops, whose spec has these fields.
func shopCRD(t *testing.T, fields string) {
	t.Helper()
	specCRD(t, "shops", "Shop", "{type: object, properties: "+fields+"}")
}

// specCRD installs a CRD of the group shops.example.com, with the schema of the spec.
func specCRD(t *testing.T, plural, kind, schema string) {
	t.Helper()
	path := rulesFile(t, "", fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.shops.example.com}
spec:
  group: shops.example.com
  scope: Namespaced
  names: {plural: %[1]s, kind: %[2]s}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: %[3]s}}}}
`, plural, kind, schema))
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

// TestRuleDoesNotFit holds that a rule of a file that does not fit a changed schema keeps no other rule from its work: neither those that
// apply objects of the same custom resource, nor those of other sets.
func TestRuleDoesNotFit(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	specCRD(t, "stores", "Store", "{type: object, properties: {name: {type: string}, other: {type: string}}}")
	specCRD(t, "signs", "Sign", "{type: object, properties: {text: {type: string}}}")
	const set = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps, labelSelector: shop=yes}
    stores: {group: shops.example.com, version: v1, resource: stores}
    signs: {group: shops.example.com, version: v1, resource: signs}
  rules:
`
	p := start(t, "--rules", rulesFile(t, namespace, strings.Replace(set, "NAME", "one", 1)+`
  - name: fits
    watch: configmaps
    actions: [{apply: {resource: stores, manifest: {metadata: {name: "${object.metadata.name}"}, spec: {name: x}}}}]
  - name: does-not-fit
    watch: configmaps
    when: object.data?.other == "yes"
    actions: [{apply: {resource: stores, manifest: {metadata: {name: other}, spec: {other: x}}}}]
---`+strings.Replace(set, "NAME", "two", 1)+`
  - name: sign
    watch: configmaps
    actions: [{apply: {resource: signs, manifest: {metadata: {name: "${object.metadata.name}"}, spec: {text: x}}}}]
`))
	made := func(name string) func() bool {
		return func() bool {
			_, noShop := client(t).Resource(shops.GroupVersion().WithResource("stores")).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
			_, noSign := client(t).Resource(shops.GroupVersion().WithResource("signs")).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
			return noShop == nil && noSign == nil
		}
	}
	create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: before, labels: {shop: "yes"}}}`)
	eventually(t, "the rules act", made("before"))
	specCRD(t, "stores", "Store", "{type: object, required: [name], properties: {name: {type: string}, other: {type: string}}}")
	eventually(t, "the log says that a rule does not fit", func() bool {
		return strings.Contains(p.output.String(), "do not fit the schemas of the cluster")
	})
	create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: after, labels: {shop: "yes"}}}`)
	eventually(t, "the other rules act", made("after"))
	if code := p.wait(t); code != 0 {
		t.Errorf("ended with %d", code)
	}
}

// TestCRDComes holds that rules act on objects of a CRD soon after it was installed, and that a warning is logged once.
func TestCRDComes(t *testing.T) {
	alongside(t)
	namespace, stalls := cluster(t).Namespace(t), shops.GroupVersion().WithResource("stalls")
	p := start(t, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: one, namespace: NAMESPACE}
spec:
  resources:
    stalls: {group: shops.example.com, version: v1, resource: stalls}
    configmaps: {version: v1, resource: configmaps, labelSelector: never=there}
  rules:
  - name: mark
    watch: stalls
    when: object.metadata.labels.marked != "yes"
    actions: [{patch: {merge: {metadata: {labels: {marked: "yes"}}}}}]
  - name: unlimited
    watch: configmaps
    when: object.data?.x == "y"
    actions: [{delete: {}}]
`))
	eventually(t, "it runs", func() bool { return strings.Contains(p.output.String(), "starting") })
	const poll = 10 * time.Second
	lets(t, poll/5) // The files have been read a second time.
	specCRD(t, "stalls", "Stall", "{type: object, properties: {name: {type: string}}}")
	began := time.Now()
	create(t, stalls, namespace, `{apiVersion: shops.example.com/v1, kind: Stall, metadata: {name: a}}`)
	eventually(t, "the rule acts", func() bool { return field(get(t, stalls, namespace, "a"), "metadata", "labels", "marked") == "yes" })
	if took := time.Since(began); took > poll/2 {
		t.Errorf("it took %s", took)
	}
	lets(t, poll/2) // The schema has come, too.
	if n := strings.Count(p.output.String(), "code=unlimited-delete"); n != 1 {
		t.Errorf("the warning is logged %d times", n)
	}
}

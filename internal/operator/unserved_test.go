package operator

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// begets is RuleSet shop/s with the rule two, which has a child of a resource.
func begets(resource string) string {
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: s, namespace: shop}
spec:
  serviceAccountName: ann
  resources:
    configmaps: {version: v1, resource: configmaps}
    made: {version: v1, resource: ` + resource + `}
  rules:
  - name: two
    watch: configmaps
    when: object.metadata.name == "parent"
    actions: [{apply: {resource: made, prune: true, manifest: {metadata: {name: child}, data: {precious: "yes"}}}}]
`
}

// served is what is known of schemas where nothing but ConfigMaps is served.
var served = said{known: schema.NewCatalog(justConfigMaps{}).Growing()}

// justConfigMaps is a source that knows nothing else.
type justConfigMaps struct{}

// Resource implements [schema.Source].
func (justConfigMaps) Resource(gvr apischema.GroupVersionResource) *schema.Resource {
	if gvr != configs {
		return nil
	}
	return &schema.Resource{GroupVersionResource: gvr, Kind: "ConfigMap", Namespaced: true, Type: schema.Open()}
}

// Resources implements [schema.Source].
func (justConfigMaps) Resources() []schema.Name {
	return []schema.Name{{GroupVersionResource: configs, Kind: "ConfigMap"}}
}

// Whole implements [schema.Source].
func (justConfigMaps) Whole(string) bool { return true }

// newTypo is a kit in which a user has mistyped the resource of the children that the rule two has made. The API server refuses
// requests for what it does not serve as for anything else to which nobody has a right.
func newTypo(t *testing.T) *kit {
	t.Helper()
	k := newKit(t, func(o *Options) { o.Settings.Rules = nil })
	k.account("shop", "ann")
	k.put("configmaps", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": "parent", "namespace": "shop", "uid": "uid-of-parent",
	}})
	k.stored("uid-s", 1, false)
	k.childOfTwo()
	k.set(func(w *world) { w.fails["GET configmapz"] = http.StatusForbidden })
	var denied []string
	for _, verb := range []string{"get", "list", "watch", "create", "patch", "delete"} {
		denied = append(denied, verb+" configmapz")
	}
	k.deny(denied...)
	return k
}

// watched is the set as the watch shows it, with what is stored of it.
func (k *kit) watched(set source.Object) source.Object {
	set.Finalizer = true
	inventory, _ := k.field("rulesets", "shop", "s", "status", "inventory").([]any)
	for _, one := range inventory {
		left := one.(map[string]any)
		set.Status.Inventory = append(set.Status.Inventory, v1alpha1.Leftover{
			Rule: left["rule"].(string), Kind: left["kind"].(string), Version: left["version"].(string), Resource: left["resource"].(string),
			Namespace: "shop", Prune: true, ServiceAccount: "ann", ServiceAccountNamespace: "shop",
		})
	}
	return set
}

// TestMistypedResource holds that the children of a rule stay while it names another resource, which is not served; that the
// status tells of that and of no permission; and that the set can be deleted then, corrected or not.
func TestMistypedResource(t *testing.T) {
	for name, corrected := range map[string]bool{"Corrected": true, "NotCorrected": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newTypo(t)
				set := k.watched(asObject(t, begets("configmapz")))
				defer k.start()()
				k.SetObjects(t.Context(), []source.Object{set}, served)
				k.pass(10 * time.Minute)
				if k.field("configmaps", "shop", "child", "data") == nil {
					t.Fatalf("the child is gone:\n%s", k.log)
				}
				message := k.message(set)
				for _, want := range []string{"the API server has no resource configmapz.v1; did you mean configmaps.v1?", "what rules have left stays until rule s/two can work"} {
					if !strings.Contains(message, want) {
						t.Errorf("want %q in the status:\n%s", want, message)
					}
				}
				if text := message + k.log.String(); strings.Contains(text, "may not") || strings.Contains(text, "permissions are missing") {
					t.Errorf("it is told of permissions:\n%s\n%s", message, k.log)
				}
				if corrected {
					set = k.watched(edited(t, set, begets("configmaps")))
					k.update(set)
					k.SetObjects(t.Context(), []source.Object{set}, served)
					k.pass(10 * time.Minute)
					if got := k.status(set); got != "Ready=True Running" || k.field("configmaps", "shop", "child", "data") == nil {
						t.Errorf("corrected: %s\n%s", got, k.log)
					}
				}
				set = k.watched(edited(t, set, begets("configmaps")))
				set.Deleting = true
				k.update(set)
				k.SetObjects(t.Context(), []source.Object{set}, served)
				k.pass(10 * time.Minute)
				if k.field("rulesets", "shop", "s") != nil || k.field("configmaps", "shop", "child") != nil {
					t.Errorf("it is not deleted: %s\n%s", k.message(set), k.log)
				}
			})
		})
	}
}

// update stores the metadata of a set object as a user has changed it.
func (k *kit) update(set source.Object) {
	status, _ := k.field("rulesets", "shop", "s", "status").(map[string]any)
	metadata := map[string]any{
		"name": "s", "namespace": "shop", "uid": string(set.UID), "generation": set.Generation, "finalizers": []any{v1alpha1.Finalizer},
	}
	if set.Deleting {
		metadata["deletionTimestamp"] = "2000-01-01T00:00:00Z"
	}
	k.put("rulesets", map[string]any{"apiVersion": "dyncontroller.dev/v1alpha1", "kind": "RuleSet", "metadata": metadata, "status": status})
}

// TestMistypedResourceOnce holds the same of who settles once.
func TestMistypedResourceOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTypo(t)
		k.Take(t.Context(), load(t), []source.Object{k.watched(asObject(t, begets("configmapz")))}, served)
		settled, err := k.Settle(t.Context())
		if err != nil || len(settled) != 2 || !strings.Contains(text(settled[1].Unkept), "the API server has no resource configmapz.v1; did you mean configmaps.v1?") {
			t.Errorf("settled %+v, %v", settled, err)
		}
		if k.field("configmaps", "shop", "child", "data") == nil {
			t.Errorf("the child is gone:\n%s", k.log)
		}
	})
}

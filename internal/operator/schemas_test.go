package operator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// defined is a catalog of resources, each with one field in its spec, such as
// "shops size".
func defined(t *testing.T, all ...string) *schema.Catalog {
	t.Helper()
	var text strings.Builder
	for _, one := range all {
		plural, field, _ := strings.Cut(one, " ")
		fmt.Fprintf(&text, `---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: example.com, scope: Namespaced,
  names: {plural: %s, kind: K%s}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {
    type: object, properties: {spec: {type: object, properties: {%s: {type: integer}}}}}}}]}}
`, plural, plural, field)
	}
	definitions, err := crd.Read("crd.yaml", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return schema.NewCatalog(crd.NewSource(definitions)).Growing()
}

// counts is a set that reads the size in the spec of a resource.
func counts(t *testing.T, name, account, resource string) source.Object {
	t.Helper()
	text := strings.NewReplacer("{version: v1, resource: configmaps}", "{group: example.com, version: v1, resource: "+resource+"}",
		"object.data?."+name+` != "x"`, "object.spec?.size == 1", "data: {"+name+": x}", "metadata: {labels: {a: b}}").Replace(paints(name, account, "x"))
	return asObject(t, text)
}

// TestSchemasOfOthers holds that other schemas disturb only those whose resources they
// are of.
func TestSchemasOfOthers(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after []string
		kept          bool
		wrong         bool // afterwards
		reason        string
	}{
		"the same":       {before: []string{"shops size"}, after: []string{"shops size"}, kept: true, reason: "It is told again."},
		"another's":      {before: []string{"shops size", "boats size"}, after: []string{"shops size", "boats area"}, kept: true, reason: "It is not named here."},
		"another's new":  {before: []string{"shops size"}, after: []string{"shops size", "boats area"}, kept: true, reason: "Somebody else asks for it."},
		"another's gone": {before: []string{"shops size", "boats area"}, after: []string{"shops size"}, kept: true, reason: "Nobody asks for it any more."},
		"its own":        {before: []string{"shops size"}, after: []string{"shops size: {type: integer}, area"}, reason: "There is more to know."},
		"comes":          {before: []string{"boats size"}, after: []string{"boats size", "shops size"}, reason: "It can be checked now."},
		"goes":           {before: []string{"shops size"}, after: []string{"boats size"}, reason: "It can no longer be checked."},
		"not known":      {before: []string{"boats size"}, after: []string{"boats area"}, kept: true, reason: "Nothing is known of it, as before."},
		"does not fit":   {before: []string{"shops size"}, after: []string{"shops area"}, wrong: true, reason: "It is a mistake by now."},
		"fits":           {before: []string{"shops area"}, after: []string{"shops size"}, reason: "It is a mistake no more."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				defer k.start()()
				set := counts(t, "a", "ann", "shops")
				k.SetObjects(t.Context(), []source.Object{set}, said{defined(t, tc.before...), true})
				before := k.object(set)
				k.SetObjects(t.Context(), []source.Object{set}, said{defined(t, tc.after...), true})
				after := k.object(set)
				if got := after.built == before.built; got != tc.kept {
					t.Errorf("%s\nkept: %v, want %v: %v", tc.reason, got, tc.kept, after.mistakes)
				}
				if after.refused() != tc.wrong {
					t.Errorf("%s\nrefused: %v, want %v", tc.reason, after.mistakes, tc.wrong)
				}
				k.SetObjects(t.Context(), []source.Object{set}, said{defined(t, tc.after...), true})
				if k.object(set).built != after.built {
					t.Errorf("%s\nnothing has changed since", tc.reason)
				}
			})
		})
	}
}

// TestEditOfOthers holds that the engine of one tenant is left alone when the edit of
// another one makes other schemas known.
func TestEditOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		defer k.start()()
		ann, bob := counts(t, "a", "ann", "shops"), counts(t, "b", "bob", "shops")
		k.SetObjects(t.Context(), []source.Object{ann, bob}, said{defined(t, "shops size"), true})
		told := func() (anns, bobs *given) {
			k.mu2().Lock()
			defer k.mu2().Unlock()
			return k.tenants[shop("ann")].given, k.tenants[shop("bob")].given
		}
		anns, bobs := told()
		edit := counts(t, "b", "bob", "boats")
		edit.Generation++
		k.SetObjects(t.Context(), []source.Object{ann, edit}, said{defined(t, "shops size", "boats size"), true})
		annsNow, bobsNow := told()
		if annsNow != anns {
			t.Error("an engine is told its rules again because of another tenant")
		}
		if bobsNow == bobs {
			t.Error("an edit does not come to its own engine")
		}
	})
}

// TestFindingsAreNew holds that what is said of a resource that is not known goes with
// what there is, though the rules stay the same.
func TestFindingsAreNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		defer k.start()()
		set := counts(t, "a", "ann", "shops")
		hints := func(all ...string) string {
			k.SetObjects(t.Context(), []source.Object{set}, said{defined(t, all...), true})
			var out strings.Builder
			for _, found := range k.object(set).mistakes {
				if found.Code == document.CodeUnknownResource {
					fmt.Fprintln(&out, found.Hint)
				}
			}
			return out.String()
		}
		before := hints("boats size")
		built := k.object(set).built
		if after := hints("boats size", "shop size"); after == before || !strings.Contains(after, "write resource: shop") {
			t.Errorf("it says %q, and said %q", after, before)
		}
		if k.object(set).built != built {
			t.Error("the rules are other ones though nothing is known of their resource")
		}
	})
}

// TestRefusedKnowsSchemas holds that the version in effect of a refused set goes by the schemas that the cluster has now.
func TestRefusedKnowsSchemas(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after string
		wrong         bool // the set itself has become wrong
		reason        string
	}{
		"unfit":             {before: "shops size", after: "shops area", reason: "The schema is another one."},
		"wrong, then comes": {before: "boats size", after: "shops size", wrong: true, reason: "The CRD is installed only now."},
		"wrong, then unfit": {before: "shops size", after: "shops area", wrong: true, reason: "The schema is another one."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				defer k.start()()
				set := counts(t, "a", "ann", "shops")
				k.SetObjects(t.Context(), []source.Object{set}, said{defined(t, tc.before), true})
				if tc.wrong {
					set = edited(t, set, "kind: RuleSet\nmetadata: {name: a, namespace: shop}\nspec: {}\n")
					k.SetObjects(t.Context(), []source.Object{set}, said{defined(t, tc.before), false})
				}
				now := defined(t, tc.after)
				k.SetObjects(t.Context(), []source.Object{set}, said{now, true})
				got := k.object(set)
				if !got.refused() || got.effective() == nil {
					t.Fatalf("%s\nrefused: %v, in effect: %v", tc.reason, got.refused(), got.effective() != nil)
				}
				shops := apischema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "shops"}
				if got.effective().Kinds()[shops].Name != "Kshops" || got.good.seen[shops] != now.Resource(shops) {
					t.Errorf("%s\nit goes by %v", tc.reason, got.good.seen[shops])
				}
			})
		})
	}
}

// TestViews holds that resources are compared by what they are, each pair once.
func TestViews(t *testing.T) {
	shops := apischema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "shops"}
	one := defined(t, "shops size").Resource(shops)
	views := views{alike: map[[2]*schema.Resource]bool{}}
	for range 2 {
		if !views.same(one, one) || !views.same(nil, nil) || views.same(one, nil) || views.same(nil, one) ||
			!views.same(one, defined(t, "shops size").Resource(shops)) || views.same(one, defined(t, "shops area").Resource(shops)) {
			t.Fatal("what is the same is not, or the other way round")
		}
	}
	again := defined(t, "shops size").Resource(shops)
	views.alike[[2]*schema.Resource{one, again}] = false
	if views.same(one, again) {
		t.Error("it is compared twice")
	}
}

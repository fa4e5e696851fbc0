package rules_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// served is a source that knows all resources of some groups.
type served struct {
	resources []*schema.Resource
	whole     []string
}

func (s served) Resource(gvr kubernetes.GroupVersionResource) *schema.Resource {
	for _, r := range s.resources {
		if r.GroupVersionResource == gvr {
			return r
		}
	}
	return nil
}

func (s served) Resources() (names []schema.Name) {
	for _, r := range s.resources {
		names = append(names, schema.Name{GroupVersionResource: r.GroupVersionResource, Kind: r.Kind})
	}
	return names
}

func (s served) Whole(group string) bool {
	return slices.Contains(s.whole, group)
}

func TestCheckResources(t *testing.T) {
	widget := func(version string, namespaced bool, verbs ...string) *schema.Resource {
		return &schema.Resource{
			GroupVersionResource: kubernetes.GroupVersionResource{Group: "example.com", Version: version, Resource: "widgets"},
			Kind:                 "Widget", Namespaced: namespaced, Verbs: verbs,
			Type: &schema.Type{Kinds: value.Map, Object: true, Map: &schema.Map{Fields: map[string]schema.Field{
				"metadata": {Type: schema.Metadata()}, "spec": {Type: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{"size": {}}}}},
			}}},
		}
	}
	all := []string{"get", "list", "watch", "patch"}
	tests := map[string]struct {
		reason   string
		source   served
		kind     string
		resource string
		want     []string
	}{
		"Right":       {"It is there.", served{resources: []*schema.Resource{widget("v1", true, all...)}}, "ClusterRuleSet", `{group: example.com, version: v1, resource: widgets}`, nil},
		"AnyVerbs":    {"What can be done with it is not known.", served{resources: []*schema.Resource{widget("v1", true)}}, "ClusterRuleSet", `{group: example.com, version: v1, resource: widgets}`, nil},
		"NoWatch":     {"It cannot be watched.", served{resources: []*schema.Resource{widget("v1", true, "get", "list")}}, "ClusterRuleSet", `{group: example.com, version: v1, resource: widgets}`, []string{"mistake not-watchable 5:68 widgets cannot be watched; rules see only what can be listed and watched"}},
		"NoListWatch": {"Nor listed.", served{resources: []*schema.Resource{widget("v1", true, "create")}}, "ClusterRuleSet", `{group: example.com, version: v1, resource: widgets}`, []string{"mistake not-watchable 5:68 widgets cannot be listed or watched; rules see only what can be listed and watched"}},
		"Misspelt": {
			"It may be one that nobody told of.",
			served{resources: []*schema.Resource{widget("v1", true, all...)}},
			"ClusterRuleSet", `{group: example.com, version: v1, resource: widgts}`,
			[]string{"warning unknown-resource 5:68 there is no resource widgts.v1.example.com; write resource: widgets"},
		},
		"MisspeltWhole": {
			"Unless all are known.",
			served{resources: []*schema.Resource{widget("v1", true, all...)}, whole: []string{"example.com"}},
			"ClusterRuleSet", `{group: example.com, version: v1, resource: widgts}`,
			[]string{"mistake unknown-resource 5:68 there is no resource widgts.v1.example.com; write resource: widgets"},
		},
		"FarWhole": {
			"Nothing is near.",
			served{whole: []string{"acme.io"}},
			"ClusterRuleSet", `{group: acme.io, version: v1, resource: anvils}`,
			[]string{"mistake unknown-resource 5:64 there is no resource anvils.v1.acme.io; kubectl api-resources lists what there is; the CRD of another one can be given with --crds"},
		},
		"Far": {
			"And nothing is known.",
			served{},
			"ClusterRuleSet", `{group: acme.io, version: v1, resource: anvils}`,
			[]string{"note untyped 5:24 no schema is known of anvils.v1.acme.io, so its fields are not checked; give its CRD with --crds, or a cluster with --context"},
		},
		"Cluster": {
			"A RuleSet does not see what has no namespace.",
			served{resources: []*schema.Resource{widget("v1", false, all...)}},
			"RuleSet", `{group: example.com, version: v1, resource: widgets}`,
			[]string{"mistake wrong-scope 5:68 widgets are cluster-scoped, and a RuleSet acts in its own namespace only; make it a ClusterRuleSet"},
		},
		"ClusterRight": {"A ClusterRuleSet does.", served{resources: []*schema.Resource{widget("v1", false, all...)}}, "ClusterRuleSet", `{group: example.com, version: v1, resource: widgets}`, nil},
		"Fields":       {"Fields that they have.", served{resources: []*schema.Resource{widget("v1", true, all...)}}, "ClusterRuleSet", `{group: example.com, version: v1, resource: widgets, fieldSelector: "spec.size=3,metadata.name!=a"}`, nil},
		"FieldsUnknown": {
			"And one that they have not.",
			served{resources: []*schema.Resource{widget("v1", true, all...)}},
			"ClusterRuleSet", `{group: example.com, version: v1, resource: widgets, fieldSelector: "metadata.name=a,spec.sze=3"}`,
			[]string{`mistake unknown-field 5:109 unknown field "sze"; did you mean "size"?`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: dyncontroller.dev/v1alpha1\nkind: " + tc.kind + "\nmetadata: {name: set}\nspec:\n  resources: {widgets: " + tc.resource +
				"}\n  rules: [{name: rule, watch: widgets, actions: [{event: {reason: A, message: a}}]}]\n"
			set, errs := rules.Load([]document.File{{Name: "r.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default", Schemas: schema.NewCatalog(tc.source)})
			if set != nil {
				errs = set.Warnings()
			}
			if diff := cmp.Diff(tc.want, placed(errs)); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, text, diff)
			}
		})
	}
}

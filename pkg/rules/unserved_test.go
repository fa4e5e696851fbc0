package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// TestUnserved holds what is told of resources that a cluster does not serve, although it may come to serve them.
func TestUnserved(t *testing.T) {
	widgets := &schema.Resource{
		GroupVersionResource: kubernetes.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}, Kind: "Widget", Namespaced: true,
		Type: &schema.Type{Kinds: value.Map, Object: true, Map: &schema.Map{Open: true}},
	}
	const meant = "the API server has no resource widgts.v1.example.com; did you mean widgets.v1.example.com? (c/r)"
	tests := map[string]struct {
		reason   string
		resource string // that is declared as other
		rule     string // that uses it; empty for one that does not
		away     bool   // it is not known what there is in the group
		want     []string
		unknown  bool
	}{
		"Served":  {reason: "It is there.", resource: "group: example.com, version: v1, resource: widgets", rule: "watch: other"},
		"Watched": {reason: "It is mistyped.", resource: "group: example.com, version: v1, resource: widgts", rule: "watch: other", want: []string{meant}, unknown: true},
		"Read": {
			reason: "So is what is read, by a name that nobody uses.", resource: "group: example.com, version: v1, resource: widgts",
			rule: "watch: widgets\n    with: {some: {resource: other, name: x}}", want: []string{meant}, unknown: true,
		},
		"Version": {
			reason: "Rights do not depend on it.", resource: "group: example.com, version: v2, resource: widgets", rule: "watch: other",
			want: []string{"the API server has no resource widgets.v2.example.com; did you mean widgets.v1.example.com? (c/r)"},
		},
		"Far": {
			reason: "Nothing is near.", resource: "group: example.com, version: v1, resource: anvils", rule: "watch: other",
			want: []string{"the API server has no resource anvils.v1.example.com (c/r)"}, unknown: true,
		},
		"Unused": {reason: "No rule is concerned.", resource: "group: example.com, version: v1, resource: widgts", rule: "watch: widgets"},
		"Away":   {reason: "An API server that is down may serve it.", resource: "group: example.com, version: v1, resource: widgts", rule: "watch: other", away: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			source := served{resources: []*schema.Resource{widgets}, whole: []string{"example.com"}}
			if tc.away {
				source.whole = nil
			}
			set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(`apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: c}
spec:
  resources:
    widgets: {group: example.com, version: v1, resource: widgets}
    other: {` + tc.resource + `}
  rules:
  - name: r
    ` + tc.rule + `
    actions: [{event: {reason: Seen, message: seen}}]
`)}}, rules.Options{Schemas: schema.NewCatalog(source).Growing()})
			if len(errs.Of(document.Mistake)) > 0 {
				t.Fatal(errs.Render())
			}
			var got []string
			for _, one := range rules.Join(set).Unserved() {
				var by []string
				for _, rule := range one.Rules {
					by = append(by, rule.String())
				}
				got = append(got, one.Error()+" ("+strings.Join(by, ", ")+")")
				if one.Unknown != tc.unknown {
					t.Errorf("%s Unknown: %t", tc.reason, one.Unknown)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

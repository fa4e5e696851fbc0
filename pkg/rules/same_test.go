package rules_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const conditional = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  params: {least: 3}
  let: {size: object.spec.size}
  resources:
    pods: {version: v1, resource: pods, labelSelector: a=b}
    nodes: {version: v1, resource: nodes}
  rules:
  - name: one
    description: it has one
    watch: pods
    with: {node: {resource: nodes, name: node-1}}
    let: {low: size < params.least}
    when: low
    for: 5m
    actions: [{event: {reason: Low, message: low}}]
  - name: two
    watch: nodes
    actions: [{event: {reason: Seen, message: seen}}]
`

func TestSameCondition(t *testing.T) {
	one := plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "one"}
	before := loaded(t, conditional)
	for name, tc := range map[string]struct {
		old, new string
		params   []rules.Param
		want     bool
	}{
		"Nothing":     {want: true},
		"Spacing":     {old: "when: low", new: "when:   low", want: true},
		"Description": {old: "it has one", new: "another", want: true},
		"Actions":     {old: "message: low", new: "message: '${size}'", want: true},
		"For":         {old: "5m", new: "6m", want: true},
		"Mode":        {old: "for: 5m", new: "for: 5m\n    mode: Audit", want: true},
		"OtherRule":   {old: "reason: Seen", new: "reason: Spotted", want: true},
		"When":        {old: "when: low", new: "when: '!low'"},
		"Let":         {old: "low: size <", new: "low: size <="},
		"LetOfSet":    {old: "object.spec.size", new: "object.spec.sizes"},
		"Params":      {old: "least: 3", new: "least: 4"},
		"ParamOption": {params: []rules.Param{{Set: "set", Name: "least", Value: "4"}}},
		"With":        {old: "name: node-1}", new: "name: node-2}"},
		"Watch":       {old: "watch: pods", new: "watch: nodes, pods"},
		"Selector":    {old: "a=b", new: "a=c"},
		"Name":        {old: "name: one", new: "name: other"},
		"Set":         {old: "{name: set}", new: "{name: other}"},
	} {
		t.Run(name, func(t *testing.T) {
			after := loaded(t, strings.ReplaceAll(conditional, tc.old, tc.new), tc.params...)
			if tc.old == "" {
				after = loaded(t, conditional, tc.params...)
			}
			if got := after.SameCondition(before, one); got != tc.want {
				t.Errorf("the condition is the same: %t", got)
			}
			if got := before.SameCondition(after, one); got != tc.want {
				t.Errorf("the other way round it is the same: %t", got)
			}
		})
	}
}

func TestWatches(t *testing.T) {
	set := loaded(t, conditional)
	pods := plan.Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, LabelSelector: "a=b"}
	nodes := plan.Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}}
	one := plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "one"}
	none := one
	none.Namespace = "ns"
	if !set.Watches(one, []plan.Selection{nodes, pods}) || set.Watches(one, []plan.Selection{nodes}) || set.Watches(one, nil) {
		t.Error("a rule watches its own selections and no others")
	}
	if set.Watches(none, []plan.Selection{pods}) {
		t.Error("a rule that the set does not have watches something")
	}
}

func loaded(t *testing.T, text string, params ...rules.Param) *rules.Set {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: "r.yaml", Data: []byte(text)}}, rules.Options{Params: params})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return set
}

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

// TestChanges holds which rules want something else than before, so that what they watch is to be looked at again.
func TestChanges(t *testing.T) {
	before := loaded(t, conditional)
	another := conditional[strings.Index(conditional, "  - name: two"):]
	tests := map[string]struct {
		reason   string
		old, new string
		params   []rules.Param
		want     string
	}{
		"Nothing":     {"Nothing has changed.", "", "", nil, ""},
		"Spacing":     {"It means the same.", "when: low", "when:   low", nil, ""},
		"Description": {"It decides nothing.", "it has one", "another", nil, ""},
		"Action":      {"One wants something else.", "message: low", "message: lower", nil, "one one"},
		"Other":       {"And so does the other.", "reason: Seen", "reason: Spotted", nil, "two two"},
		"Limits":      {"It may do more.", "for: 5m", "for: 5m\n    limits: {maxObjects: 1}", nil, "one one"},
		"Suspended":   {"It does nothing any more.", "for: 5m", "for: 5m\n    suspend: true", nil, "one one"},
		"Selector":    {"All rules of a set may use its resources.", "a=b", "a=c", nil, "one one two two"},
		"Params":      {"And its params.", "", "", []rules.Param{{Set: "set", Name: "least", Value: "4"}}, "one one two two"},
		"Gone":        {"What it watched is nobody's.", another, "", nil, "two"},
		"New":         {"Nobody has looked for it.", another, another + strings.ReplaceAll(another, "two", "three"), nil, "three"},
		"Renamed":     {"It is another one.", "name: two", "name: three", nil, "three two"},
		"Before":      {"The order of those that stay is the same.", "  rules:\n", "  rules:\n" + strings.ReplaceAll(another, "two", "three"), nil, "three"},
		"Order":       {"Another rule has its way in a conflict.", "", "", nil, "one two two one"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := conditional
			if tc.old != "" {
				text = strings.ReplaceAll(text, tc.old, tc.new)
			}
			if name == "Order" {
				text = strings.Replace(strings.TrimSuffix(text, another), "  rules:\n", "  rules:\n"+another, 1)
			}
			var got []string
			for _, rule := range rules.Changes(before, loaded(t, text, tc.params...)) {
				got = append(got, rule.ID.Name)
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("%s Changed are %v, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestChangesOfSchemas holds that rules want something else where other schemas tell what is stored.
func TestChangesOfSchemas(t *testing.T) {
	files := []document.File{{Name: "r.yaml", Data: []byte(typedHead + oneRule("pods", noted))}}
	load := func(options rules.Options) *rules.Set {
		set, errs := rules.Load(files, options)
		if set == nil {
			t.Fatal(errs.Render())
		}
		return set
	}
	with, again, without := load(typed(t)), load(typed(t)), load(rules.Options{})
	if changed := rules.Changes(with, again); len(changed) > 0 {
		t.Errorf("the schemas say the same, and %d rules have changed", len(changed))
	}
	if changed := rules.Changes(without, with); len(changed) == 0 {
		t.Error("nothing was known before, and no rule has changed")
	}
	if changed := rules.Changes(with, rules.Join(again)); len(changed) > 0 {
		t.Errorf("to be joined is no change, and %d rules have changed", len(changed))
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

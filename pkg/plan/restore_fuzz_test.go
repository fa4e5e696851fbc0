package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FuzzRestore holds that any annotation on any object gives a plan without a panic, and that it settles.
func FuzzRestore(f *testing.F) {
	rule := Rule{Kind: "RuleSet", Set: "s", Name: "r"}
	f.Add(`{"path":["f:spec","f:a"],"before":1,"written":2}`, `{spec: {a: 2}}`, `{spec: {b: 1}}`)
	f.Add(`{"path":["f:spec","f:l","k:{\"name\":\"a\"}","f:v"],"before":{},"written":[{}]}`, `{spec: {l: [{name: a, v: [{}]}]}}`, `{spec: {l: []}}`)
	f.Add(`{"path":["f:spec","f:l","v:1"],"written":1},{"path":[]},{"path":["k:","v:"],"before":null}`, `{spec: {l: [1, 1]}}`, `{spec: null}`)
	f.Fuzz(func(t *testing.T, kept, current, body string) {
		var object, patch map[string]any
		if unmarshal([]byte(current), &object) != nil || unmarshal([]byte(body), &patch) != nil || object == nil || ForbiddenField(Merge, patch) != nil {
			t.Skip()
		}
		object = WithField(object, restorePath, `{"`+rule.qualified()+`":[`+kept+`]}`)
		options := Options{Grain: func(schema.GroupVersionResource, string) Grain { return merged{} }}
		settled := false
		for range 3 { // The first reads what anybody may have written there.
			asked := Wish{Rule: rule, Type: Merge, Current: object, Body: patch}
			wish := asked
			wish.Restoring = &Restoring{Asked: []Wish{asked}, Through: 1}
			built := Build([]Wish{wish}, options)
			if settled = len(built.Operations) == 0; settled {
				break
			}
			object = built.Operations[0].Predicted
		}
		if !settled {
			t.Errorf("it does not settle: %s", encode(t, object))
		}
	})
}

package limit

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestApart holds of which selections the numbers of objects may be added up.
func TestApart(t *testing.T) {
	widgets, gadgets := schema.GroupVersionResource{Resource: "widgets"}, schema.GroupVersionResource{Resource: "gadgets"}
	tests := map[string]struct {
		reason     string
		selections []plan.Selection
		want       bool
	}{
		"One":        {"There is nothing else.", []plan.Selection{{GVR: widgets}}, true},
		"Resources":  {"No object is of two of them.", []plan.Selection{{GVR: widgets}, {GVR: gadgets}}, true},
		"Namespaces": {"Nor in two of them.", []plan.Selection{{GVR: widgets, Namespace: "a"}, {GVR: widgets, Namespace: "b"}}, true},
		"Both":       {"Nor both.", []plan.Selection{{GVR: widgets, Namespace: "a"}, {GVR: gadgets, Namespace: "a"}}, true},
		"Selectors": {
			"An object may have both labels.",
			[]plan.Selection{{GVR: widgets, LabelSelector: "x"}, {GVR: widgets, LabelSelector: "y"}},
			false,
		},
		"SelectorsOfANamespace": {
			"There, too.",
			[]plan.Selection{{GVR: widgets, Namespace: "a", LabelSelector: "x"}, {GVR: widgets, Namespace: "a", FieldSelector: "y"}},
			false,
		},
		"AllAndOne": {
			"All namespaces have the one among them.",
			[]plan.Selection{{GVR: widgets, Namespace: "a", LabelSelector: "x"}, {GVR: gadgets}, {GVR: widgets}},
			false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := apart(tc.selections); got != tc.want {
				t.Errorf("%s got %t", tc.reason, got)
			}
		})
	}
}

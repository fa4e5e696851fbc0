package operator

import (
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestReads(t *testing.T) {
	pods := informer.Key{GVR: apischema.GroupVersionResource{Version: "v1", Resource: "pods"}, Namespace: "shop"}
	one := pods
	one.FieldSelector = "metadata.name=a"
	right := func(change func(*plan.Permission)) plan.Permission {
		p := plan.Permission{Verb: "list", Resource: apischema.GroupResource{Resource: "pods"}, Namespace: "shop"}
		change(&p)
		return p
	}
	cases := map[string]struct {
		p    plan.Permission
		key  informer.Key
		want bool
	}{
		"list":               {right(func(*plan.Permission) {}), pods, true},
		"watch":              {right(func(p *plan.Permission) { p.Verb = "watch" }), pods, true},
		"get":                {right(func(p *plan.Permission) { p.Verb = "get" }), pods, false},
		"another resource":   {right(func(p *plan.Permission) { p.Resource.Group = "x" }), pods, false},
		"another namespace":  {right(func(p *plan.Permission) { p.Namespace = "" }), pods, false},
		"a subresource":      {right(func(p *plan.Permission) { p.Subresource = "log" }), pods, false},
		"one object of many": {right(func(p *plan.Permission) { p.Name = "a" }), pods, false},
		"the one object":     {right(func(p *plan.Permission) { p.Name = "a" }), one, true},
		"another object":     {right(func(p *plan.Permission) { p.Name = "b" }), one, false},
	}
	for name, tc := range cases {
		if got := reads(tc.p, tc.key); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestDenied holds which caches an account does without, and why.
func TestDenied(t *testing.T) {
	list := plan.Permission{Verb: "list", Resource: apischema.GroupResource{Resource: "configmaps"}, Namespace: "shop"}
	elsewhere := list
	elsewhere.Namespace = "other"
	cases := map[string]struct {
		reason  string
		shut    error
		missing []plan.Permission
		want    string
	}{
		"none":      {reason: "It may read."},
		"shut":      {reason: "Nothing may be sent.", shut: ErrUnreviewed, want: ErrUnreviewed.Error()},
		"both":      {reason: "The gate goes before.", shut: ErrUnreviewed, missing: []plan.Permission{list}, want: ErrUnreviewed.Error()},
		"missing":   {reason: "It may not list.", missing: []plan.Permission{elsewhere, list}, want: "ServiceAccount shop/ann may not list configmaps in namespace shop"},
		"elsewhere": {reason: "It is about another cache.", missing: []plan.Permission{elsewhere}},
	}
	for name, tc := range cases {
		one := &tenant{
			account: shop("ann"), gate: newGate(tc.shut), set: load(t, paints("color", "ann", "x")), verdict: access.Verdict{Finding: access.Finding{Missing: tc.missing}},
			engine: engine.New(engine.Options{Caches: func(informer.Handler) engine.Caches { return nil }}), // In effect are no rules.
		}
		got := one.denied()
		key := informer.Key{GVR: apischema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Namespace: "shop"}
		if text(got[key]) != tc.want || len(got) > 1 {
			t.Errorf("%s: %s got %v", name, tc.reason, got)
		}
	}
	if got := (&tenant{gate: newGate(ErrUnreviewed)}).denied(); len(got) > 0 {
		t.Errorf("without rules there are no caches, got %v", got)
	}
}

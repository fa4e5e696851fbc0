package plan

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func leftover(kind LeftoverKind, namespace string) Leftover {
	gvr := schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
	return Leftover{Rule: rule("a"), GVR: gvr, Namespace: namespace, Kind: kind}
}

func TestLeftoverThing(t *testing.T) {
	base := leftover(LeftFinalizer, "")
	tests := map[string]struct {
		reason string
		change func(*Leftover)
		same   bool
	}{
		"Same":     {"A thing is itself.", func(*Leftover) {}, true},
		"Version":  {"Another version has the same objects.", func(l *Leftover) { l.GVR.Version = "v1" }, true},
		"Account":  {"A set may act as another account by now.", func(l *Leftover) { l.Account.Name = "bot" }, true},
		"Where":    {"In a namespace is not everywhere.", func(l *Leftover) { l.Namespace = "here" }, false},
		"Resource": {"So is another resource.", func(l *Leftover) { l.GVR.Resource = "x" }, false},
		"Rule":     {"Another rule has its own.", func(l *Leftover) { l.Rule = rule("b") }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := base
			tc.change(&l)
			if got := l.Thing() == base.Thing(); got != tc.same {
				t.Errorf("%s got %v", tc.reason, got)
			}
		})
	}
}

// TestLeftoverCompare holds that every field that tells two leftovers apart counts: what is
// sorted is stored, and must not change without a reason.
func TestLeftoverCompare(t *testing.T) {
	base := Leftover{
		Rule: Rule{Kind: "m", Namespace: "m", Set: "m", Name: "m"},
		GVR:  schema.GroupVersionResource{Group: "m", Version: "m", Resource: "m"}, Namespace: "m", Kind: "m", Release: "m",
		Account: types.NamespacedName{Namespace: "m", Name: "m"},
	}
	for i, change := range []func(l *Leftover, to string){
		func(l *Leftover, to string) { l.Rule.Kind = to },
		func(l *Leftover, to string) { l.Rule.Namespace = to },
		func(l *Leftover, to string) { l.Rule.Set = to },
		func(l *Leftover, to string) { l.Rule.Name = to },
		func(l *Leftover, to string) { l.GVR.Group = to },
		func(l *Leftover, to string) { l.GVR.Version = to },
		func(l *Leftover, to string) { l.GVR.Resource = to },
		func(l *Leftover, to string) { l.Namespace = to },
		func(l *Leftover, to string) { l.Kind = LeftoverKind(to) },
		func(l *Leftover, to string) { l.Release = ReleasePolicy(to) },
		func(l *Leftover, to string) { l.Account.Namespace = to },
		func(l *Leftover, to string) { l.Account.Name = to },
	} {
		less, more := base, base
		change(&less, "a")
		change(&more, "z")
		list := []Leftover{more, base, less}
		slices.SortFunc(list, Leftover.Compare)
		if want := []Leftover{less, base, more}; !slices.Equal(list, want) {
			t.Errorf("field %d is not compared: %v", i, list)
		}
	}
}

func TestLeftoverText(t *testing.T) {
	tests := map[string]struct {
		reason string
		l      Leftover
		want   string
	}{
		"Everywhere": {"Nothing is said of a namespace.", leftover(LeftFinalizer, ""), "finalizer of rule guardrails/a on tidbclusters.v1alpha1.pingcap.com"},
		"Namespace":  {"It is said where.", leftover(LeftChildren, "db"), "children of rule guardrails/a on tidbclusters.v1alpha1.pingcap.com in namespace db"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.l.String(); got != tc.want {
				t.Errorf("%s got %q", tc.reason, got)
			}
		})
	}
}

func TestLeftoverKindKnown(t *testing.T) {
	for kind, want := range map[LeftoverKind]bool{
		LeftFinalizer: true, LeftFields: true, LeftChildren: true, LeftCreated: true, "": false, "status": false,
	} {
		if kind.Known() != want {
			t.Errorf("%q: got %v", kind, !want)
		}
	}
}

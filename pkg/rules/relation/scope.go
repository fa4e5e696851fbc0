package relation

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Kind returns the kind of a declared resource. An error is a [value.Fault]: the
// kind is not known, or it is cluster-scoped and so beyond a RuleSet.
func (r *Reader) Kind(d *Declaration) (plan.Kind, error) {
	kind, known := r.Kinds[d.GVR]
	switch {
	case !known:
		return plan.Kind{}, value.Faultf("the kind of the resource %s is not known", plan.ResourceName(d.GVR)).
			WithHint("see whether the cluster has it, in the version that resources names")
	case !kind.Namespaced && d.Namespace != "":
		return plan.Kind{}, value.Faultf("%s are cluster-scoped, and a RuleSet acts in its own namespace only", d.GVR.Resource).
			WithHint("make it a ClusterRuleSet")
	default:
		return kind, nil
	}
}

// Namespace returns the namespace to read in: empty for every one that the
// declaration selects, and for a cluster-scoped kind. Where none is given, that is
// the namespace of the watched object. An error is a [value.Fault].
func (r *Reader) Namespace(d *Declaration, given string, isGiven bool) (string, error) {
	kind, err := r.Kind(d)
	switch {
	case err != nil:
		return "", err
	case !kind.Namespaced && isGiven:
		return "", value.Faultf("%s are cluster-scoped and have no namespace", d.GVR.Resource).
			WithHint("leave namespace out")
	case !kind.Namespaced:
		return "", nil
	case isGiven:
		if wrong := d.outside(given); wrong != nil {
			return "", wrong
		}
		if given == EveryNamespace {
			given = d.Namespace
		}
		return given, nil
	case r.Home.Namespace == "":
		return "", value.Faultf("%s is cluster-scoped, so it must be said in which namespace the %s are", r.Home, d.GVR.Resource).
			WithHint(`add namespace: ..., or namespace: "*" for every one`)
	default:
		return r.Home.Namespace, nil
	}
}

// outside refuses a namespace that a RuleSet does not see. Reading nothing there
// would look as if nothing were there.
func (d *Declaration) outside(given string) *value.Fault {
	if d.Namespace == "" || given == d.Namespace || given == EveryNamespace {
		return nil
	}
	return value.Faultf("a RuleSet acts in its own namespace only, which is %q, not %q", d.Namespace, given).
		WithHint("make it a ClusterRuleSet")
}

// Origin returns which object a value is, if it is one that was read or the
// watched one: the very map, not one that equals it. So whatever hands on the
// elements of a list keeps it, and whatever builds new maps does not. current is
// the object as it was read.
func (r *Reader) Origin(v any) (object plan.Object, current map[string]any, found bool) {
	candidate, _ := v.(map[string]any)
	if len(candidate) == 0 {
		return plan.Object{}, nil, false
	}
	if same(candidate, r.Current) {
		return r.Home, r.Current, true
	}
	wanted := identityOf(candidate)
	for _, a := range r.answers {
		i, there := slices.BinarySearchFunc(a.objects, wanted, func(object map[string]any, id identity) int {
			return identityOf(object).compare(id)
		})
		if there && same(candidate, a.objects[i]) {
			gvr := a.read.From[0].GVR
			return plan.Object{
				GVR:             gvr,
				Kind:            r.Kinds[gvr].Name,
				Namespace:       wanted.namespace,
				Name:            wanted.name,
				UID:             types.UID(plan.Text(candidate, "metadata", "uid")),
				ResourceVersion: plan.Text(candidate, "metadata", "resourceVersion"),
			}, candidate, true
		}
	}
	return plan.Object{}, nil, false
}

// same reports whether both are one map.
func same(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

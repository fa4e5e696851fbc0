package dependencies

import (
	"math"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func oneOf[T any](values ...T) *rapid.Generator[T] { return rapid.SampledFrom(values) }

var (
	gvr        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	froms      = oneOf(plan.Selection{GVR: gvr}, plan.Selection{GVR: gvr, Namespace: "a"}, plan.Selection{GVR: gvr, LabelSelector: "x"})
	namespaces = oneOf("", "a", "b")
	names      = oneOf("", "a", "b", "c")
	paths      = oneOf(
		plan.Path{"metadata", "name"}, plan.Path{"spec", "n"}, plan.Path{"spec", "m"}, plan.Path{"spec"},
		plan.Path{"spec", "l", "0"}, plan.Path{"spec", "l", "+1"}, plan.Path{"spec", "l", "-1"}, plan.Path{}, plan.Path{"a/b~1", ""},
	)
	scalars = oneOf[any](nil, "", "a", "1", true, false, 0, 1, int64(1), 1.0, 1.5, math.NaN(), math.Inf(-1), math.Copysign(0, -1),
		int64(math.MaxInt64), float64(math.MaxInt64), int32(1), map[string]any{}, []any{"a"})
	selectors = oneOf("", "a=1", "a==1,b=2", "a in (1,2)", "a in (1,3),b in (1,2)", "a", "!a", "a!=1", "a notin (1,2)", "a>1", "a<2,b",
		"a=1,!b", "a=", "a in (", "a in ()", ",")
)

var questions = rapid.Custom(func(t *rapid.T) plan.Read {
	q := plan.Read{
		From:      rapid.SliceOfN(froms, 0, 3).Draw(t, "from"),
		Namespace: namespaces.Draw(t, "namespace"),
		By:        oneOf(plan.ByName, plan.ByLabels, plan.ByFields, plan.ByOwner, plan.ByAll, "magic").Draw(t, "by"),
	}
	switch q.By {
	case plan.ByName:
		q.Names = rapid.SliceOfN(names, 0, 3).Draw(t, "names")
	case plan.ByLabels:
		q.Labels = selectors.Draw(t, "labels")
	case plan.ByFields:
		for range rapid.IntRange(0, 2).Draw(t, "fields") {
			q.Fields = append(q.Fields, plan.FieldValue{Path: paths.Draw(t, "path"), Value: scalars.Draw(t, "value")})
		}
	case plan.ByOwner:
		for _, name := range rapid.SliceOfN(names, 0, 2).Draw(t, "owners") {
			q.Owners = append(q.Owners, types.UID(name))
		}
	default:
	}
	return q
})

// hostile replaces a value with what should not be there.
func hostile(t *rapid.T, label string, value any) any {
	if rapid.IntRange(0, 9).Draw(t, label+" is right") > 0 {
		return value
	}
	return oneOf[any](nil, "text", 1, []any{"a", nil, map[string]any{}}, map[string]any{"0": "a"}).Draw(t, label)
}

var objects = rapid.Custom(func(t *rapid.T) map[string]any {
	labels := map[string]any{}
	for _, key := range rapid.SliceOfN(oneOf("a", "b"), 0, 2).Draw(t, "labels") {
		labels[key] = hostile(t, "label", oneOf("", "1", "2", "3").Draw(t, "label value"))
	}
	references := []any{}
	for _, uid := range rapid.SliceOfN(names, 0, 2).Draw(t, "references") {
		references = append(references, hostile(t, "reference", map[string]any{
			"uid": hostile(t, "uid", uid), "controller": hostile(t, "controller", rapid.Bool().Draw(t, "controls")),
		}))
	}
	spec := map[string]any{"l": hostile(t, "list", []any{scalars.Draw(t, "first"), scalars.Draw(t, "second")})}
	for _, key := range rapid.SliceOfN(oneOf("n", "m", "o", "p"), 0, 4).Draw(t, "spec") {
		spec[key] = scalars.Draw(t, key)
	}
	return map[string]any{
		"metadata": hostile(t, "metadata", map[string]any{
			"namespace":       hostile(t, "namespace", namespaces.Draw(t, "in")),
			"name":            hostile(t, "name", names.Draw(t, "called")),
			"labels":          hostile(t, "labels", labels),
			"ownerReferences": hostile(t, "references", references),
		}),
		"spec":  hostile(t, "spec", spec),
		"a/b~1": map[string]any{"": scalars.Draw(t, "strange")},
	}
})

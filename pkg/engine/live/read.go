package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// found are the objects of an answer, each once, however many selections have it.
type found map[types.NamespacedName]map[string]any

func (f found) add(object map[string]any) {
	of := unstructured.Unstructured{Object: object}
	f[types.NamespacedName{Namespace: of.GetNamespace(), Name: of.GetName()}] = object
}

// sorted is in the order of namespaces, then names.
func (f found) sorted() []map[string]any {
	names := slices.SortedFunc(maps.Keys(f), func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	out := make([]map[string]any, len(names))
	for i, name := range names {
		out[i] = f[name]
	}
	return out
}

// Read answers a question as a cache would that has seen everything, in the order of
// namespaces, then names. The API server evaluates the selectors of From, and the
// labels that are asked for; an object of a name that no selection of From admits is
// absent. What asks for nothing is answered without a request.
func (r *Reader) Read(ctx context.Context, q plan.Read) ([]map[string]any, error) {
	all := found{}
	for _, from := range q.From {
		if q.Namespace != "" && from.Namespace != "" && q.Namespace != from.Namespace {
			continue
		}
		from.Namespace = cmp.Or(from.Namespace, q.Namespace)
		if from.Namespace != "" && !canBe(from.Namespace) {
			continue
		}
		objects, err := r.selected(ctx, q, from)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, objects)
	}
	return all.sorted(), nil
}

// selected are the answers among what one selection has, which is of the namespace
// of the question.
func (r *Reader) selected(ctx context.Context, q plan.Read, from plan.Selection) (found, error) {
	switch q.By {
	case plan.ByName:
		return r.named(ctx, q, from)
	case plan.ByLabels:
		if q.Labels == "" {
			return nil, nil
		}
		from.LabelSelector = both(from.LabelSelector, q.Labels)
	case plan.ByFields:
		if len(q.Fields) == 0 {
			return nil, nil
		}
	case plan.ByOwner:
		if len(q.Owners) == 0 {
			return nil, nil
		}
	case plan.ByAll:
	default:
		return nil, nil
	}
	return r.matching(ctx, q, from)
}

// named asks for each object by its name. A GET does not evaluate selectors, and it
// wants to know whether the resource has namespaces; a list of one name does both.
func (r *Reader) named(ctx context.Context, q plan.Read, from plan.Selection) (found, error) {
	all := found{}
	names := slices.Clone(q.Names)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !canBe(name) {
			continue
		}
		if from.Namespace == "" || from.LabelSelector != "" || from.FieldSelector != "" {
			one := from
			one.FieldSelector = both(from.FieldSelector, fields.OneTermEqualSelector("metadata.name", name).String())
			objects, err := r.matching(ctx, q, one)
			if err != nil {
				return nil, err
			}
			maps.Copy(all, objects)
			continue
		}
		object, err := r.Get(ctx, from.GVR, from.Namespace, name)
		if err != nil {
			return nil, err
		}
		if object != nil {
			all.add(object)
		}
	}
	return all, nil
}

// matching lists a selection and keeps what the question asks for.
func (r *Reader) matching(ctx context.Context, q plan.Read, from plan.Selection) (found, error) {
	all, matches := found{}, q.Filter()
	err := r.list(ctx, from, func() { clear(all) }, func(object map[string]any) error {
		if matches(object) {
			all.add(object)
		}
		return nil
	})
	return all, err
}

// both joins two selectors, of which one may be empty.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

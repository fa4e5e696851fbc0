package rules

import (
	"cmp"
	"reflect"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// catalog returns the schemas by which objects of a resource are written, nil for none. Sets that are joined may
// have been compiled with different ones: the first that has the resource counts.
func (s *Set) catalog(gvr apischema.GroupVersionResource) *schema.Catalog {
	return cmp.Or(s.catalogs[gvr], s.first)
}

// planOptions say what the schemas know of writes.
func (s *Set) planOptions() plan.Options {
	if s.first == nil {
		return plan.Options{}
	}
	return plan.Options{
		Canonical: func(gvr apischema.GroupVersionResource, object map[string]any) map[string]any {
			return s.catalog(gvr).Canonical(gvr, object)
		},
		Applied: func(gvr apischema.GroupVersionResource, object, body map[string]any) map[string]any {
			return s.catalog(gvr).Applied(gvr, object, body)
		},
	}
}

// sameSchema reports whether two sets know the same of a resource.
func (s *Set) sameSchema(other *Set, gvr apischema.GroupVersionResource) bool {
	return s.kinds[gvr] == other.kinds[gvr] && (s.catalog(gvr) == other.catalog(gvr) || reflect.DeepEqual(s.typeOf(gvr), other.typeOf(gvr)))
}

func (s *Set) typeOf(gvr apischema.GroupVersionResource) *schema.Type {
	found := s.catalog(gvr).Resource(gvr)
	if found == nil {
		return nil
	}
	return found.Type
}

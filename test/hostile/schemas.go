package hostile

import (
	"fmt"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/openapi"
)

// How large the schemas are: wider and deeper than a CustomResourceDefinition can be that etcd stores.
const (
	manyFields = 50_000
	someFields = 1_000
	manyLevels = 90
	fewFields  = 20
)

// Schemas know all resources of the group hostile.test that begin with "things". Each has
//
//	spec.wide   a map of 50,000 texts, field0 and on
//	spec.some   a list of maps of 1,000 texts
//	spec.deep   maps within maps, next in next, 90 levels
//	spec.tree   maps of 20 fields that are such maps again, branch0 and on
//	spec.needs  a map of 50,000 texts that have to be there
//	spec.small  a map with a, an integer, and list, texts
func Schemas() *schema.Catalog {
	types := openapi.NewReader(func(string) any { return tree() })
	spec := aMap(object{
		"wide":  aMap(texts(manyFields)),
		"some":  object{"type": "array", "items": aMap(texts(someFields))},
		"deep":  deep(),
		"tree":  object{"$ref": "#/components/schemas/tree"},
		"needs": aMap(texts(manyFields), names(manyFields)...),
		"small": aMap(object{"a": object{"type": "integer"}, "list": object{"type": "array", "items": object{"type": "string"}}}, "a"),
	}, "small")
	return schema.NewCatalog(&things{of: types.Object(aMap(object{"spec": spec}))})
}

type object = map[string]any

func aMap(properties object, required ...any) object {
	return object{"type": "object", "properties": properties, "required": required}
}

func texts(count int) object {
	out := object{}
	for _, name := range names(count) {
		out[name.(string)] = object{"type": "string"} //nolint:forcetypeassert // All of them are.
	}
	return out
}

func names(count int) []any {
	out := make([]any, count)
	for i := range out {
		out[i] = fmt.Sprint("field", i)
	}
	return out
}

func deep() object {
	out := aMap(object{"end": object{"type": "string"}})
	for range manyLevels {
		out = aMap(object{"next": out})
	}
	return out
}

func tree() object {
	fields := object{}
	for i := range fewFields {
		fields[fmt.Sprint("branch", i)] = object{"$ref": "#/components/schemas/tree"}
	}
	return aMap(fields)
}

// things is a source of ever so many resources, each with a type of its own.
type things struct {
	of   *schema.Type
	made sync.Map // of *schema.Resource by resource
}

// Resource implements [schema.Source].
func (t *things) Resource(gvr apischema.GroupVersionResource) *schema.Resource {
	if gvr.Group != "hostile.test" {
		return nil
	}
	own := *t.of
	made, _ := t.made.LoadOrStore(gvr.Resource, &schema.Resource{GroupVersionResource: gvr, Kind: "Thing", Namespaced: true, Type: &own})
	return made.(*schema.Resource) //nolint:forcetypeassert // Only these are stored.
}

// Resources implements [schema.Source].
func (t *things) Resources() []schema.Name { return nil }

// Whole implements [schema.Source].
func (t *things) Whole(string) bool { return false }

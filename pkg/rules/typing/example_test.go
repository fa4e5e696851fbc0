package typing_test

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// A path follows a schema, and a condition says what is there.
func ExampleFacts() {
	limit := &schema.Type{Kinds: value.Int}
	pod := typing.Object(&schema.Type{Kinds: value.Map, Object: true, Map: &schema.Map{Fields: map[string]schema.Field{
		"spec": {Type: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{"limit": {Type: limit}}}}},
	}}})
	spec, _ := pod.Field("spec")
	field, _ := spec.Field("limit")
	fmt.Println(field, "that can be nil:", field.CanBeNil())
	_, result := spec.Field("limits")
	fmt.Println("limits is lacking:", result == typing.Lacking, spec.Names())

	// Where object.spec.limit != nil holds:
	const object = 0
	var facts *typing.Facts
	facts = facts.With(object, "spec", "limit")
	spec, _ = facts.Apply(object, pod).Field("spec")
	field, _ = spec.Field("limit")
	fmt.Println(field, "that can be nil:", field.CanBeNil())
	// Output:
	// an integer that can be nil: true
	// limits is lacking: true [limit]
	// an integer that can be nil: false
}

package shape_test

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// What an expression builds of an object reads nothing until it is used.
func ExampleShape() {
	reads := &footprint.Tree{}
	object := shape.Object(reads)
	built := shape.Map(map[string]shape.Shape{
		"name": object.Key("metadata").Key("name"),
		"spec": object.Key("spec"),
	})
	fmt.Println(reads.Paths())
	built.Key("spec").Key("replicas").Read(footprint.Value)
	fmt.Println(reads.Paths())
	// Output:
	// [exists(metadata)]
	// [exists(metadata) spec.replicas]
}

package function

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

func controllerOf(b *value.Budget, args []any) (any, error) {
	owners := asList(asMap(asMap(args[0])["metadata"])["ownerReferences"])
	if err := b.Steps(len(owners)); err != nil {
		return nil, err
	}
	for _, element := range owners {
		owner := asMap(element)
		if isController, _ := owner["controller"].(bool); isController {
			return owner, nil
		}
	}
	return nil, nil
}

func controllerRef(b *value.Budget, args []any) (any, error) {
	object := asMap(args[0])
	metadata := asMap(object["metadata"])
	if err := b.Map(6); err != nil {
		return nil, err
	}
	reference := map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "name": metadata["name"], "uid": metadata["uid"],
	}
	for _, field := range []string{"apiVersion", "kind", "name", "uid"} {
		if text, ok := reference[field].(string); !ok || text == "" {
			return nil, value.Faultf("controllerRef wants a whole object, and its %s is missing", field)
		}
	}
	reference["controller"], reference["blockOwnerDeletion"] = true, true
	return reference, nil
}

func flowControllerOf(c *Flow) shape.Shape {
	owners := c.Arguments[0].Key("metadata").Key("ownerReferences")
	owners.Read(footprint.Length)
	owners.Items().Key("controller").Read(footprint.Value)
	return shape.Union(owners.Items(), shape.Other())
}

func flowControllerRef(c *Flow) shape.Shape {
	metadata := c.Arguments[0].Key("metadata")
	for _, field := range []shape.Shape{
		c.Arguments[0].Key("apiVersion"), c.Arguments[0].Key("kind"), metadata.Key("name"), metadata.Key("uid"),
	} {
		field.Read(footprint.Value)
	}
	return shape.Other()
}

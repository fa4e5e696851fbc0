package simulate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// entrance decides which objects a cluster could have.
type entrance struct {
	server *apiserver.Server
	known  *schema.Catalog
	set    *rules.Set
}

// admit refuses objects that no cluster could have stored: of unknown kinds, in the wrong
// scope, or with what their schema does not allow. An object without a namespace that
// needs one gets the default one, as kubectl has it.
func (e entrance) admit(objects []object) document.Errors {
	var errs document.Errors
	for _, o := range objects {
		resource, known := e.server.OfKind(kindOf(o.content))
		if !known {
			_, err := resourceOf(kindOf(o.content), slices.Concat(e.set.Selections(), e.set.Related()))
			errs = append(errs, o.located(err))
			continue
		}
		if err := o.settle(resource); err != nil {
			errs = append(errs, o.node.Get("metadata").Get("namespace").Errorf("remove it", "%v", err))
			continue
		}
		if schema := e.known.Resource(resource.GVR); schema != nil && schema.Type != nil {
			errs = append(errs, o.violations(schema)...)
		}
	}
	return errs
}

// settle puts the object where its resource says that it is.
func (o object) settle(resource apiserver.Resource) error {
	metadata := metadataOf(o.content)
	namespace := stringAt(metadata, "namespace")
	if !resource.Namespaced && namespace != "" {
		return fmt.Errorf("%s are in no namespace, have %q", resource.GVR.Resource, namespace)
	}
	if resource.Namespaced && namespace == "" {
		metadata = maps.Clone(metadata)
		metadata["namespace"] = defaultNamespace
		o.content["metadata"] = metadata
	}
	return nil
}

// violations are what the schema finds wrong with the object as a whole.
func (o object) violations(resource *schema.Resource) document.Errors {
	found := resource.Type.Scoped(resource.Namespaced).Validate(o.content, schema.Whole)
	var errs document.Errors
	for _, v := range found {
		// A field that is misspelt is not missing too.
		if v.Code == document.CodeMissingField && slices.ContainsFunc(found, func(other schema.Violation) bool {
			return v.Field != "" && other.Code == document.CodeUnknownField && other.Field == v.Field &&
				slices.Equal(other.Path[:len(other.Path)-1], v.Path)
		}) {
			continue
		}
		errs = append(errs, o.violation(v))
	}
	return errs
}

// violation points at what is wrong, as far as the file has it.
func (o object) violation(v schema.Violation) *document.Error {
	n := o.node
	for i, step := range v.Path {
		var next *document.Node
		switch step := step.(type) {
		case string:
			if next = n.Get(step); i == len(v.Path)-1 && v.Code == document.CodeUnknownField {
				next = n.Key(step)
			}
		case int:
			if elements := n.Elements(); step < len(elements) {
				next = elements[step]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n.Errorf(v.Hint, "%s", v.Message).Coded(v.Code)
}

package simulate

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Patch changes an object as somebody else would.
type Patch struct {
	Object
	Subresource string // such as status, empty for the object itself
	// Type is that of merge, json or apply.
	Type types.PatchType
	// Body is a map, or a list of maps for json. It is shared: read only.
	Body any
}

func decodePatch(n *document.Node) (*Patch, document.Errors) {
	v, errs := spec.StepPatchFields.Read(n)
	p := &Patch{Object: named(v), Subresource: v["subresource"].Text()}
	for name, patchType := range map[string]types.PatchType{
		"merge": types.MergePatchType, "json": types.JSONPatchType, "apply": types.ApplyPatchType,
	} {
		if body := v[name]; body != nil {
			p.Type, p.Body = patchType, body.Any()
		}
	}
	// Whether the paths of a JSON patch exist is for the cluster to say.
	for _, element := range v["json"].Elements() {
		operation, wrong := spec.StepOperationFields.Read(element)
		needed := ""
		switch operation["op"].Text() {
		case "add", "replace", "test":
			needed = "value"
		case "move", "copy":
			needed = "from"
		}
		if needed != "" && len(wrong) == 0 && element.Get(needed) == nil {
			wrong = document.Errors{element.Errorf("add "+needed+": ...", "the operation %q needs a %s", operation["op"].Text(), needed)}
		}
		errs = append(errs, wrong...)
	}
	return p, errs
}

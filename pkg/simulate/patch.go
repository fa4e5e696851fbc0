package simulate

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
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

func (s *Step) decodePatch(n *document.Node) document.Errors {
	p := &Patch{}
	s.Patch = p
	fields := append(p.fields(), document.Optional("subresource", checked(&p.Subresource, subresource)))
	for _, form := range patchForms() {
		fields = append(fields, document.Optional(form.key, func(n *document.Node) document.Errors {
			p.Type, p.Body = form.of, n.Any()
			return form.check(n)
		}))
	}
	errs := n.Decode(fields...)
	return append(errs, exactlyOne(n, errs, "a patch", "merge", "json", "apply")...)
}

// patchForm is a way to write a patch.
type patchForm struct {
	key   string
	of    types.PatchType
	check document.Decoder
}

func patchForms() []patchForm {
	return []patchForm{
		{"merge", types.MergePatchType, filledMap},
		{"json", types.JSONPatchType, operations},
		{"apply", types.ApplyPatchType, filledMap},
	}
}

func filledMap(n *document.Node) document.Errors {
	if err := n.Expect(document.KindMap); err != nil {
		return document.Errors{err}
	}
	if n.Kind() == document.KindMap && len(n.Entries()) == 0 {
		return document.Errors{n.Errorf("write the fields to change", "the patch is empty")}
	}
	return nil
}

// operations checks the form of a JSON patch. Whether its paths exist is for the
// cluster to say.
func operations(n *document.Node) document.Errors {
	elements, errs := filled(n)
	for _, element := range elements {
		var op, path, from string
		fields := []document.Field{
			document.Required("op", document.OneOf(&op, "add", "remove", "replace", "move", "copy", "test")),
			document.Required("path", document.String(&path)),
			document.Optional("from", document.String(&from)),
			document.Optional("value", anything),
		}
		wrong := element.Decode(fields...)
		if needed := neededBy(op); needed != "" && len(wrong) == 0 && element.Get(needed) == nil {
			wrong = document.Errors{element.Errorf("add "+needed+": ...", "the operation %q needs a %s", op, needed)}
		}
		errs = append(errs, wrong...)
	}
	return errs
}

// neededBy is the field that an operation has beside its path, if any.
func neededBy(op string) string {
	switch op {
	case "add", "replace", "test":
		return "value"
	case "move", "copy":
		return "from"
	default:
		return ""
	}
}

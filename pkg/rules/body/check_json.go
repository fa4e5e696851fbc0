package body

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// CheckPatch is Check for a JSON patch of something of that type.
func (b *Body) CheckPatch(c Context, of *schema.Type) document.Errors {
	d := &draft{context: c, how: schema.Whole}
	operations, known := b.operations()
	if !known || len(operations) != len(b.node.Elements()) {
		d.typeOf(b.root)
		return d.errs
	}
	for i, o := range operations {
		d.operation(o, b.node.Elements()[i], of)
		if removed := d.removed(o, operations[i+1:], of); removed != nil {
			d.errs = append(d.errs, b.node.Elements()[i].Get("path").Errorf(removed.hint, "%s", removed.message).Coded(removed.code))
		}
	}
	return d.errs
}

// operation compares what an operation of a JSON patch writes with the place that its
// pointer leads to.
func (d *draft) operation(o operation, n *document.Node, of *schema.Type) {
	if op, there := o["op"]; there {
		d.typeOf(op)
	}
	into := d.pointed(o["path"], n.Get("path"), of)
	from := d.pointed(o["from"], n.Get("from"), of)
	given, there := o["value"]
	switch op, _ := textOf(o["op"]); {
	case op == "move" || op == "copy":
		if wrong := misfit(typing.From(schema.Field{Type: from.Type, Required: true}), into.Type, d.how); wrong != nil {
			d.errs = append(d.errs, n.Get("path").Errorf("", "%s", wrong.message).Coded(wrong.code))
		}
	case !there:
	case op == "add" || op == "replace":
		d.written(given, n.Get("value"), schema.Field{Type: into.Type})
	case op == "test": // What cannot be stored is never there, but nil is where nothing is.
		if v := d.value(given, n.Get("value"), schema.Field{Type: into.Type}); v != nil {
			d.compared(v, n.Get("value"), into.Type)
		}
	default:
		d.typeOf(given)
	}
}

// removed refuses to take away what has to be there, unless it is given back.
func (d *draft) removed(o operation, later []operation, of *schema.Type) *fault {
	op, _ := textOf(o["op"])
	pointer, whole := textOf(o["path"])
	if op != "remove" || !whole {
		return nil
	}
	back := func(o operation) bool {
		path, whole := textOf(o["path"])
		return !whole || path == pointer
	}
	f, wrong := follow(of, pointer)
	if wrong != nil || !f.Required || f.Default != nil || slices.ContainsFunc(later, back) {
		return nil
	}
	return &fault{document.CodeMissingField, "what has to be there cannot be removed", "replace it"}
}

// pointed returns the field that a pointer leads to, without a type where nothing is
// known of it.
func (d *draft) pointed(p part, n *document.Node, of *schema.Type) schema.Field {
	if p == nil {
		return schema.Field{}
	}
	pointer, whole := textOf(p)
	if !whole {
		d.typeOf(p)
		return schema.Field{}
	}
	f, wrong := follow(of, pointer)
	if wrong != nil {
		d.errs = append(d.errs, n.ErrorAt(wrong.offset, wrong.length, wrong.hint, "%s", wrong.message).Coded(wrong.code))
	}
	return f
}

// astray is a fault in a step of a pointer.
type astray struct {
	fault
	offset, length int
}

// follow returns the field that a pointer leads to, or which step leads nowhere.
func follow(of *schema.Type, pointer string) (schema.Field, *astray) {
	at := schema.Field{Type: of}
	rest, absolute := strings.CutPrefix(pointer, "/")
	if !absolute {
		return at, nil // All of the object.
	}
	offset := 1
	for step := range strings.SplitSeq(rest, "/") {
		next, wrong := into(at.Type, step, pointer[:offset-1])
		if wrong != nil {
			return schema.Field{}, &astray{*wrong, offset, len(step)}
		}
		at = next
		offset += len(step) + 1
	}
	return at, nil
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// into takes one step, from what way leads to.
func into(t *schema.Type, step, way string) (schema.Field, *fault) {
	key := unescape.Replace(step)
	f, possible := t.Field(key)
	switch {
	case !t.Known() || t.Kinds == 0:
		return schema.Field{}, nil
	case possible:
		return f, nil
	case t.List != nil && isIndex(step):
		return schema.Field{Type: t.List.Items}, nil
	case t.Map != nil:
		for _, v := range t.ValidatePath(key) {
			return schema.Field{}, &fault{v.Code, v.Message, v.Hint}
		}
		return schema.Field{}, nil
	case t.List != nil:
		return schema.Field{}, &fault{
			document.CodeUnknownField, fmt.Sprintf("%s is a list, and %q is no position in it", way, value.Excerpt(key)),
			"write a position, counted from 0, or - for the end; merge or apply find elements by name",
		}
	default:
		return schema.Field{}, &fault{document.CodeUnknownField, fmt.Sprintf("%s is %s and has no field %q", way, t.Kinds&^value.Nil, value.Excerpt(key)), ""}
	}
}

package template

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// operation is an operation of a JSON patch by the names of its fields.
type operation map[string]*Body

// operations returns those of a JSON patch, unless an expression gives them.
func (b *Body) operations() (out []operation, known bool) {
	if b.program != nil {
		return nil, false
	}
	for _, element := range b.elements {
		o := operation{}
		for _, e := range element.entries {
			name, whole := e.key.text()
			if !whole {
				return nil, false
			}
			o[name] = e.value
		}
		if element.program != nil {
			return nil, false
		}
		out = append(out, o)
	}
	return out, true
}

// Patched is [Body.Written] for a JSON patch. What its operations read of the object that they change goes to reads. An operation that
// is not known does all that any could.
func (b *Body) Patched(names expression.Shapes, reads, writes *footprint.Tree) {
	b.read(names)
	operations, known := b.operations()
	if !known {
		reads.Add(nil, footprint.Value)
		writes.Add(nil, footprint.Value)
	}
	for _, o := range operations {
		op, known := o["op"].text()
		if !known || op != "test" {
			writes.Add(place(o["path"].text()), footprint.Value)
		}
		if !known || op == "test" {
			reads.Add(place(o["path"].text()), footprint.Value)
		}
		if from := o["from"]; from != nil {
			reads.Add(place(from.text()), footprint.Value)
			if !known || op == "move" {
				writes.Add(place(from.text()), footprint.Value)
			}
		}
	}
}

// place returns where a JSON pointer leads, as far as it is known. It ends at a list, because to change one element is to change which
// ones there are.
func place(pointer string, whole bool) footprint.Path {
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil
	}
	keys := strings.Split(rest, "/")
	if !whole {
		keys = keys[:len(keys)-1]
	}
	if i := slices.IndexFunc(keys, isIndex); i >= 0 {
		keys = keys[:i]
	}
	for i, key := range keys {
		keys[i] = unescape.Replace(key)
	}
	return footprint.Fields(keys...)
}

func isIndex(step string) bool {
	_, err := strconv.ParseUint(step, 10, 31)
	return err == nil || step == "-"
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// PatchedLeaves is [Body.Leaves] for a JSON patch.
func (b *Body) PatchedLeaves() (found []Leaf) {
	operations, _ := b.operations()
	for _, o := range operations {
		op, _ := o["op"].text()
		pointer, whole := o["path"].text()
		path := place(pointer, true)
		switch {
		case !whole, len(path) == 0, len(path) != strings.Count(pointer, "/"): // It is not known, or an element of a list.
		case op == "remove":
			found = append(found, Leaf{Path: path, Body: o["path"], Covers: true})
		case o["value"] != nil && (op == "add" || op == "replace"):
			leaf := o["value"].leaf(path)
			leaf.Covers = true
			found = append(found, leaf)
		}
	}
	return found
}

// patchMade is [Body.Made] for a JSON patch, which may also take a value from a field that it has made so.
func (b *Body) patchMade(by map[*expression.Program]bool) (found []Made) {
	operations, known := b.operations()
	if !known {
		return []Made{{}}
	}
	for _, o := range operations {
		pointer, whole := o["path"].text()
		at, from := place(pointer, whole), place(o["from"].text())
		taken := o["from"] != nil && slices.ContainsFunc(found, func(made Made) bool {
			n := min(len(made.Path), len(from))
			return slices.Equal(made.Path[:n], from[:n])
		})
		switch value := o["value"]; {
		case taken, o["path"].has(by), o["from"].has(by), o["op"].has(by):
			found = append(found, Made{at, true})
		case value.has(by) && whole && len(at) == strings.Count(pointer, "/"):
			found = value.made(found, at, by, false)
		case value.has(by):
			found = append(found, Made{at, true})
		}
	}
	return found
}

// CheckPatch is Check for a JSON patch of something of that type.
func (b *Body) CheckPatch(c Context, of *schema.Type) document.Errors {
	d := &draft{context: c, how: schema.Whole}
	operations, known := b.operations()
	if !known {
		d.value(b, schema.Field{})
	}
	for i, o := range operations {
		d.operation(o, of, operations[i+1:])
	}
	return d.withSlips(b)
}

// operation compares what an operation of a JSON patch writes with the place that its pointer leads to.
func (d *draft) operation(o operation, of *schema.Type, later []operation) {
	if o["op"] != nil {
		d.value(o["op"], schema.Field{})
	}
	into, from, given := d.follow(of, o["path"]), d.follow(of, o["from"]), o["value"]
	switch op, _ := o["op"].text(); {
	case op == "move" || op == "copy":
		stored := typing.From(schema.Field{Type: from.Type, Required: true})
		if wrong := misfit(stored, into.Type, d.how); wrong != nil && o["path"] != nil {
			d.report(o["path"].node, wrong.withHint(""))
		}
	case op == "remove":
		if d.needed(o["path"], into, later) {
			d.report(o["path"].node, &fault{document.CodeMissingField, "what has to be there cannot be removed", "replace it"})
		}
	case given == nil:
	case (op == "add" || op == "replace") && isElement(of, o["path"]):
		v, _ := d.element(given, into.Type)
		d.compared(v, given.node, into.Type)
	case op == "add" || op == "replace":
		d.written(given, schema.Field{Type: into.Type})
	case op == "test": // What cannot be stored is never there, but nil is where nothing is.
		if v, _ := d.value(given, schema.Field{Type: into.Type}); v != nil {
			d.compared(v, given.node, into.Type)
		}
	default:
		d.value(given, schema.Field{})
	}
}

// needed reports whether what a pointer leads to has to be there, and no later operation gives it back.
func (d *draft) needed(pointer *Body, at schema.Field, later []operation) bool {
	path, whole := pointer.text()
	return whole && at.Required && at.Default == nil && !slices.ContainsFunc(later, func(o operation) bool {
		other, whole := o["path"].text()
		return !whole || other == path
	})
}

// follow returns the field that a pointer leads to, without a type where nothing is known of it, and reports a step that leads nowhere.
func (d *draft) follow(of *schema.Type, p *Body) schema.Field {
	if p == nil {
		return schema.Field{}
	}
	pointer, whole := p.text()
	if !whole {
		d.value(p, schema.Field{})
		return schema.Field{}
	}
	at := schema.Field{Type: of}
	rest, absolute := strings.CutPrefix(pointer, "/")
	if !absolute {
		return at // All of the object.
	}
	offset := 1
	for step := range strings.SplitSeq(rest, "/") {
		next, wrong := into(at.Type, step, pointer[:offset-1])
		if wrong != nil {
			d.errs = append(d.errs, p.node.ErrorAt(offset, len(step), wrong.hint, "%s", wrong.message).Coded(wrong.code))
			return schema.Field{}
		}
		at = next
		offset += len(step) + 1
	}
	return at
}

// isElement reports whether a pointer that leads somewhere leads to an element of a list.
func isElement(of *schema.Type, p *Body) bool {
	pointer, whole := p.text()
	if !whole {
		return false
	}
	steps := strings.Split(pointer, "/")
	for _, step := range steps[min(1, len(steps)):max(len(steps)-1, 1)] {
		next, _ := into(of, step, "")
		of = next.Type
	}
	_, isField := of.Field(unescape.Replace(steps[len(steps)-1]))
	return !isField && of.Items() != nil
}

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
		return schema.Field{}, first(t.ValidatePath(key))
	default:
		return schema.Field{}, faultf(document.CodeUnknownField, "%s is %s and has no %q", way, t.Kinds&^value.Nil, value.Excerpt(key)).
			withHint("in a list, write a position, counted from 0, or - for the end; merge or apply find elements by name")
	}
}

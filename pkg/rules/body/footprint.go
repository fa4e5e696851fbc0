package body

import (
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// Shape records what evaluating the body reads and returns what its value can be.
// A template that stands alone is not read by value yet, as [Body.Value] does not
// copy it.
func (b *Body) Shape(names expression.Shapes) shape.Shape {
	if alone, ok := b.root.(template); ok {
		return alone.program.Shape(names)
	}
	b.root.read(names)
	return shape.Other()
}

// Written records what evaluating the body reads, and adds to a tree what it writes
// as a merge patch or an applied manifest. A list is written as a whole, a
// template as the map that its expression builds or as a whole.
func (b *Body) Written(names expression.Shapes, writes *footprint.Tree) {
	b.root.written(names, writes, nil)
}

func (c constant) read(expression.Shapes) {}

func (c constant) written(_ expression.Shapes, writes *footprint.Tree, path footprint.Path) {
	writeConstant(c.value, writes, path)
}

func writeConstant(value any, writes *footprint.Tree, path footprint.Path) {
	m, ok := value.(map[string]any)
	if !ok {
		writes.Add(path, footprint.Value)
		return
	}
	writes.Add(path, footprint.Exists)
	for key, field := range m {
		writeConstant(field, writes, path.Then(footprint.Key(key)))
	}
}

func (t template) read(names expression.Shapes) { t.program.Shape(names).Read(footprint.Value) }

func (t template) written(names expression.Shapes, writes *footprint.Tree, path footprint.Path) {
	s := t.program.Shape(names)
	s.Read(footprint.Value)
	s.Written(writes, path)
}

func (l list) read(names expression.Shapes) {
	for _, p := range l {
		p.read(names)
	}
}

func (l list) written(names expression.Shapes, writes *footprint.Tree, path footprint.Path) {
	l.read(names)
	writes.Add(path, footprint.Value)
}

func (m mapping) read(names expression.Shapes) {
	for _, written := range m {
		written.key.read(names)
		written.value.read(names)
	}
}

func (m mapping) written(names expression.Shapes, writes *footprint.Tree, path footprint.Path) {
	writes.Add(path, footprint.Exists)
	for _, e := range m {
		e.key.read(names)
		step := footprint.Values()
		if key, whole := textOf(e.key); whole {
			step = footprint.Key(key)
		}
		e.value.written(names, writes, path.Then(step))
	}
}

// textOf returns the text of a part as far as it is known, and whether it is all.
func textOf(p part) (text string, whole bool) {
	switch p := p.(type) {
	case constant:
		text, whole = p.value.(string)
		return text, whole
	case template:
		return p.program.Prefix(), false
	default:
		return "", false
	}
}

// Patched is [Body.Written] for a JSON patch. What its operations read of the
// object that they change goes to reads.
func (b *Body) Patched(names expression.Shapes, reads, writes *footprint.Tree) {
	b.root.read(names)
	operations, ok := b.operations()
	if !ok {
		reads.Add(nil, footprint.Value)
		writes.Add(nil, footprint.Value)
	}
	for _, o := range operations {
		o.add(reads, writes)
	}
}

// operation is an operation of a JSON patch by the names of its fields.
type operation map[string]part

// operations returns those of a JSON patch, unless an expression gives them.
func (b *Body) operations() (operations []operation, ok bool) {
	switch root := b.root.(type) {
	case constant:
		elements, _ := root.value.([]any)
		for _, element := range elements {
			operations = append(operations, constantOperation(element))
		}
		return operations, true
	case list:
		for _, element := range root {
			switch element := element.(type) {
			case constant:
				operations = append(operations, constantOperation(element.value))
			case mapping:
				o, ok := element.operation()
				if !ok {
					return nil, false
				}
				operations = append(operations, o)
			default:
				return nil, false
			}
		}
		return operations, true
	default:
		return nil, false
	}
}

func constantOperation(value any) operation {
	fields, _ := value.(map[string]any)
	o := operation{}
	for name, field := range fields {
		o[name] = constant{field}
	}
	return o
}

func (m mapping) operation() (o operation, ok bool) {
	o = operation{}
	for _, e := range m {
		name, whole := textOf(e.key)
		if !whole {
			return nil, false
		}
		o[name] = e.value
	}
	return o, true
}

// add adds the places of an operation. One that is not known does all that any
// could.
func (o operation) add(reads, writes *footprint.Tree) {
	name, known := textOf(o["op"])
	if !known || name != "test" {
		writes.Add(place(o["path"]), footprint.Value)
	}
	if !known || name == "test" {
		reads.Add(place(o["path"]), footprint.Value)
	}
	if from, given := o["from"]; given {
		reads.Add(place(from), footprint.Value)
		if !known || name == "move" {
			writes.Add(place(from), footprint.Value)
		}
	}
}

// place returns where a JSON pointer leads, as far as it is known. It ends at a
// list, because to change one element is to change which ones there are.
func place(pointer part) footprint.Path {
	text, whole := textOf(pointer)
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return nil
	}
	keys := strings.Split(rest, "/")
	if !whole {
		keys = keys[:len(keys)-1]
	}
	for i, key := range keys {
		if isIndex(key) {
			keys = keys[:i]
			break
		}
		keys[i] = unescape.Replace(key)
	}
	return footprint.Fields(keys...)
}

func isIndex(step string) bool {
	_, err := strconv.ParseUint(step, 10, 31)
	return err == nil || step == "-"
}

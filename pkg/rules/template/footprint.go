package template

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// Shape records what evaluating the body reads and returns what its value can be. An expression that stands alone is not read by value
// yet, as [Body.Value] does not copy it. Nor does it copy objects in a list, which may be targets.
func (b *Body) Shape(names expression.Shapes) footprint.Shape {
	if b.program != nil {
		return b.program.Shape(names)
	}
	b.read(names)
	if b.node.Kind() != document.KindList {
		return footprint.Other()
	}
	elements := make([]footprint.Shape, len(b.elements))
	for i, element := range b.elements {
		elements[i] = element.Shape(names)
	}
	return footprint.List(footprint.OneOf(elements...))
}

func (b *Body) read(names expression.Shapes) {
	for _, program := range b.Programs() {
		program.Shape(names).Read(footprint.Value)
	}
}

// Written records what evaluating the body reads, and adds to a tree what it writes as a merge patch or an applied manifest. A list is
// written as a whole, a template as the map that its expression builds or as a whole.
func (b *Body) Written(names expression.Shapes, writes *footprint.Tree) {
	b.written(names, writes, nil)
}

func (b *Body) written(names expression.Shapes, writes *footprint.Tree, path footprint.Path) {
	switch {
	case b.program != nil:
		s := b.program.Shape(names)
		s.Read(footprint.Value)
		s.Written(writes, path)
	case b.isMap():
		writes.Add(path, footprint.Exists)
		for _, e := range b.entries {
			e.key.read(names)
			step := footprint.Values()
			if key, whole := e.key.text(); whole {
				step = footprint.Key(key)
			}
			e.value.written(names, writes, path.Then(step))
		}
	default:
		b.read(names)
		writes.Add(path, footprint.Value)
	}
}

// Made is a field to which a body gives what one of some expressions makes: a value, or a key of the map there.
type Made struct {
	Path footprint.Path
	Keys bool
}

// Made lists such fields of a manifest, or of the body of a patch, and all fields beside such a key. A list is one field.
func (b *Body) Made(by map[*expression.Program]bool) []Made {
	if b.has(by) && b.node.Kind() == document.KindList {
		return b.patchMade(by)
	}
	return b.made(nil, nil, by, false)
}

func (b *Body) made(found []Made, path footprint.Path, by map[*expression.Program]bool, beside bool) []Made {
	if !b.isMap() && (beside || b.has(by)) {
		return append(found, Made{path, false})
	}
	for _, e := range b.entries {
		if _, whole := e.key.text(); e.key.has(by) || !whole && e.value.has(by) {
			found, beside = append(found, Made{path, true}), true
		}
	}
	for _, e := range b.entries {
		if key, whole := e.key.text(); whole {
			found = e.value.made(found, path.Then(footprint.Key(key)), by, beside)
		}
	}
	return found
}

// has reports whether an expression in the body is one of those. There may be no body.
func (b *Body) has(some map[*expression.Program]bool) bool {
	return b != nil && slices.ContainsFunc(b.Programs(), func(p *expression.Program) bool { return some[p] })
}

// Parts are the text that the body gives, cut: every second part is what some expressions make. It is nil where there are none.
func (b *Body) Parts(e *expression.Evaluation, by map[*expression.Program]bool) ([]string, error) {
	if len(by) == 0 || !b.has(by) {
		return nil, nil
	}
	parts, err := b.program.Cut(e, by)
	if err != nil {
		return nil, Locate(b.node, err)
	}
	return parts, nil
}

// Leaf is a field that a body writes as a whole.
type Leaf struct {
	Path footprint.Path
	*Body
	// Value is what is written there, with templates as their text.
	Value any
	// Covers says that nothing stays of what is below the field. A map that an expression
	// gives may well be laid over it.
	Covers bool
}

// Leaves lists the fields that a merge patch or an applied manifest writes, as far as their keys are written out. A map without
// entries changes nothing that is there.
func (b *Body) Leaves() []Leaf { return b.leaves(nil, nil) }

func (b *Body) leaves(found []Leaf, path footprint.Path) []Leaf {
	if !b.isMap() && len(path) > 0 {
		return append(found, b.leaf(path))
	}
	for _, e := range b.entries {
		if key, whole := e.key.text(); whole {
			found = e.value.leaves(found, path.Then(footprint.Key(key)))
		}
	}
	return found
}

// leaf is what is no map, or what an operation of a JSON patch writes. A template of a constant is that.
func (b *Body) leaf(path footprint.Path) Leaf {
	out := Leaf{Path: path, Body: b, Value: b.node.Any(), Covers: true}
	p := b.Alone()
	if p == nil {
		return out
	}
	v, known := p.Constant()
	if known {
		out.Value = v
	}
	_, isMap := v.(map[string]any)
	out.Covers = known && !isMap
	return out
}

package body

import (
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// Leaf is a field that a body writes as a whole.
type Leaf struct {
	Path footprint.Path
	Node *document.Node
	// Value is what is written there, with templates as their text, and Names are those
	// that the templates use.
	Value any
	Names []string
	// Covers says that nothing stays of what is below the field. A map that an expression
	// gives may well be laid over it.
	Covers bool
}

// Leaves lists the fields that a merge patch or an applied manifest writes, as far as
// their keys are written out.
func (b *Body) Leaves() []Leaf {
	var w leafWalk
	w.walk(b.root, b.node, nil)
	return w.found
}

// leafWalk collects the leaves of a body.
type leafWalk struct{ found []Leaf }

func (w *leafWalk) walk(p part, n *document.Node, path footprint.Path) {
	switch p := p.(type) {
	case constant:
		w.constant(n, path)
	case mapping:
		entries := n.Entries()
		for i, e := range p {
			if key, whole := textOf(e.key); whole {
				w.walk(e.value, entries[i].Value, path.Then(footprint.Key(key)))
			}
		}
	default:
		w.leaf(leaf(p, n), path)
	}
}

// constant walks a part without templates. A map without entries changes nothing that
// is there.
func (w *leafWalk) constant(n *document.Node, path footprint.Path) {
	if n.Kind() != document.KindMap {
		w.leaf(Leaf{Node: n, Value: n.Any(), Covers: true}, path)
		return
	}
	for _, entry := range n.Entries() {
		w.constant(entry.Value, path.Then(footprint.Key(entry.Key.Text())))
	}
}

func (w *leafWalk) leaf(l Leaf, path footprint.Path) {
	if l.Path = path; len(path) > 0 {
		w.found = append(w.found, l)
	}
}

// leaf is what a list or a template writes. A template of a constant is that.
func leaf(p part, n *document.Node) Leaf {
	out := Leaf{Node: n, Value: n.Any(), Names: mentioned(p, nil), Covers: true}
	t, is := p.(template)
	if !is {
		return out
	}
	parts, alone := t.program.Parts()
	if !alone {
		return out
	}
	v, known := parts[0].Program.Constant()
	if known {
		out.Value = v
	}
	_, isMap := v.(map[string]any)
	out.Covers = known && !isMap
	return out
}

// PatchedLeaves is [Body.Leaves] for a JSON patch.
func (b *Body) PatchedLeaves() (found []Leaf) {
	operations, known := b.operations()
	if !known || len(operations) != len(b.node.Elements()) {
		return nil
	}
	for i, o := range operations {
		n := b.node.Elements()[i]
		op, _ := textOf(o["op"])
		pointer, whole := textOf(o["path"])
		path := place(constant{pointer})
		if !whole || len(path) == 0 || len(path) != strings.Count(pointer, "/") {
			continue // It is not known, or an element of a list.
		}
		written := Leaf{Node: n.Get("path")}
		switch {
		case op == "remove":
		case o["value"] != nil && (op == "add" || op == "replace"):
			written = leaf(o["value"], n.Get("value"))
		default:
			continue
		}
		written.Path, written.Covers = path, true
		found = append(found, written)
	}
	return found
}

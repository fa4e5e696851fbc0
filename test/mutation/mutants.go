package mutation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Mutant is a file of rules in which one thing is not as it was.
type Mutant struct {
	// Line counts from 1, in the file as it is.
	Line int
	// Path is the field, such as spec.rules[0].when, and What the change. Together they are unique.
	Path, What string
	Data       []byte
}

func (m Mutant) String() string { return fmt.Sprintf("%s: %s", m.Path, m.What) }

// Mutants lists every change of one operator, constant or field in the rules of a file.
// Not all of them compile.
func Mutants(file document.File) ([]Mutant, error) {
	documents, errs := document.Parse(file)
	if len(errs) > 0 {
		return nil, errs
	}
	w := &walk{documents: documents, named: map[string]int{}}
	for _, d := range documents {
		w.set(d.Get("spec"))
	}
	return w.mutants, w.err
}

// walk goes through the documents of a file.
type walk struct {
	documents []*document.Node
	mutants   []Mutant
	named     map[string]int // how many have a name
	err       error          // the first
}

// removed is the new value of what is to be left out.
type removed struct{}

// put adds the mutant in which a value is another one.
func (w *walk) put(n *document.Node, what string, value any) {
	var data bytes.Buffer
	for _, d := range w.documents {
		one, err := json.Marshal(rebuilt(d, n, value))
		if err != nil && w.err == nil {
			w.err = fmt.Errorf("writing %s: %w", n.Path(), err)
		}
		fmt.Fprintf(&data, "---\n%s\n", one)
	}
	m := Mutant{Line: n.Position().Line, Path: n.Path(), What: what, Data: data.Bytes()}
	w.named[m.String()]++
	if count := w.named[m.String()]; count > 1 {
		m.What = fmt.Sprintf("%s (%d)", what, count)
	}
	w.mutants = append(w.mutants, m)
}

// rebuilt is a subtree with the value of one node replaced.
func rebuilt(n, at *document.Node, value any) any {
	switch {
	case n == at:
		return value
	case n.Kind() == document.KindMap:
		out := map[string]any{}
		for _, e := range n.Entries() {
			if v := rebuilt(e.Value, at, value); v != (removed{}) {
				out[e.Key.Text()] = v
			}
		}
		return out
	case n.Kind() == document.KindList:
		out := []any{}
		for _, e := range n.Elements() {
			if v := rebuilt(e, at, value); v != (removed{}) {
				out = append(out, v)
			}
		}
		return out
	default:
		return n.Value()
	}
}

// expression changes an expression.
func (w *walk) expression(n *document.Node) {
	for _, c := range inExpression(n.Text()) {
		w.put(n, c.what, c.text)
	}
}

// condition changes an expression and negates it.
func (w *walk) condition(n *document.Node) {
	if n == nil {
		return
	}
	w.expression(n)
	w.put(n, "negated", "not ("+n.Text()+")")
}

// enumerations are the fields that have few values, and another one for each.
var enumerations = map[string]string{
	"Warning": "Normal", "Normal": "Warning", "Update": "Keep", "Keep": "Update", "Background": "Foreground", "Foreground": "Background",
}

// values changes each value below a node, of which strings are templates, and leaves
// each field out.
func (w *walk) values(n *document.Node) {
	switch n.Kind() {
	case document.KindMap:
		for _, e := range n.Entries() {
			w.put(e.Value, "dropped", removed{})
			w.values(e.Value)
		}
	case document.KindList:
		for _, e := range n.Elements() {
			w.values(e)
		}
	case document.KindBool:
		w.put(n, "flipped", n.Text() == "false")
	case document.KindInt:
		w.put(n, named(n.Text(), more(n.Text())), json.Number(more(n.Text())))
	case document.KindString:
		if other := enumerations[n.Text()]; other != "" {
			w.put(n, named(n.Text(), other), other)
			return
		}
		for _, c := range inTemplate(n.Text()) {
			w.put(n, c.what, c.text)
		}
	default:
	}
}

// each calls a function for each value of a map or list.
func each(n *document.Node, do func(*document.Node)) {
	for _, e := range slices.Concat(n.Elements(), valuesOf(n)) {
		do(e)
	}
}

func valuesOf(n *document.Node) []*document.Node {
	var out []*document.Node
	for _, e := range n.Entries() {
		out = append(out, e.Value)
	}
	return out
}

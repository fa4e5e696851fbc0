package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// path is a chain of accesses such as object.spec?.containers[0].image, run in
// one loop.
type path struct {
	root  code
	steps []step
}

// step is one access.
type step struct {
	kind stepKind
	key  string
	// index is the element or key of byValue; from and to are the bounds of bySlice
	// and may be nil.
	index, from, to *code
	// optional ends the whole path with nil where there is nothing to read from.
	optional bool
	always   alwaysMap
	at       syntax.Span
	// text is how messages write the access, with its dot or brackets.
	text string
}

type stepKind uint8

const (
	byKey stepKind = iota
	byValue
	bySlice
)

// alwaysMap tells whether a key, where a Kubernetes object lacks it, reads as an
// empty map.
type alwaysMap uint8

const (
	neverMap alwaysMap = iota
	specOrStatus
	labelsOrAnnotations // Below metadata.
)

// path compiles a chain of accesses. A lenient one, to the left of ??, is nil as
// soon as anything on the way is absent.
func (c *compiler) path(node ast.Node, lenient bool) (code, error) {
	spine, root := syntax.Spine(node)
	c.nodes += len(spine)
	p := &path{steps: make([]step, len(spine))}
	var err error
	if identifier, ok := root.(*ast.IdentifierNode); ok {
		p.root, err = c.identifier(identifier)
	} else {
		p.root, err = c.compile(root)
	}
	if err != nil {
		return code{}, err
	}
	p.root.text = syntax.RootText(root)
	for i := range p.steps {
		if p.steps[i], err = c.step(spine[len(spine)-1-i]); err != nil {
			return code{}, err
		}
		p.steps[i].optional = p.steps[i].optional || lenient
		p.steps[i].always = p.alwaysMap(i)
	}
	if err := c.checkFields(root, p.steps[0]); err != nil {
		return code{}, err
	}
	return c.traced(code{eval: p.eval, at: c.tree.Path(p.root.at, p.steps[len(p.steps)-1].at), text: p.text(len(p.steps))}), nil
}

// checkFields refuses a field that a name surely lacks, such as a misspelt
// parameter.
func (c *compiler) checkFields(root ast.Node, first step) error {
	name, ok := root.(*ast.IdentifierNode)
	if !ok || first.kind != byKey {
		return nil
	}
	fields, known := c.scope.fields[name.Value]
	if !known || slices.Contains(fields, first.key) {
		return nil
	}
	err := first.at.Errorf("%s has no %q", name.Value, value.Excerpt(first.key))
	if other := document.Suggest(first.key, fields); other != "" {
		return err.WithHint("did you mean %s.%s?", name.Value, other)
	}
	if len(fields) == 0 {
		return err.WithHint("the set has no %s", name.Value)
	}
	return err.WithHint("%s has %s", name.Value, strings.Join(fields, ", "))
}

func (c *compiler) step(node ast.Node) (step, error) {
	switch n := node.(type) {
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.MemberNode:
		return c.member(n)
	default:
		return step{}, c.tree.Span(node).Errorf("this is not supported in expressions")
	}
}

func (c *compiler) member(n *ast.MemberNode) (step, error) {
	s := step{optional: n.Optional, at: c.tree.Span(n), text: syntax.AccessText(n)}
	if key, ok := n.Property.(*ast.StringNode); ok {
		s.key = key.Value
		return s, nil
	}
	index, err := c.compile(n.Property)
	s.kind, s.index = byValue, &index
	return s, err
}

func (c *compiler) slice(n *ast.SliceNode) (step, error) {
	s := step{kind: bySlice, at: c.tree.Span(n), text: syntax.AccessText(n)}
	bound := func(node ast.Node) (*code, error) {
		if node == nil {
			return nil, nil
		}
		v, err := c.compile(node)
		return &v, err
	}
	var err error
	if s.from, err = bound(n.From); err != nil {
		return step{}, err
	}
	s.to, err = bound(n.To)
	return s, err
}

// alwaysMap classifies step i.
func (p *path) alwaysMap(i int) alwaysMap {
	switch s := p.steps[i]; {
	case s.kind != byKey:
		return neverMap
	case s.key == "spec" || s.key == "status":
		return specOrStatus
	case i > 0 && p.steps[i-1].kind == byKey && p.steps[i-1].key == "metadata" &&
		(s.key == "labels" || s.key == "annotations"):
		return labelsOrAnnotations
	default:
		return neverMap
	}
}

// text is the path with its first n steps.
func (p *path) text(n int) string {
	var text strings.Builder
	text.WriteString(p.root.text)
	for _, s := range p.steps[:n] {
		text.WriteString(s.text)
	}
	return text.String()
}

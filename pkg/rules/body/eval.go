package body

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// constant is a subtree without expressions.
type constant struct{ value any }

func (c constant) eval(*expression.Evaluation) (any, error) { return c.value, nil }

// template is a string with expressions.
type template struct {
	node    *document.Node
	program *expression.Template
}

func (t template) eval(e *expression.Evaluation) (any, error) {
	value, err := t.program.Eval(e)
	if err != nil {
		return nil, Locate(t.node, err)
	}
	value, err = expression.Strip(value, e.Budget)
	if err != nil {
		return nil, Locate(t.node, err)
	}
	return value, nil
}

// list leaves out the elements that are omitted.
type list []part

func (l list) eval(e *expression.Evaluation) (any, error) {
	out := make([]any, 0, len(l))
	for _, p := range l {
		value, err := p.eval(e)
		if err != nil {
			return nil, err
		}
		if !omitted(value) {
			out = append(out, value)
		}
	}
	return out, nil
}

// mapping leaves out the keys of which the key or the value is omitted.
type mapping []entry

type entry struct {
	node       *document.Node // of the key
	key, value part
}

func (m mapping) eval(e *expression.Evaluation) (any, error) {
	out := make(map[string]any, len(m))
	for _, written := range m {
		key, err := written.key.eval(e)
		if err != nil {
			return nil, err
		}
		if omitted(key) {
			continue
		}
		name, ok := key.(string)
		if !ok {
			return nil, written.node.Errorf("make it a string, for example with string(...)", "a key must be a string, have %s", value.KindOf(key))
		}
		value, err := written.value.eval(e)
		if err != nil {
			return nil, err
		}
		if omitted(value) {
			continue
		}
		if _, twice := out[name]; twice {
			return nil, written.node.Errorf("give each key once", "the key %q is there already", name)
		}
		out[name] = value
	}
	return out, nil
}

func omitted(value any) bool {
	_, is := value.(expression.Omitted)
	return is
}

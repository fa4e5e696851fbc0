package template

import (
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Expression is a compiled expression of a document. It is immutable and safe
// for concurrent use.
type Expression struct {
	node    *document.Node
	program *expression.Program
}

// CompileExpression compiles a scalar as the expression that it is written as:
// true and 5 are expressions too. The result is nil where there is an error, or
// where there was one already.
func CompileExpression(n *document.Node, scope *expression.Scope) (*Expression, document.Errors) {
	switch kind := n.Kind(); {
	case kind == document.KindInvalid: // Reported by the parser.
		return nil, nil
	case kind == document.KindList || kind == document.KindMap:
		return nil, document.Errors{n.Errorf("write one expression as text; && joins conditions", "want an expression, have %s", kind)}
	case kind == document.KindNull || strings.TrimSpace(n.Text()) == "":
		return nil, document.Errors{n.Errorf("write an expression, or leave the field out", "the expression is empty")}
	}
	if cut := n.CutByComment(); cut != nil {
		return nil, document.Errors{cut}
	}
	program, err := expression.Compile(n.Text(), scope)
	if err != nil {
		return nil, document.Errors{Locate(n, err)}
	}
	return &Expression{node: n, program: program}, nil
}

// CompileCondition is CompileExpression for a boolean. It refuses another
// constant, which is never a condition.
func CompileCondition(n *document.Node, scope *expression.Scope) (*Expression, document.Errors) {
	x, errs := CompileExpression(n, scope)
	if x == nil {
		return nil, errs
	}
	if v, known := x.program.Constant(); known && value.KindOf(v) != value.Bool {
		return nil, document.Errors{n.Errorf("write a condition, such as object.spec.replicas > 1",
			"a condition is true or false, have %s", value.KindOf(v))}
	}
	return x, nil
}

// Node returns where the expression is written.
func (x *Expression) Node() *document.Node { return x.node }

// Program returns the expression itself.
func (x *Expression) Program() *expression.Program { return x.program }

// Eval returns the value. An error is a [document.Error].
func (x *Expression) Eval(e *expression.Evaluation) (any, error) {
	value, err := x.program.Eval(e)
	if err != nil {
		return nil, Locate(x.node, err)
	}
	return value, nil
}

// EvalBool is Eval for a condition.
func (x *Expression) EvalBool(e *expression.Evaluation) (bool, error) {
	holds, err := x.program.EvalBool(e)
	if err != nil {
		return false, Locate(x.node, err)
	}
	return holds, nil
}

// CheckName returns an error if a key cannot name a value beside those of scope.
func CheckName(key *document.Node, scope *expression.Scope) *document.Error {
	name := key.Text()
	_, taken := scope.Slot(name)
	switch why := expression.Reserved(name); {
	case why != "":
		return key.Errorf("choose another name", "%q is reserved: %s", name, why)
	case taken:
		return key.Errorf("choose another name", "%q is a name already", name)
	default:
		return nil
	}
}

// FreeNames are the keys of a map that can name values beside those of scope.
func FreeNames(n *document.Node, scope *expression.Scope) (names []string) {
	for _, entry := range n.Entries() {
		if CheckName(entry.Key, scope) == nil {
			names = append(names, entry.Key.Text())
		}
	}
	return names
}

// Name returns the slot of a value that a field calls by its bare name.
func Name(n *document.Node, scope *expression.Scope) (slot int, wrong *document.Error) {
	name := strings.TrimSpace(n.Text())
	slot, known := scope.Slot(name)
	near := document.Suggest(name, scope.Names())
	switch {
	case n.Kind() == document.KindInvalid || known:
		return slot, nil
	case near != "":
		return 0, n.Errorf(`did you mean "`+near+`"?`, "unknown name %q", value.Excerpt(name))
	default:
		return 0, n.Errorf("write object, or a name of with, let or forEach", "unknown name %q", value.Excerpt(name))
	}
}

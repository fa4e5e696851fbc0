package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// made says what a value consists of, as far as that is written in the expression: one of several branches, by ?? and ?:, or the
// entries of a list or a map.
type made struct {
	branches []branch
	entries  []entry
	// open says that there can be other entries.
	open bool
}

// branch is one of the values that are chosen among.
type branch struct {
	expression.Operand
	node expression.Node // nil for one of a name
	of   typing.Type
	made *made
	// otherwise is the default of what is to the left of ??.
	otherwise expression.Node
	// name is the let whose expression chooses, or "".
	name string
	// perhaps says that the left of ?? may never be absent, and needless that it never is.
	perhaps, needless bool
}

// entry is what is written at a key or an index.
type entry struct {
	step any
	branch
}

// mostBranches limits the branches of a value. People write fewer.
const mostBranches = 16

// branches returns what a node chooses among, or the node alone.
func (c *checker) branches(node expression.Node, r result, k known) []branch {
	switch {
	case k.never:
		return nil
	case c.asked(node, k):
		return []branch{{Operand: expression.Operand{At: node.Written().At}, node: node, of: typing.Unknown()}}
	case r.made != nil && r.made.branches != nil:
		return r.made.branches
	default:
		return []branch{c.branch(node, r)}
	}
}

func (c *checker) branch(node expression.Node, r result) branch {
	return branch{Operand: *node.Written(), node: node, of: r.of, made: r.made}
}

// chosen adds what a result is chosen among.
func (r result) chosen(branches ...branch) result {
	r.made = nil
	if len(branches) <= mostBranches {
		r.made = &made{branches: branches}
	}
	return r
}

// defaulted are the branches of a value of some type that has a default.
func (c *checker) defaulted(left []branch, of typing.Type, otherwise expression.Node, right []branch) []branch {
	all := make([]branch, 0, len(left)+len(right))
	for _, b := range left {
		if b.of = b.of.NonNil(); b.of.None() {
			continue
		}
		if b.otherwise == nil {
			b.otherwise = otherwise
		}
		all = append(all, b)
	}
	for _, b := range right {
		b.perhaps, b.needless = b.perhaps || !of.CanBeNil(), b.needless || neverNil(of)
		all = append(all, b)
	}
	return all
}

// ofName returns the branches of the let that a name stands for, each with the position of the name.
func (c *checker) ofName(n *expression.Name, meaning result, k known) *made {
	if meaning.made == nil || meaning.made.branches == nil || c.asked(n, k) || !c.spend(len(meaning.made.branches)) {
		return nil
	}
	out := &made{}
	for _, b := range meaning.made.branches {
		b.Operand, b.node, b.made, b.name = expression.Operand{At: n.At, Text: b.Text}, nil, nil, n.Name
		out.branches = append(out.branches, b)
	}
	return out
}

// asked reports whether the expression has called type() for a value. Its author knows more of it then.
func (c *checker) asked(node expression.Node, k known) bool {
	p := c.question(node)
	return p.is && k.Has(p.root, p.path...)
}

// question returns the place that stands for the fact that type() was called for a node.
func (c *checker) question(node expression.Node) place {
	p := c.place(node)
	p.is = p.is && p.whole
	p.root ^= 1 << 30
	return p
}

// refusesBranch reports a branch whose kind user never takes, where it takes the kinds of others, and whether it did.
func (c *checker) refusesBranch(r result, user string, named, takes value.Kind) (refused bool) {
	if r.made == nil {
		return false
	}
	for _, b := range r.made.branches {
		have := b.of.Kinds() &^ value.Nil
		if b.perhaps || !b.of.Known() || have == 0 || have&takes != 0 {
			continue
		}
		c.report(document.CodeTypeMismatch, b.refused(user, named, have))
		refused = true
	}
	return refused
}

// refused is the error that user does not take the kind that the branch has.
func (b branch) refused(user string, kinds, have value.Kind) *expression.Error {
	v, literal := expression.LiteralOf(b.node)
	if b.name == "" && b.otherwise == nil {
		err := b.Wants(user, kinds, have)
		if literal {
			err.Hint = otherLiteral(v, kinds)
		}
		return err
	}
	subject := cmp.Or(b.name, "it")
	err := b.At.Errorf("%s can be %s, and %s wants %s", subject, have, user, kinds)
	if b.otherwise != nil && b.Text != "" {
		err = b.At.Errorf("%s is %s where %s is present, and %s wants %s", subject, have, b.Text, user, kinds)
	}
	return err.WithHint("%s", b.conversion(kinds, have))
}

// conversion is a hint how to make what is wanted of a text and its default.
func (b branch) conversion(kinds, have value.Kind) string {
	v, literal := expression.LiteralOf(b.otherwise)
	switch {
	case !literal || b.Text == "" || have != value.String:
		return ""
	case kinds&value.Number != 0 && value.KindOf(v)&value.Number != 0:
		return fmt.Sprintf(`write int(%s ?? "%v")`, b.Text, v)
	case kinds&value.Bool != 0 && value.KindOf(v) == value.Bool:
		return fmt.Sprintf(`write (%s ?? "%v") == "true"`, b.Text, v)
	default:
		return ""
	}
}

// otherLiteral says how to write a literal so that it is of another kind.
func otherLiteral(v any, kinds value.Kind) string {
	text, isText := v.(string)
	_, err := strconv.ParseFloat(text, 64)
	switch {
	case err == nil && kinds&value.Number != 0, (text == "true" || text == "false") && kinds&value.Bool != 0:
		return "write it without quotes: " + text
	case !isText && kinds&value.String != 0:
		return fmt.Sprintf("put it in quotes: \"%v\"", v)
	default:
		return ""
	}
}

// Given is what a template gives.
type Given struct {
	typing.Type
	// Written are the values that stand in the template, and those it chooses among.
	Written []Written
}

// Written is a part of what a template gives, in one of its branches.
type Written struct {
	// Path leads to it in the value: the keys of maps, and the indexes of lists as int.
	Path []any
	At   syntax.Span
	// Value is what is written, with [schema.Unknown] for what is Written itself; it is
	// that alone where only Type is known.
	Value any
	Type  typing.Type
	// Where says when it is given, as in "where x is present", or is "".
	Where string
}

// maxWritten is more than a template for a person has.
const maxWritten = 1000

// listed appends what is written in a branch, which is at a path of the whole value, and an offset of the whole text.
func (b branch) listed(list []Written, path []any, offset int) []Written {
	if len(list) == maxWritten || b.of.Kinds() == value.Nil || b.needless {
		return list
	}
	if b.made == nil || b.made.branches == nil {
		w := Written{Path: path, At: b.At, Value: b.draft(), Type: b.of}
		w.At.Offset += offset
		if b.otherwise != nil && b.Text != "" {
			w.Where = "where " + b.Text + " is present"
		}
		list = append(list, w)
	}
	return b.made.listed(list, path, offset)
}

func (m *made) listed(list []Written, path []any, offset int) []Written {
	if m == nil {
		return list
	}
	for _, b := range m.branches {
		list = b.listed(list, path, offset)
	}
	for _, e := range m.entries {
		list = e.listed(list, append(slices.Clip(path), e.step), offset)
	}
	return list
}

// draft is as much of a value as is written. What is empty may well be meant for nothing
// at all.
func (b branch) draft() any {
	if v, literal := expression.LiteralOf(b.node); literal {
		return v
	}
	if b.made == nil || len(b.made.entries) == 0 {
		return schema.Unknown{}
	}
	switch b.node.(type) {
	case *expression.List:
		return slices.Repeat([]any{schema.Unknown{}}, len(b.made.entries))
	case *expression.Map:
		m := make(map[string]any, len(b.made.entries))
		for _, e := range b.made.entries {
			key, _ := e.step.(string)
			m[key] = schema.Unknown{}
		}
		if b.made.open {
			m[schema.SomeKeys] = schema.Unknown{}
		}
		return m
	default:
		return schema.Unknown{}
	}
}

package check

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// madeBy is how the result of a function comes about of its arguments.
func (c *checker) madeBy(f *function.Function, nodes []expression.Node, given []result) *made {
	switch {
	case f.Name == "default" && len(given) == 2:
		left, right := c.branches(nodes[0], given[0], given[0].yes), c.branches(nodes[1], given[1], given[1].yes)
		return result{}.chosen(c.defaulted(left, given[0].of, nodes[1], right)...).made
	case f.Name == "concat":
		return joined(given)
	case f.Name == "setCondition" && len(given) == 2:
		element := given[1]
		c.checkCondition(nodes[1], element)
		return &made{entries: []entry{{0, c.stamped(nodes[1], element)}}, open: true}
	default:
		return nil
	}
}

// joined is a list of what is written in several, wherever it comes to be in it.
func joined(lists []result) *made {
	out := &made{open: true}
	for _, list := range lists {
		out.join(list.made)
	}
	if len(out.entries) == 0 || len(out.entries) > mostBranches {
		return nil
	}
	return out
}

func (m *made) join(list *made) {
	if list == nil {
		return
	}
	m.entries = append(m.entries, list.entries...)
	for _, b := range list.branches {
		if !b.perhaps && !b.needless {
			m.join(b.made)
		}
	}
}

// stamped adds the time that setCondition gives to a condition.
func (c *checker) stamped(node expression.Node, condition result) branch {
	return c.branch(node, condition).withTime()
}

// withTime knows nothing of a condition that is not written out.
func (b branch) withTime() branch {
	if b.made == nil && b.of.Kinds() != value.Nil {
		b.of = typing.Unknown()
	}
	if b.made == nil {
		return b
	}
	m := b.made
	out := &made{open: m.open, entries: slices.Clip(m.entries)}
	if m.branches == nil {
		out.entries = append(out.entries, entry{"lastTransitionTime", branch{of: typing.Unknown()}})
	}
	for _, one := range m.branches {
		out.branches = append(out.branches, one.withTime())
	}
	b.made = out
	return b
}

// checkCondition looks into a condition that is written where it is set.
func (c *checker) checkCondition(node expression.Node, r result) {
	if m, is := node.(*expression.Map); is && r.made != nil {
		c.checkConditionFields(m, r.made)
		return
	}
	if r.made == nil {
		return
	}
	for _, b := range r.made.branches {
		if m, is := b.node.(*expression.Map); is {
			c.checkConditionFields(m, b.made)
		}
	}
}

func (c *checker) checkConditionFields(m *expression.Map, of *made) {
	found := map[string]branch{}
	for _, e := range of.entries {
		key, _ := e.step.(string)
		found[key] = e.branch
	}
	const example = `write {type: "Ready", status: "True", reason: "AllUp"}`
	for _, key := range []string{"type", "status"} {
		if _, there := found[key]; !there && !of.open {
			c.report(missingField, m.Written().At.Errorf("a condition needs a %s", key).WithHint(example))
			return
		}
	}
	if b := found["type"]; b.of.Known() && b.of.Kinds()&value.String == 0 {
		c.report(typeMismatch, b.at.Errorf("the type of a condition must be a string, have %s", b.of).WithHint(example))
	}
	if b, there := found["status"]; there {
		c.checkStatus(b)
	}
}

// checkStatus wants one of the three that a condition can have.
func (c *checker) checkStatus(b branch) {
	const message = `the status of a condition must be "True", "False" or "Unknown"`
	if b.made != nil && b.made.branches != nil {
		for _, one := range b.made.branches {
			c.checkStatus(one)
		}
		return
	}
	if !b.of.Known() || b.perhaps {
		return
	}
	if v, literal := expression.LiteralOf(b.node); literal {
		c.checkWrittenStatus(b, v, message)
		return
	}
	switch kinds := b.of.Kinds(); {
	case kinds&value.String != 0:
	case kinds&value.Bool != 0:
		c.report(typeMismatch, b.at.Errorf("%s, have a boolean", message).WithHint(`write status: ready ? "True" : "False"`))
	default:
		c.report(typeMismatch, b.at.Errorf("%s, have %s", message, b.of))
	}
}

func (c *checker) checkWrittenStatus(b branch, v any, message string) {
	statuses := []string{`"True"`, `"False"`, `"Unknown"`}
	switch text, isText := v.(string); {
	case !isText:
		c.report(typeMismatch, b.at.Errorf("%s", message).WithHint(`quote it and begin with a capital letter`))
	case !slices.Contains(statuses, constantText(text)):
		c.report(notInEnum, b.at.Errorf("%s, have %s", message, constantText(text)).WithHint("%s", enumHint(constantText(text), statuses)))
	}
}

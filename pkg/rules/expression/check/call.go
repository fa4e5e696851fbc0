package check

import (
	"cmp"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// call checks a call of a function.
func (c *checker) call(n *expression.Call, k known) result {
	f := n.Function
	call := &function.TypeCall{}
	given := make([]result, 0, len(n.Args))
	for i, arg := range n.Args {
		if p, is := arg.(*expression.Predicate); is {
			c.predicate(call, f, p, k)
			continue
		}
		r, t := c.argument(f, i, arg, k)
		k = r.yes
		given, call.Arguments = append(given, r), append(call.Arguments, t)
	}
	c.elementsOf(f, n.Args, call)
	if f.Name == "labelsMatch" && len(n.Args) == 2 {
		c.labelsMatch(n.Args, call.Arguments)
	}
	t := f.Type(call)
	if p := c.callPlace(n); p.is && p.root < 0 {
		t = k.Apply(p.root, t)
	}
	r := gives(t, k)
	switch f.Name { // Of an absent list nothing is, and everything.
	case "any", "one":
		r.yes = r.yes.with(c.present(n.Args[0], call.Arguments[0]))
	case "all", "none":
		r.no = r.no.with(c.present(n.Args[0], call.Arguments[0]))
	}
	r.made = c.madeBy(f, n.Args, given)
	return r
}

// argument checks an argument, whose type is unknown where it is not taken.
func (c *checker) argument(f *function.Function, i int, node expression.Node, k known) (result, typing.Type) {
	r := c.node(node, k)
	kinds := f.Param(i).Kinds
	after := r.after()
	if kinds&value.Nil == 0 {
		after = after.with(c.present(node, r.of))
	}
	if f.Name == "type" {
		after = after.with(c.question(node))
	}
	r.yes, r.no = after, after
	if c.wants(node, r, f.Name, kinds) {
		return r, typing.Unknown()
	}
	return r, r.of
}

// elementsOf checks those of a list that a function takes one by one, where it has no
// predicate that does.
func (c *checker) elementsOf(f *function.Function, nodes []expression.Node, call *function.TypeCall) {
	kinds, hint := value.String, ""
	switch {
	case f.Iterates() && len(nodes) == 1:
		kinds, hint = f.Params[1].Kinds, "write "+f.Signature()
	case len(nodes) > 0 && f.Params[0].Name == "numbers":
		kinds, hint = f.Params[0].Kinds&^(value.List|value.Nil), "write map(list, timestamp(#)) for times, and so on"
	case f.Name != "join":
		return
	}
	for i, of := range call.Arguments {
		items, at := of.Items(), nodes[i].Written().At
		have := items.Kinds() &^ value.Nil
		switch {
		case of.Kinds()&value.List == 0 || f.Param(i).Kinds&value.List == 0 || !items.Known():
		case have != 0 && have&kinds == 0:
			if f.Name == "join" {
				hint = function.JoinHint(have)
			}
			c.report(document.CodeTypeMismatch, at.Errorf("%s wants %s, and each element is %s", f.Name, kinds, have).WithHint("%s", hint))
		case items.CanBeNil():
			c.report(document.CodeMayBeAbsent, at.Errorf("%s wants %s, and elements may be nil", f.Name, kinds).WithHint("write filter(list, # != nil)"))
		}
	}
}

// labelsMatch reports a first argument that is surely no object, and a map of labels that is
// taken for a label selector.
func (c *checker) labelsMatch(nodes []expression.Node, given []typing.Type) {
	object, selector, s := nodes[0].Written(), nodes[1].Written(), given[1].Schema()
	metadata, found := given[0].Field("metadata")
	switch {
	case given[0].Known() && (found == typing.Lacking || metadata.Known() && metadata.Kinds()&value.Map == 0):
		c.report(document.CodeTypeMismatch, object.At.Errorf("labelsMatch wants an object and then a selector, and %s has no metadata with labels",
			cmp.Or(object.Text, "this")).WithHint("write labelsMatch(object, selector)"))
	case s == nil || s.Map == nil || s.Map.Open || len(s.Map.Fields) > 0 || !s.Map.Values.Known():
	case s.Map.Values.Kinds&(value.Map|value.List) == 0:
		c.report(document.CodeTypeMismatch, selector.At.Errorf("labelsMatch wants a label selector, and %s is a map of plain labels",
			cmp.Or(selector.Text, "this")).WithHint("write {matchLabels: %s}", cmp.Or(selector.Text, "x")))
	}
}

// predicate adds the expression for each element of a list to a call. That of reduce is checked for more and more that the
// accumulator can be.
func (c *checker) predicate(call *function.TypeCall, f *function.Function, n *expression.Predicate, k known) {
	root, kinds := c.newRoot(), f.Param(1).Kinds
	check := func(item, accumulator typing.Type) result {
		outer := c.elements
		c.elements = append(slices.Clip(outer), element{root: root, item: item, accumulator: accumulator})
		defer func() { c.elements = outer }()
		if f.Name == "sortBy" {
			return c.sortKeys(n.Body, n.Several, k)
		}
		r := c.node(n.Body, k)
		if kinds == value.Bool {
			return c.boolean(n.Body, r, f.Name)
		}
		c.wants(n.Body, r, f.Name, kinds)
		return r
	}
	if f.Name == "reduce" {
		mark := -1
		call.Predicate = func(item, accumulator typing.Type) typing.Type {
			if mark < 0 {
				mark = len(c.run.errors)
			}
			c.forget(mark)
			return check(item, accumulator).of
		}
		return
	}
	r := check(call.Arguments[0].Items(), typing.Unknown())
	call.Predicate = func(typing.Type, typing.Type) typing.Type { return r.of }
	if kinds == value.Bool {
		call.Narrowed = func(item typing.Type) typing.Type { return r.yes.Apply(root, item) }
	}
}

// sortKeys checks the keys of sortBy, around which there may be desc().
func (c *checker) sortKeys(body expression.Node, several bool, k known) result {
	if let, is := body.(*expression.Let); is {
		return c.let(let, k, func(body expression.Node, k known) result { return c.sortKeys(body, several, k) })
	}
	keys := []expression.Node{body}
	if list, is := body.(*expression.List); is && several {
		keys = list.Items
	}
	for _, key := range keys {
		r := c.node(key, k)
		k = r.after()
		const ordinal = value.Bool | value.Number | value.String | value.Computed
		if have := r.of.Kinds() &^ value.Nil; r.of.Known() && have != 0 && have&ordinal == 0 {
			c.report(document.CodeTypeMismatch, key.Written().At.Errorf("sortBy orders numbers, strings, times or booleans, have %s", have).
				WithHint("sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])"))
		}
	}
	return gives(typing.Unknown(), k)
}

// forget drops errors that were only certain for some of what an accumulator can be.
// What fails for the first element fails all the same.
func (c *checker) forget(mark int) {
	kept := slices.DeleteFunc(slices.Clone(c.run.errors[mark:]), func(err *expression.Error) bool {
		return err.Code != string(document.CodeMayBeAbsent) && err.Code != string(document.CodeTypeMismatch)
	})
	c.run.errors = append(c.run.errors[:mark], kept...)
}

// madeBy says what the result of a function is made of, by its arguments.
func (c *checker) madeBy(f *function.Function, nodes []expression.Node, given []result) *made {
	switch {
	case f.Name == "default" && len(given) == 2:
		left, right := c.branches(nodes[0], given[0], given[0].yes), c.branches(nodes[1], given[1], given[1].yes)
		return result{}.chosen(c.defaulted(left, given[0].of, nodes[1], right)...).made
	case f.Name == "concat":
		out := &made{open: true} // In an order that is not known.
		for _, list := range given {
			out.join(list.made)
		}
		if len(out.entries) > 0 && len(out.entries) <= mostBranches {
			return out
		}
	case f.Name == "setCondition" && len(given) >= 2:
		out := &made{open: true}
		for i := range given[1:] {
			condition := c.branch(nodes[1+i], given[1+i])
			c.checkCondition(condition)
			out.entries = append(out.entries, entry{i, condition.stamped()})
		}
		return out
	}
	return nil
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

// stamped adds the time that setCondition gives to a condition which is written out. Any other has an unknown type then.
func (b branch) stamped() branch {
	if b.made == nil {
		if b.of.Kinds() != value.Nil {
			b.of = typing.Unknown()
		}
		return b
	}
	out := &made{open: b.made.open, entries: slices.Clip(b.made.entries)}
	if b.made.branches == nil {
		out.entries = append(out.entries, entry{"lastTransitionTime", branch{Operand: b.Operand, of: typing.Unknown()}})
	}
	for _, one := range b.made.branches {
		out.branches = append(out.branches, one.stamped())
	}
	b.made = out
	return b
}

// aCondition is what every condition has to have.
var aCondition = &schema.Type{Kinds: value.Map, Map: &schema.Map{Open: true, Fields: map[string]schema.Field{
	"type":   {Required: true, Type: &schema.Type{Kinds: value.String}},
	"status": {Required: true, Type: &schema.Type{Kinds: value.String, Limit: &schema.Limits{Enum: []any{"True", "False", "Unknown"}}}},
}}}

// checkCondition checks a condition that is written as an argument of setCondition.
func (c *checker) checkCondition(condition branch) {
	for _, w := range condition.listed(nil, nil, 0) {
		at := aCondition
		for _, step := range w.Path {
			key, _ := step.(string)
			f, _ := at.Field(key)
			at = f.Type
		}
		_, unknown := w.Value.(schema.Unknown)
		have := w.Type.Kinds() &^ value.Nil
		for _, wrong := range at.Validate(w.Value, schema.Whole) {
			c.report(wrong.Code, w.At.Errorf("a condition: %s", wrong.Message).WithHint("%s", cmp.Or(wrong.Hint, exampleCondition)))
		}
		if unknown && at.Known() && w.Type.Known() && have&at.Kinds == 0 {
			c.report(document.CodeTypeMismatch, w.At.Errorf("a condition: want %s, have %s", at.Kinds, have).WithHint(exampleCondition))
		}
	}
}

const exampleCondition = `write {type: "Ready", status: ready ? "True" : "False", reason: "AllUp"}`

package check

import (
	"cmp"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// call checks a call of a function.
func (c *checker) call(n *expression.Call, k known) result {
	f := n.Function
	call := &function.TypeCall{}
	var each *predicate
	given := make([]result, 0, len(n.Args))
	for i, arg := range n.Args {
		if p, is := arg.(*expression.Predicate); is {
			each = c.predicate(f, p, call.Arguments[0], k)
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
	if each != nil {
		each.join(call)
	}
	t := f.Type(call)
	if p, is := c.callPlace(n); is && p.own {
		t = k.own.Apply(p.root, t)
	}
	r := c.called(f, n.Args, call, gives(t, k))
	r.made = c.madeBy(f, n.Args, given)
	return r
}

// argument checks an argument, whose type is unknown where it is not taken.
func (c *checker) argument(f *function.Function, i int, node expression.Node, k known) (result, typing.Type) {
	r := c.node(node, k)
	kinds := f.Param(i).Kinds
	after := r.after()
	if kinds&value.Nil == 0 {
		after = c.present(node, r.of)(after)
	}
	if f.Name == "type" {
		after = c.asks(node)(after)
	}
	r.yes, r.no = after, after
	if c.wants(node, r, f.Name, kinds) {
		return r, typing.Unknown()
	}
	return r, r.of
}

// called adds what the result says of the list that a predicate was asked for.
func (c *checker) called(f *function.Function, nodes []expression.Node, call *function.TypeCall, r result) result {
	switch f.Name {
	case "any", "one":
		r.yes = c.present(nodes[0], call.Arguments[0])(r.yes)
	case "all", "none":
		r.no = c.present(nodes[0], call.Arguments[0])(r.no)
	}
	return r
}

// elementsOf checks those of a list that a function takes one by one, where it has no
// predicate that does.
func (c *checker) elementsOf(f *function.Function, nodes []expression.Node, call *function.TypeCall) {
	kinds, hint := value.String, "write join(map(list, string(#)), separator)"
	switch {
	case f.Iterates() && len(nodes) == 1:
		kinds, hint = f.Params[1].Kinds, "write "+f.Signature()
	case f.Name != "join":
		return
	}
	items := call.Arguments[0].Items()
	have := items.Kinds() &^ value.Nil
	at := nodes[0].Written().At
	switch {
	case !items.Known():
	case have != 0 && have&kinds == 0:
		c.report(typeMismatch, at.Errorf("%s wants %s, and each element is %s", f.Name, kinds, have).WithHint("%s", hint))
	case items.CanBeNil():
		c.report(mayBeAbsent, at.Errorf("%s wants %s, and elements may be nil", f.Name, kinds).WithHint("write filter(list, # != nil)"))
	}
}

// labelsMatch reports a first argument that is surely no object, and a map of labels that is
// taken for a label selector.
func (c *checker) labelsMatch(nodes []expression.Node, given []typing.Type) {
	metadata, found := given[0].Field("metadata")
	if given[0].Known() && (found == typing.Lacking || metadata.Known() && metadata.Kinds()&value.Map == 0) {
		o := nodes[0].Written()
		c.report(typeMismatch, o.At.Errorf("labelsMatch wants an object and then a selector, and %s has no metadata with labels", cmp.Or(o.Text, "this")).
			WithHint("write labelsMatch(object, selector)"))
		return
	}
	node, s := nodes[1], given[1].Schema()
	if s == nil || s.Map == nil || s.Map.Open || len(s.Map.Fields) > 0 || !s.Map.Values.Known() || s.Map.Values.Kinds&(value.Map|value.List) != 0 {
		return
	}
	o := node.Written()
	c.report(typeMismatch, o.At.Errorf("labelsMatch wants a label selector, and %s is a map of plain labels", cmp.Or(o.Text, "this")).
		WithHint("write {matchLabels: %s}", cmp.Or(o.Text, "x")))
}

// predicate is the expression for each element of a list.
type predicate struct {
	*checker
	function *function.Function
	*expression.Predicate
	known  known
	root   int
	result result
}

// predicate checks the expression for each element of a list.
func (c *checker) predicate(f *function.Function, n *expression.Predicate, list typing.Type, k known) *predicate {
	p := &predicate{checker: c, function: f, Predicate: n, known: k, root: c.newRoot()}
	if f.Name != "reduce" {
		p.result = p.check(list.Items(), typing.Unknown())
	}
	return p
}

// check checks the predicate for an element.
func (p *predicate) check(item, accumulator typing.Type) result {
	outer := p.elements
	p.elements = append(slices.Clip(outer), element{root: p.root, item: item, accumulator: accumulator})
	defer func() { p.elements = outer }()
	kinds := p.function.Param(1).Kinds
	switch {
	case p.function.Name == "sortBy":
		return p.sortKeys()
	case kinds == value.Bool:
		return p.boolean(p.Body, p.known, p.function.Name)
	default:
		r := p.node(p.Body, p.known)
		p.wants(p.Body, r, p.function.Name, kinds)
		return r
	}
}

// sortKeys checks the keys of sortBy, around which there may be desc().
func (p *predicate) sortKeys() result {
	keys := []expression.Node{p.Body}
	if list, is := p.Body.(*expression.List); is && p.Several {
		keys = list.Items
	}
	k := p.known
	for _, key := range keys {
		r := p.node(key, k)
		k = r.after()
		const ordinal = value.Bool | value.Number | value.String | value.Computed
		if have := r.of.Kinds() &^ value.Nil; r.of.Known() && have != 0 && have&ordinal == 0 {
			p.report(typeMismatch, key.Written().At.Errorf("sortBy orders numbers, strings, times or booleans, have %s", have).
				WithHint("sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])"))
		}
	}
	return gives(typing.Unknown(), k)
}

// join hands the predicate to the row of the function. That of reduce is checked for
// more and more that the accumulator can be.
func (p *predicate) join(call *function.TypeCall) {
	mark := len(p.run.errors)
	call.Predicate = func(item, accumulator typing.Type) typing.Type {
		if p.function.Name == "reduce" {
			p.forget(mark)
			return p.check(item, accumulator).of
		}
		return p.result.of
	}
	if p.function.Param(1).Kinds == value.Bool {
		call.Narrowed = func(item typing.Type) typing.Type { return p.result.yes.own.Apply(p.root, item) }
	}
}

// forget drops errors that were only certain for some of what an accumulator can be.
// What fails for the first element fails all the same.
func (p *predicate) forget(mark int) {
	kept := slices.DeleteFunc(slices.Clone(p.run.errors[mark:]), func(err *expression.Error) bool {
		return err.Code != mayBeAbsent && err.Code != typeMismatch
	})
	p.run.errors = append(p.run.errors[:mark], kept...)
}

// madeBy says what the result of a function is made of, by its arguments.
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

// joined is a list with the elements that are written in several lists, in an order that is not known.
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

// withTime adds lastTransitionTime to a condition that is written out. Any other has an unknown type then.
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

// checkCondition checks the fields of a condition that is written as an argument of setCondition.
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

// checkStatus wants one of the three statuses of a condition.
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

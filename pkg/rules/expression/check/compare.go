package check

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func (c *checker) unary(n *expression.Unary, k known) result {
	r := c.node(n.X, k)
	have := r.of.Kinds() &^ value.Nil
	if n.Operator == "-" || n.Operator == "+" {
		t := typing.Of(have & expression.Signed)
		if !r.of.Known() || c.wants(n.X, r, n.Operator, expression.Signed) {
			t = typing.Unknown()
		}
		return gives(t, r.after().with(c.present(n.X, r.of)))
	}
	if r.of.Known() && have != 0 && have&value.Bool == 0 {
		err := n.NotBoolean(have, r.of.CanBeNil())
		if !n.Compared {
			err.Hint = truthHint(n.X, r.of, true)
		}
		c.report(document.CodeTypeMismatch, err)
	}
	of := typing.Of(value.Bool)
	if r.of.Kinds() != value.Bool {
		of = typing.Unknown() // A mistake was reported, or nothing is known.
	}
	r = c.boolean(n.X, r, n.Operator)
	return result{of: of, yes: r.no, no: r.yes}
}

// truthHint says what to ask of a value that is no boolean. An enumeration without "" is never that, but may be absent.
func truthHint(node expression.Node, t typing.Type, negated bool) string {
	written, nilable := node.Written(), t.CanBeNil()
	kinds := t.Kinds() &^ value.Nil
	if kinds != value.String || enumHint(t, "") == "" {
		return written.Truth(kinds, nilable, negated)
	}
	if !nilable || written.Text == "" {
		return ""
	}
	return "write " + written.Text + map[bool]string{true: " == nil", false: " != nil"}[negated]
}

func (c *checker) binary(n *expression.Binary, k known) result {
	switch n.Operator {
	case "&&", "and":
		left := c.boolean(n.Left, c.node(n.Left, k), n.Operator)
		right := c.boolean(n.Right, c.node(n.Right, left.yes), n.Operator)
		return result{of: typing.Of(value.Bool), yes: right.yes, no: left.no.or(right.no)}
	case "||", "or":
		left := c.boolean(n.Left, c.node(n.Left, k), n.Operator)
		right := c.boolean(n.Right, c.node(n.Right, left.no), n.Operator)
		return result{of: typing.Of(value.Bool), yes: left.yes.or(right.yes), no: right.no}
	case "??":
		return c.coalesce(n, k)
	case "==", "!=":
		return c.equality(n, k)
	case "in":
		return c.membership(n, k)
	default:
		return c.operation(n, k)
	}
}

// operand is a side of an operator, and beside the other one.
type operand struct {
	node expression.Node
	result
	right  bool
	beside *operand
}

// operands are both sides of an operator.
func operands(n *expression.Binary, left, right result) []operand {
	both := []operand{{node: n.Left, result: left}, {node: n.Right, result: right, right: true}}
	both[0].beside, both[1].beside = &both[1], &both[0]
	return both
}

// operation checks an operator that takes values of some kinds and never nil.
func (c *checker) operation(n *expression.Binary, k known) result {
	left := c.node(n.Left, k)
	right := c.node(n.Right, left.after())
	both := operands(n, left, right)
	after := right.after().with(c.present(n.Left, left.of)).with(c.present(n.Right, right.of))
	if !n.Orders() {
		return gives(c.operate(n, both), after)
	}
	r := gives(typing.Unknown(), after)
	if !c.comparesLetters(n, both) {
		r.of = c.operate(n, both)
	}
	return c.decide(n, left.of, right.of, c.narrowed(n, both, r))
}

// operate returns what an operator gives, and reports operands that it does not take.
func (c *checker) operate(n *expression.Binary, both []operand) typing.Type {
	if !n.Checked() || c.converts(n, both) {
		return typing.Unknown()
	}
	l, r := presentKinds(both[0].of), presentKinds(both[1].of)
	kinds := n.Outcome(l, r)
	if kinds == 0 {
		err := n.Mismatch(l, r)
		if hint, is := timeHint(n, both); is {
			err.Hint = hint
		}
		c.report(document.CodeTypeMismatch, err)
		return typing.Unknown()
	}
	refused := false
	for _, o := range both {
		refused = c.refusesNil(n, o) || refused
	}
	for _, o := range both {
		other := presentKinds(o.beside.of)
		refused = refused || c.refusesBranch(o.result, n.Operator, n.Wanted(other, o.right), n.GoesWith(other, o.right))
	}
	switch {
	case refused:
		return typing.Unknown()
	case kinds == value.List:
		return typing.List(typing.Of(value.Int))
	default:
		return typing.Of(kinds)
	}
}

// timeHint says how to compute with a field that is a time, of which no number can be made, and whether it is one.
func timeHint(n *expression.Binary, both []operand) (hint string, is bool) {
	for _, o := range both {
		text := o.node.Written().Text
		if !o.of.IsTime() || presentKinds(o.of) != value.String || presentKinds(o.beside.of)&value.Computed == presentKinds(o.beside.of) {
			continue
		}
		other := ""
		if o.beside.of.IsTime() {
			other = o.beside.node.Written().Text
		}
		switch {
		case text == "":
		case n.Orders():
			hint = fmt.Sprintf(`olderThan(%s, "5m")`, text)
		case n.Operator == "-" && other != "" && !o.beside.of.CanBeNil():
			hint = fmt.Sprintf("timestamp(%s) - timestamp(%s)", text, other)
		case n.Operator == "+", n.Operator == "-" && other == "" && !o.right:
			hint = fmt.Sprintf(`timestamp(%s) %s duration("5m")`, text, n.Operator)
		}
		switch {
		case hint == "" || !o.of.CanBeNil():
		case n.Orders():
			hint = text + " != nil && " + hint
		default:
			hint = text + " != nil ? " + hint + " : nil"
		}
		if hint != "" {
			hint = "write " + hint
		}
		return hint, true
	}
	return "", false
}

// presentKinds are the kinds of a value that is not nil.
func presentKinds(t typing.Type) value.Kind {
	if kinds := t.Kinds() &^ value.Nil; kinds != 0 && t.Known() {
		return kinds
	}
	return expression.OperandKinds
}

// refusesNil reports an operand that can be nil, and whether it did.
func (c *checker) refusesNil(n *expression.Binary, o operand) bool {
	written, other := o.node.Written(), presentKinds(o.beside.of)
	kinds := n.Wanted(other, o.right)
	if own := o.of.Kinds() &^ value.Nil; own != 0 && own&value.Computed == own && own&n.GoesWith(other, o.right) != 0 {
		kinds = own // Beside which the other is read as one.
	}
	switch {
	case !o.of.CanBeNil():
		return false
	case o.of.Kinds() == value.Nil:
		c.report(document.CodeMayBeAbsent, written.Wants(n.Operator, kinds, value.Nil))
	default:
		err := written.MayBeNil(n.Operator, kinds, kinds)
		if text := written.Version(); text != "" && n.Orders() && kinds == value.String {
			err.Hint = fmt.Sprintf(`write semver(%s ?? "0.0.0"), since texts are compared letter by letter`, text)
		}
		if kinds == value.Quantity {
			err.Hint = fmt.Sprintf(`?? gives a default: (%s ?? quantity("0"))`, cmp.Or(written.Text, "x"))
		}
		c.report(document.CodeMayBeAbsent, err)
	}
	return true
}

// equality checks == and !=, which fail for no kinds, but say the same for any values
// if these can never be equal.
func (c *checker) equality(n *expression.Binary, k known) result {
	left := c.beside(n.Right).node(n.Left, k)
	right := c.beside(n.Left).node(n.Right, left.after())
	both := operands(n, left, right)
	if !c.converts(n, both) && !c.comparesZero(n, both) && !c.comparesStatus(n, both) && !c.neverEqual(n, left.of, right.of) {
		for _, o := range both {
			c.outsideEnum(o.node, o.of, o.beside.node)
		}
	}
	r := c.narrowed(n, both, gives(typing.Of(value.Bool), right.after()))
	for _, o := range both {
		r = c.asCondition(n, o, r)
	}
	return c.decide(n, left.of, right.of, r)
}

// comparesStatus reports a literal that the status of what condition() returns never is, and whether it did. A schema of its own goes
// before what Kubernetes says of conditions.
func (c *checker) comparesStatus(n *expression.Binary, both []operand) bool {
	for _, o := range both {
		v, literal := expression.LiteralOf(o.beside.node)
		meant := expression.ConditionStatus(fmt.Sprint(v))
		if !literal || meant == "" || v == meant || presentKinds(o.of) != value.String || !c.isConditionStatus(o.node) || enumHint(o.of, "True") != "" {
			continue
		}
		c.report(document.CodeNeverTrue, n.At.Errorf(`%s is "True", "False" or "Unknown", never %s`,
			cmp.Or(o.node.Written().Text, "the status"), constantText(v)).WithHint("write %q", meant))
		return true
	}
	return false
}

// isConditionStatus reports whether a node reads the status of what condition() returns.
func (c *checker) isConditionStatus(node expression.Node) bool {
	path, is := c.meant(node).(*expression.Path)
	if !is || len(path.Steps) != 1 || path.Steps[0].Kind != expression.ByKey || path.Steps[0].Key != "status" {
		return false
	}
	call, is := c.meant(path.Root).(*expression.Call)
	return is && call.Function.Name == "condition"
}

// meant is the node that a name stands for, or else the node.
func (c *checker) meant(node expression.Node) expression.Node {
	switch n := node.(type) {
	case *expression.Variable:
		return n.Let.Value
	case *expression.Name:
		if p := c.names.Definition(n.Slot); p != nil {
			return p.Root()
		}
	}
	return node
}

// beside is a checker of what is compared with another operand.
func (c *checker) beside(other expression.Node) *checker {
	if !expression.IsNil(other) {
		return c
	}
	asking := *c
	asking.asksNil = true
	return &asking
}

// asCondition is for x == true and the like, which say what x does.
func (c *checker) asCondition(n *expression.Binary, o operand, r result) result {
	v, _ := expression.LiteralOf(o.beside.node)
	literal, is := v.(bool)
	if !is {
		return r
	}
	holds, fails := o.yes, o.no
	if !literal {
		holds, fails = fails, holds
	}
	yes, no := &r.yes, &r.no
	if n.Operator == "!=" {
		yes, no = no, yes
	}
	*yes = holds.with(c.present(o.node, o.of))
	if o.of.Kinds() == value.Bool { // And not nil.
		*no = fails
	}
	return r
}

// neverEqual reports operands whose kinds are never equal. Nil is no mistake: whoever
// compares with it asks whether there is something.
func (c *checker) neverEqual(n *expression.Binary, left, right typing.Type) bool {
	if l, r := left.Kinds(), right.Kinds(); left.Known() && right.Known() && (l == value.Stamped || r == value.Stamped) {
		c.report(document.CodeTypeMismatch, n.At.Errorf("%s", value.ErrStamp.Message))
		return true
	}
	if !distinct(left, right) {
		return false
	}
	node, other, of, against := n.Left, n.Right, left, right
	if _, isLiteral := expression.LiteralOf(node); isLiteral || node.Written().Text == "" && other.Written().Text != "" {
		node, other, of, against = n.Right, n.Left, right, left
	}
	text, kinds := node.Written().Text, against.Kinds()&^value.Nil
	c.never(n, text, of, fmt.Sprintf("never equals %s", kinds), equalHint(text, of, other, kinds))
	return true
}

// distinct reports whether values of two types are never equal, where that is no question whether there is something.
func distinct(left, right typing.Type) bool {
	l, r := left.Kinds(), right.Kinds()
	return left.Known() && right.Known() && l&r&value.Nil == 0 && l != value.Nil && r != value.Nil &&
		(l|r)&value.Stamped == 0 && !expression.EverEqual(l, r)
}

// never reports a comparison that never holds for what is written as text and has a type.
func (c *checker) never(n *expression.Binary, text string, of typing.Type, what, hint string) {
	subject := (of.Kinds() &^ value.Nil).String()
	if text != "" {
		subject = text + " is " + subject + " and"
	}
	c.report(document.CodeNeverTrue, n.At.Errorf("%s %s", subject, what).WithHint("%s", hint))
}

// equalHint says how to write the other side so that it can be equal to a value of some
// type.
func equalHint(text string, of typing.Type, other expression.Node, kinds value.Kind) string {
	have := of.Kinds() &^ value.Nil
	v, literal := expression.LiteralOf(other)
	hint := cmp.Or(enumHint(of, fmt.Sprint(v)), otherLiteral(v, have))
	switch {
	case literal && hint != "":
		return hint
	case literal && have == value.List:
		return fmt.Sprintf("write %s in %s", constantText(v), cmp.Or(text, "list"))
	case (have|kinds)&^(value.Number|value.String) == 0:
		return "write int(x) or string(x) around one"
	default:
		return ""
	}
}

// comparesLetters reports texts that write quantities, durations or versions and are ordered as texts, and whether it did:
// "9m" > "1h", "1.10" < "1.9".
func (c *checker) comparesLetters(n *expression.Binary, both []operand) bool {
	computed := (both[0].of.Kinds()|both[1].of.Kinds())&value.Computed != 0 // Or unknown.
	for _, o := range both {
		written := o.node.Written()
		what, function, otherwise := writtenAs(o.beside.node, o.beside.of)
		if o.of.IsQuantity() && !computed {
			what, function, otherwise = cmp.Or(written.Text, "this")+" is a quantity", "quantity", " ?? 0"
		} else if what == "" || !c.isText(o) {
			continue
		}
		text := cmp.Or(written.Text, "x")
		if literal, is := expression.TextOf(o.node); is {
			text = strconv.Quote(literal)
		}
		if o.of.CanBeNil() {
			text += otherwise
		}
		if or, is := o.node.(*expression.Binary); is && or.Operator == "??" {
			if literal, is := expression.TextOf(or.Right); is && literal == "" { // Which nothing can be read from.
				text = cmp.Or(or.Left.Written().Text, "x") + otherwise
			}
		}
		c.report(document.CodeTypeMismatch, written.At.Errorf("%s compares texts letter by letter, and %s", n.Operator, what).
			WithHint("write %s(%s)", function, text))
		return true
	}
	return false
}

// isText reports whether an operand is a text: of what nothing is known, a field of an object is one beside a text.
func (c *checker) isText(o operand) bool {
	if o.of.Known() {
		return o.of.Kinds()&^value.Nil == value.String
	}
	return len(c.place(o.node).path) > 0
}

// writtenAs is what a constant is that can only be meant as a duration, or as a version; the function that reads it, and what
// stands for one that is absent. "0" is a duration, and "1" and "0.5" are versions, but may be meant as numbers.
func writtenAs(node expression.Node, t typing.Type) (what, function, otherwise string) {
	v, _ := constantOf(node, t)
	text, _ := v.(string)
	_, notDuration := value.ParseDuration(text)
	_, notVersion := value.ParseVersion(text)
	_, notNumber := strconv.ParseFloat(text, 64)
	switch {
	case notDuration == nil && strings.ContainsAny(text, "smhdw"):
		return strconv.Quote(text) + " is a duration", "duration", ` ?? "0s"`
	case notVersion == nil && notNumber != nil:
		return strconv.Quote(text) + " is a version", "semver", ` ?? "0.0.0"`
	case notVersion == nil && strings.Contains(text, "."):
		return strconv.Quote(text) + " is a version or a number", "semver", ` ?? "0.0.0"`
	default:
		return "", "", ""
	}
}

// membership checks the operator in. A container that is absent has no elements.
func (c *checker) membership(n *expression.Binary, k known) result {
	left := c.node(n.Left, k)
	right := c.node(n.Right, left.after())
	r := gives(typing.Of(value.Bool), right.after())
	if right.of.Known() {
		c.checkContainer(n, left, right.of)
	}
	r = c.narrowed(n, operands(n, left, right), r)
	return c.decide(n, left.of, right.of, c.withMember(n, right.of, r))
}

func (c *checker) checkContainer(n *expression.Binary, left result, right typing.Type) {
	switch container := right.Kinds() &^ value.Nil; {
	case container == 0:
	case container&(value.List|value.Map) == 0:
		c.report(document.CodeTypeMismatch, n.NoContainer(container))
	case container == value.Map:
		if !c.wants(n.Left, left, "in of a map", value.String|value.Nil) {
			c.checkKey(n, right)
		}
	case container == value.List:
		c.checkElements(n, left.of, right)
	}
}

// checkKey reports a key that a schema does not have.
func (c *checker) checkKey(n *expression.Binary, m typing.Type) {
	key, literal := expression.TextOf(n.Left)
	if !literal || m.Schema() == nil {
		return
	}
	if _, found := m.Field(key); found != typing.Lacking {
		return
	}
	parent := cmp.Or(n.Right.Written().Text, "this")
	c.report(document.CodeUnknownField, n.Left.Written().At.Errorf("%s has no field %q", parent, value.Excerpt(key)).
		WithHint("%s", fieldHint(parent, key, m.Names())))
}

// checkElements reports what is never among the elements of a list.
func (c *checker) checkElements(n *expression.Binary, left, list typing.Type) {
	items := list.Items()
	if distinct(left, items) {
		c.never(n, n.Left.Written().Text, left, fmt.Sprintf("is never in %s", list.NonNil()), memberHint(n, left, items))
		return
	}
	c.outsideEnum(n.Right, items, n.Left)
	array, is := n.Right.(*expression.List)
	if !is {
		return
	}
	for _, element := range array.Items {
		c.outsideEnum(n.Left, left, element)
	}
}

func memberHint(n *expression.Binary, left, items typing.Type) string {
	name, found := items.Field("name")
	if v, literal := expression.LiteralOf(n.Left); literal && found == typing.Found && name.Kinds()&left.Kinds() != 0 {
		return fmt.Sprintf("write any(%s, .name == %s)", cmp.Or(n.Right.Written().Text, "list"), constantText(v))
	}
	return equalHint("", items, n.Left, left.Kinds()&^value.Nil)
}

// outsideEnum reports a literal that is not among the values that a schema allows.
func (c *checker) outsideEnum(node expression.Node, t typing.Type, literal expression.Node) {
	v, is := expression.LiteralOf(literal)
	hint := enumHint(t, v)
	if !is || v == nil || hint == "" {
		return
	}
	if v == "" && t.CanBeNil() {
		hint = "what is absent is nil"
	}
	c.report(document.CodeNotInEnum, literal.Written().At.
		Errorf("%s is never %s", cmp.Or(node.Written().Text, "this"), constantText(v)).WithHint("%s", hint))
}

// enumHint says what a schema allows in place of a value, "" where it allows that.
func enumHint(t typing.Type, v any) string {
	if t.Schema() == nil {
		return ""
	}
	for _, wrong := range t.Schema().Validate(v, schema.Whole) {
		if wrong.Code == document.CodeNotInEnum {
			return cmp.Or(wrong.Hint, wrong.Message)
		}
	}
	return ""
}

func constantText(v any) string {
	if text, is := v.(string); is {
		return strconv.Quote(value.Excerpt(text))
	}
	return fmt.Sprint(v)
}

// unstored returns the kinds of which the field at the end of a path is absent where its value would be false, 0, "" or empty.
func (w *walk) unstored() value.Kind {
	last := &w.path.Steps[len(w.path.Steps)-1]
	if f, declared := w.above.Schema().Field(last.Key); last.Kind == expression.ByKey && declared && f.ZeroIsAbsent && !f.Always {
		return w.on.Kinds() &^ value.Nil
	}
	return 0
}

// comparesZero reports a comparison with a value that is never stored, and whether it did.
func (c *checker) comparesZero(n *expression.Binary, both []operand) bool {
	for _, o := range both {
		kind, empty := zeroKind(o.beside.node)
		text := o.node.Written().Text
		if kind == 0 || o.zero&kind == 0 || !o.of.CanBeNil() || text == "" {
			continue
		}
		is := map[bool]string{true: "never", false: "always"}[n.Operator == "=="]
		c.report(document.CodeNeverTrue, n.At.Errorf("%s is absent where it would be %s, so this is %s true", text, empty, is).
			WithHint("write (%s ?? %s) %s %s", text, empty, n.Operator, empty))
		return true
	}
	return false
}

// zeroKind returns the kind of a literal false, 0, "", [] or {}, and how it is written.
func zeroKind(node expression.Node) (kind value.Kind, text string) {
	switch n := node.(type) {
	case *expression.List:
		if len(n.Items) == 0 {
			return value.List, "[]"
		}
		return 0, ""
	case *expression.Map:
		if len(n.Entries) == 0 {
			return value.Map, "{}"
		}
		return 0, ""
	}
	switch v, _ := expression.LiteralOf(node); v {
	case any(false):
		return value.Bool, "false"
	case "":
		return value.String, `""`
	case int64(0), 0.0:
		return value.Number, "0"
	default:
		return 0, ""
	}
}

// converts reports a literal that cannot be read as the computed value, such as a quantity, that it stands beside, and whether it
// did.
func (c *checker) converts(n *expression.Binary, both []operand) bool {
	for _, o := range both {
		v, is := expression.LiteralOf(o.node)
		if !is || !o.beside.of.Known() {
			continue
		}
		_, _, err := value.Align(sampleOf(o.beside.of.Kinds()&^value.Nil, v, n), v, nil)
		if located, wrong := errors.AsType[*expression.Error](o.node.Written().At.Locate(err)); wrong {
			c.report(document.CodeWrongFormat, located)
			return true
		}
	}
	return false
}

// sampleOf returns some value of the kind that a literal is read as beside the other operand, nil where it is not converted, or
// not always.
func sampleOf(other value.Kind, v any, n *expression.Binary) any {
	if !n.Orders() && n.Operator != "==" && n.Operator != "!=" && other != 0 && other&(value.Time|value.Duration) == other {
		other = value.Duration
		if text, _ := v.(string); len(text) > 4 && text[4] == '-' { // No duration has a dash there.
			other = value.Time
		}
	}
	switch other {
	case value.Quantity:
		return value.Amount{}
	case value.Semver:
		return value.Version{}
	case value.Time:
		return time.Time{}
	case value.Duration:
		return time.Duration(0)
	default:
		return nil
	}
}

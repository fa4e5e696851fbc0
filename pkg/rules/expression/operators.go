package expression

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	re "regexp/syntax"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// operator is a row of the table of operators.
type operator struct {
	// takes lists which kinds go together. It is nil where the operator takes operands of all kinds, or says itself what is
	// wrong with them.
	takes []combination
	// apply gives the result for two operands.
	apply func(e *Evaluation, b *Binary, left, right any) any
	// holds says whether an order holds.
	holds func(order int) bool
	// eval is instead of apply where an operand may not be evaluated.
	eval func(e *Evaluation, b *Binary) any
}

// combination is kinds of two operands that all go together, and what the result can be.
type combination struct{ left, right, result value.Kind }

var operators = map[string]*operator{
	"&&":         {eval: shortcut(false)},
	"and":        {eval: shortcut(false)},
	"||":         {eval: shortcut(true)},
	"or":         {eval: shortcut(true)},
	"??":         {eval: coalesce},
	"==":         {apply: equality(true)},
	"!=":         {apply: equality(false)},
	"in":         {apply: in},
	"<":          {takes: ordered, apply: order, holds: func(order int) bool { return order < 0 }},
	"<=":         {takes: ordered, apply: order, holds: func(order int) bool { return order <= 0 }},
	">":          {takes: ordered, apply: order, holds: func(order int) bool { return order > 0 }},
	">=":         {takes: ordered, apply: order, holds: func(order int) bool { return order >= 0 }},
	"+":          {takes: sums, apply: add},
	"-":          {takes: differences, apply: compute},
	"*":          {takes: products, apply: compute},
	"/":          {takes: quotients, apply: compute},
	"%":          {takes: []combination{{value.Int, value.Int, value.Int}}, apply: compute},
	"**":         {takes: powers, apply: compute},
	"^":          {takes: powers, apply: compute},
	"..":         {takes: []combination{{value.Int, value.Int, value.List}}, apply: sequence},
	"contains":   {takes: texts, apply: onTexts(strings.Contains)},
	"startsWith": {takes: texts, apply: onTexts(strings.HasPrefix)},
	"endsWith":   {takes: texts, apply: onTexts(strings.HasSuffix)},
	"matches":    {takes: texts, apply: matches},
}

// What a value is read as beside a computed one, and whether a text is a duration or a time, depends on what it says.
var (
	texts = []combination{{value.String, value.String, value.Bool}}

	ordered = eitherWay(
		combination{value.Number, value.Number, value.Bool},
		combination{value.String, value.String, value.Bool},
		combination{value.Quantity, value.Quantity | value.Number | value.String, value.Bool},
		combination{value.Semver, value.Semver | value.String, value.Bool},
		combination{value.Duration, value.Duration | value.Int | value.String, value.Bool},
		combination{value.Time, value.Time | value.String, value.Bool},
	)
	sums = eitherWay(
		combination{value.Int, value.Int, value.Int},
		combination{value.Float, value.Number, value.Float},
		combination{value.String, value.String, value.String},
		combination{value.Quantity, value.Quantity | value.Number | value.String, value.Quantity},
		combination{value.Duration, value.Duration | value.Int, value.Duration},
		combination{value.Duration, value.String, value.Duration | value.Time},
		combination{value.Time, value.Duration | value.Int | value.String, value.Time},
	)
	products = eitherWay(
		combination{value.Int, value.Int, value.Int},
		combination{value.Float, value.Number, value.Float},
		combination{value.Duration, value.Int, value.Duration},
	)
	powers = eitherWay(
		combination{value.Int, value.Int, value.Number}, // A float where the exponent is negative.
		combination{value.Float, value.Number, value.Float},
	)
	differences = append(eitherWay(
		combination{value.Int, value.Int, value.Int},
		combination{value.Float, value.Number, value.Float},
		combination{value.Quantity, value.Quantity | value.Number | value.String, value.Quantity},
		combination{value.Duration, value.Duration | value.Int, value.Duration},
		combination{value.Time, value.Time, value.Duration},
	),
		combination{value.Duration, value.String, value.Duration},
		combination{value.String, value.Duration, value.Duration | value.Time},
		combination{value.String, value.Time, value.Duration},
		combination{value.Time, value.Duration | value.Int, value.Time},
		combination{value.Time, value.String, value.Duration | value.Time},
	)
	quotients = append(eitherWay(
		combination{value.Number, value.Number, value.Float},
		combination{value.Duration, value.Duration | value.String, value.Float},
	), combination{value.Duration, value.Int, value.Duration})
)

// eitherWay adds the same combinations with the operands the other way round.
func eitherWay(rows ...combination) []combination {
	for _, row := range rows {
		rows = append(rows, combination{row.right, row.left, row.result})
	}
	return rows
}

// OperandKinds are all that an operand can have.
const OperandKinds = value.Any | value.Computed | value.Stamped | value.Omission

// Outcome is the kinds that the result can have where the operands have one of several, none where there never is a result.
func (b *Binary) Outcome(left, right value.Kind) value.Kind { return combine(b.row.takes, left, right) }

func combine(rows []combination, left, right value.Kind) (all value.Kind) {
	for _, row := range rows {
		if row.left&left != 0 && row.right&right != 0 {
			all |= row.result
		}
	}
	return all
}

// EverEqual reports whether values of two sets of kinds can be equal.
func EverEqual(left, right value.Kind) bool {
	return left&right != 0 || combine(ordered, left, right) != 0
}

// Checked reports whether the operator takes only operands of some kinds. The others take all, as == does.
func (b *Binary) Checked() bool { return b.row.takes != nil }

// Orders reports whether the operator is <, <=, > or >=.
func (b *Binary) Orders() bool { return b.row.holds != nil }

// GoesWith is the kinds of one operand, the left one or the right one, for which there is a result beside the other.
func (b *Binary) GoesWith(other value.Kind, right bool) (all value.Kind) {
	for _, row := range b.row.takes {
		one, beside := row.left, row.right
		if right {
			one, beside = beside, one
		}
		if beside&other != 0 {
			all |= one
		}
	}
	return all
}

// Wanted is the kinds that an error names: those that go with the other operand, or else those that the operator usually takes.
func (b *Binary) Wanted(other value.Kind, right bool) value.Kind {
	goes := b.GoesWith(other, right)
	switch {
	case goes == 0, other == OperandKinds:
		return b.usual()
	case other&value.Computed != 0 && goes&value.Computed != 0:
		return goes & value.Computed
	case other&goes&value.Number != 0:
		return goes & value.Number
	default:
		return cmp.Or(other&goes, goes)
	}
}

// usual is what the operator takes on both sides.
func (b *Binary) usual() (kinds value.Kind) {
	for _, row := range b.row.takes {
		kinds |= row.left & row.right &^ value.Computed
	}
	return kinds
}

// Mismatch is the error that there is never a result for operands of these kinds.
func (b *Binary) Mismatch(left, right value.Kind) *Error {
	l, r, kinds := b.Left.Written(), b.Right.Written(), left|right
	switch {
	case left&b.GoesWith(OperandKinds, false) == 0:
		return b.joining(l.Wants(b.Operator, b.Wanted(right, false), left), left, right)
	case right&b.GoesWith(OperandKinds, true) == 0:
		return b.joining(r.Wants(b.Operator, b.Wanted(left, true), right), left, right)
	case b.Operator != "+" && !b.Orders() && kinds&value.Computed == 0:
		if left&value.Number == 0 {
			return l.Wants(b.Operator, value.Number, left)
		}
		return r.Wants(b.Operator, value.Number, right)
	}
	err := b.At.Errorf("%s has %s on one side and %s on the other", b.Operator, left, right)
	version := cmp.Or(l.Version(), r.Version())
	switch {
	case b.Operator == "+" && kinds&value.String != 0:
		return err.WithHint("write string(x) to join texts, or int(x) to add")
	case !b.Orders() || kinds&value.Computed != 0:
		return err
	case version != "":
		return err.WithHint(`write semver(%s) %s semver("1.2.3") to compare versions, or int(x) around the text`, version, b.Operator)
	default:
		return err.WithHint("write int(x) or string(x) around one")
	}
}

// joining gives an error a hint how lists and maps are added, or searched.
func (b *Binary) joining(err *Error, left, right value.Kind) *Error {
	switch {
	case b.Operator == "+" && left|right == value.List:
		err.Hint = "write concat(a, b)"
	case b.Operator == "+" && left|right == value.Map:
		err.Hint = "write merge(a, b)"
	case b.usual() == value.String && left&(value.List|value.Map) != 0:
		err.Hint = "write x in list"
	}
	return err
}

// Version returns the text of an operand that most likely is a version, or "".
func (o *Operand) Version() string {
	last := strings.ToLower(strings.TrimSuffix(o.Text, `"]`))
	if !strings.HasSuffix(last, "version") || strings.HasSuffix(o.Text, "metadata.resourceVersion") {
		return ""
	}
	return o.Text
}

func (b *Binary) eval(e *Evaluation) any {
	if b.row.eval != nil {
		return b.row.eval(e, b)
	}
	left, right := b.Left.eval(e), b.Right.eval(e)
	if l, r := value.KindOf(left), value.KindOf(right); b.Checked() && b.Outcome(l, r) == 0 {
		value.Must(b.Mismatch(l, r))
	}
	return b.row.apply(e, b, left, right)
}

// Holds is what a comparison says of two constants, if that is known.
func (b *Binary) Holds(left, right any) (holds, known bool) {
	if b.row.apply == nil || b.Checked() && b.Outcome(value.KindOf(left), value.KindOf(right)) == 0 {
		return false, false
	}
	var err error
	defer func() { known = known && err == nil }()
	defer value.Catch(&err)
	holds, known = b.row.apply(&Evaluation{}, b, left, right).(bool)
	return holds, known
}

// shortcut is for operators that do not look at the right operand where the left one is enough.
func shortcut(enough bool) func(e *Evaluation, b *Binary) any {
	return func(e *Evaluation, b *Binary) any {
		if e.holds(b.Left, b.Operator) == enough {
			return enough
		}
		return e.holds(b.Right, b.Operator)
	}
}

func coalesce(e *Evaluation, b *Binary) any {
	if v := b.Left.eval(e); v != nil {
		return v
	}
	return b.Right.eval(e)
}

func equality(wanted bool) func(e *Evaluation, b *Binary, left, right any) any {
	return func(e *Evaluation, b *Binary, left, right any) any { return alike(e, b, left, right) == wanted }
}

// alike is equality, for which a text beside a time is a time, and so on. Within
// lists and maps it is not.
func alike(e *Evaluation, b *Binary, left, right any) bool {
	left, right, err := value.Align(left, right, e.Budget)
	b.must(err)
	same, err := value.Equal(left, right, e.Budget)
	b.must(err)
	return same
}

func order(e *Evaluation, b *Binary, left, right any) any {
	left, right, err := value.Align(left, right, e.Budget)
	b.must(err)
	order, _ := value.Compare(left, right)
	return b.row.holds(order)
}

// in looks for an element of a list or a key of a map; what is absent has none.
func in(e *Evaluation, b *Binary, left, right any) any {
	switch container := right.(type) {
	case nil:
		return false
	case []any:
		b.must(e.Budget.Steps(len(container)))
		return slices.ContainsFunc(container, func(element any) bool { return alike(e, b, left, element) })
	case map[string]any:
		key, ok := left.(string)
		if !ok && left != nil {
			value.Must(wants(b.Left, "in of a map", value.String, left))
		}
		_, found := container[key]
		return found && ok
	default:
		value.Must(b.NoContainer(value.KindOf(right)))
		return nil
	}
}

// NoContainer is the error that what stands behind in is of a kind that has no elements.
func (b *Binary) NoContainer(kind value.Kind) *Error {
	err := b.Right.Written().Wants("in", value.List|value.Map, kind)
	if kind == value.String {
		err.Hint = "write text contains part"
	}
	return err
}

// compute is for operators on numbers, some of which also take quantities, durations or times.
func compute(e *Evaluation, b *Binary, left, right any) any {
	if (value.KindOf(left)|value.KindOf(right))&value.Computed != 0 {
		b.must(e.Budget.Conversion())
	}
	result, err := value.Compute(left, b.Operator, right)
	if fault, ok := errors.AsType[*value.Fault](err); ok && b.Operator == "+" && (value.KindOf(left)|value.KindOf(right))&value.String != 0 {
		err = fault.WithHint("write string(...) around the other side to join texts")
	}
	b.must(err)
	return result
}

// add computes, or joins strings.
func add(e *Evaluation, b *Binary, left, right any) any {
	text, first := left.(string)
	part, second := right.(string)
	if first && second {
		b.must(e.Budget.Text(len(text) + len(part)))
		return text + part
	}
	return compute(e, b, left, right)
}

// sequence lists the integers of a range; it is empty if the range runs
// backwards.
func sequence(e *Evaluation, b *Binary, left, right any) any {
	from, _ := left.(int64)
	to, _ := right.(int64)
	if from > to {
		return []any{}
	}
	n := int(min(uint64(to-from), math.MaxInt32)) + 1
	b.must(e.Budget.List(2 * n)) // Each integer is boxed beside its element.
	list := make([]any, n)
	for i := range list {
		list[i] = from + int64(i)
	}
	return list
}

func onTexts(test func(text, part string) bool) func(e *Evaluation, b *Binary, left, right any) any {
	return func(e *Evaluation, b *Binary, left, right any) any {
		text, _ := left.(string)
		part, _ := right.(string)
		b.must(e.Budget.Steps(len(text) / 8))
		return test(text, part)
	}
}

func matches(e *Evaluation, b *Binary, left, _ any) any {
	text, _ := left.(string)
	b.must(e.Budget.Steps(1 + len(text)*(4+b.cost)/4))
	return b.pattern.MatchString(text)
}

// maxPattern limits the pattern, in bytes, and maxPatternSize the compiled pattern: matching may take time in proportion
// to it for each byte of the text.
const (
	maxPattern     = 256
	maxPatternSize = 500
)

// patternOf compiles the pattern of matches, which must be a literal so that it is checked and compiled once. It also
// returns its size in instructions.
func patternOf(n Node) (*regexp.Regexp, int) {
	at := n.Written().At
	text, is := TextOf(n)
	switch {
	case !is:
		fail(at.Errorf("the pattern of matches must be a string literal").WithHint(`write x matches "^a+$"`))
	case len(text) > maxPattern:
		fail(at.Errorf("the pattern is longer than %d bytes", maxPattern))
	}
	tree, err := re.Parse(text, re.Perl)
	if failure, is := errors.AsType[*re.Error](err); is && failure.Code == re.ErrInvalidPerlOp {
		fail(at.Errorf("the pattern has %s, which RE2 does not know", failure.Expr).
			WithHint("patterns have no look-around and no back-references"))
	}
	size := 0
	if err == nil {
		size = value.PatternSize(tree)
	}
	if size > maxPatternSize {
		fail(at.Errorf("the pattern is too large").WithHint("repeat less: x{100} counts as a hundred x"))
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		fail(at.Errorf("the pattern is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	return pattern, size
}

// Negates reports whether the operator is ! and not a sign.
func (u *Unary) Negates() bool { return u.Operator == "!" || u.Operator == "not" }

func (u *Unary) eval(e *Evaluation) any {
	if u.Negates() {
		v := e.eval(u.X)
		b, ok := v.(bool)
		if !ok {
			value.Must(u.NotBoolean(value.KindOf(v), true))
		}
		return !b
	}
	v := u.X.eval(e)
	if value.KindOf(v)&Signed == 0 {
		value.Must(wants(u.X, u.Operator, value.Number, v))
	}
	if u.Operator == "+" {
		return v
	}
	negated, err := value.Negate(v)
	u.must(err)
	return negated
}

// Signed is what the operators - and + before an operand take.
const Signed = value.Number | value.Quantity | value.Duration

// NotBoolean is the error that what ! negates is of another kind.
func (u *Unary) NotBoolean(kind value.Kind, nilable bool) *Error {
	err := u.X.Written().Wants(u.Operator, value.Bool, kind)
	switch {
	case kind&(value.Nil|value.Stamped) != 0:
		return err
	case u.Compared:
		return err.WithHint("%s binds tighter than a comparison: write %s (a == b)", u.Operator, u.Operator)
	default:
		return err.WithHint("%s", u.X.Written().Truth(kind, nilable, true))
	}
}

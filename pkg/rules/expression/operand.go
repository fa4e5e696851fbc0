package expression

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Operand is what an operator or a function is given, for messages.
type Operand struct {
	// At is the token that stands for it.
	At syntax.Span
	// Text is how it was written if it is a path, or "".
	Text string
	// Whole is all that is written of it, with parentheses of its own.
	Whole syntax.Span
}

// Written implements [Node].
func (o *Operand) Written() *Operand { return o }

// Wants is the error that user, an operator or a parameter, takes none of the kinds
// that it has. For nil it names what is absent and how to give a default.
func (o *Operand) Wants(user string, kinds, have value.Kind) *Error {
	switch {
	case have == value.Stamped:
		return o.At.Errorf("%s", value.ErrStamp.Message)
	case have == value.Nil:
		return o.absent("is", user, kinds, kinds)
	case o.Text == "" || have == value.Omission:
		return o.At.Errorf("%s wants %s, have %s", user, kinds, have).WithHint("%s", conversion("...", kinds, have))
	case kinds == value.Bool:
		return o.At.Errorf("%s wants %s, and %s is %s", user, kinds, o.Text, have).WithHint("%s", o.Truth(have, true, false))
	default:
		return o.At.Errorf("%s wants %s, and %s is %s", user, kinds, o.Text, have).WithHint("%s", conversion(o.Text, kinds, have))
	}
}

// MayBeNil is the error that user does not take nil, which the operand can be, beside the kinds that it has.
func (o *Operand) MayBeNil(user string, kinds, have value.Kind) *Error {
	if have&value.String != 0 || have&kinds == 0 { // A text may have to be one of a kind, such as a duration.
		have = kinds
	}
	return o.absent("may be", user, kinds, have&kinds)
}

// absent gives a default of some of the kinds that user wants.
func (o *Operand) absent(is, user string, kinds, defaults value.Kind) *Error {
	x := cmp.Or(o.Text, "x")
	err := o.At.Errorf("%s %s absent, and %s wants %s", cmp.Or(o.Text, "this"), is, user, kinds)
	// No default is harmless: a time in the past makes everything old, and the others refuse an empty text.
	if kinds&^(value.String|value.Nil) == value.Time || slices.Contains([]string{"fromJSON", "url", "cidrContains", "inWindow", "window"}, user) {
		return err.WithHint("ask first whether it is there: %[1]s != nil && ..., or for a value: %[1]s != nil ? ... : nil", x)
	}
	return err.WithHint("?? gives a default: (%s ?? %s)", x, example(defaults))
}

// conversion is a hint how to make what is wanted of what is there, or "".
func conversion(text string, wanted, kind value.Kind) string {
	switch {
	case wanted == value.String && kind&(value.Number|value.Bool|value.Computed) != 0:
		return "write string(" + text + ")"
	case wanted.Has(value.Number|value.Time) && kind == value.String:
		return "write int(" + text + "), or timestamp(...), duration(...) or quantity(...) for such a value"
	case wanted&value.Number != 0 && kind == value.String:
		return "write int(" + text + ")"
	case wanted == value.Int && kind == value.Float:
		return "write int(" + text + ") or round(" + text + ")"
	default:
		return ""
	}
}

// Truth is a hint what to ask of a value that is no boolean where one is wanted: whether there is something, or nothing where that is
// negated. It is "" where that is not known.
func (o *Operand) Truth(kind value.Kind, nilable, negated bool) string {
	is, zero := "!=", "0"
	if negated {
		is = "=="
	}
	switch {
	case o.Text == "" || kind == 0:
		return ""
	case kind&^(value.List|value.Map) == 0:
		return fmt.Sprintf("write len(%s) %s 0", o.Text, is)
	case kind == value.String:
		zero = `""`
	case kind&^value.Number != 0:
		return ""
	}
	if nilable {
		return fmt.Sprintf("write (%s ?? %s) %s %s", o.Text, zero, is, zero)
	}
	return fmt.Sprintf("write %s %s %s", o.Text, is, zero)
}

// example is a default that a hint can show.
func example(kinds value.Kind) string {
	switch {
	case kinds&value.String != 0 && kinds&value.Computed == 0, kinds.Has(value.Bool | value.String):
		return `""`
	case kinds&(value.Number|value.Quantity) != 0:
		return "0"
	case kinds&value.Duration != 0:
		return `"0s"`
	case kinds&value.Semver != 0:
		return `"0.0.0"`
	case kinds&value.Bool != 0:
		return "false"
	case kinds&value.List != 0:
		return "[]"
	default:
		return "{}"
	}
}

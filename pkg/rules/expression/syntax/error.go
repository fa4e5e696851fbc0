package syntax

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Error says what is wrong with an expression or its evaluation, and where.
type Error struct {
	// Offset and Length are the bytes of the source that Message is about. Length is
	// 0 where something is missing at the end of the source.
	Offset, Length int
	Message        string
	// Hint says what to write instead; it may be empty.
	Hint string
	// Code names the kind of the mistake for tools, where whoever found it told it from
	// others; package document lists them.
	Code  string
	cause error
}

// longestText bounds a message, and a hint: both repeat names and values, which are
// as long as their authors like.
const longestText = 800

func bounded(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "..."
}

// Error returns the message and the hint on one line.
func (e *Error) Error() string { return (&value.Fault{Message: e.Message, Hint: e.Hint}).Error() }

// Unwrap returns what led to the error, such as an exhausted budget, or nil.
func (e *Error) Unwrap() error { return e.cause }

// WithHint gives e, which it returns, a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = bounded(fmt.Sprintf(format, args...))
	return e
}

// Because gives e, which it returns, what led to it.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// Shift moves an error about an expression to where that is in a text.
func Shift(err error, offset int) error {
	if located, ok := errors.AsType[*Error](err); ok {
		return located.Shifted(offset)
	}
	return err
}

// Shifted returns e for a source that starts with offset more bytes.
func (e *Error) Shifted(offset int) *Error {
	moved := *e
	moved.Offset += offset
	return &moved
}

// Span is a piece of the source in bytes.
type Span struct{ Offset, Length int }

// End is the offset behind the span.
func (s Span) End() int { return s.Offset + s.Length }

// Errorf returns an error about the span.
func (s Span) Errorf(format string, args ...any) *Error {
	return &Error{Offset: s.Offset, Length: s.Length, Message: bounded(fmt.Sprintf(format, args...))}
}

// Locate gives err, if there is one, a place. What already has one keeps it.
func (s Span) Locate(err error) error {
	if err == nil {
		return nil
	}
	if _, located := errors.AsType[*Error](err); located {
		return err
	}
	if fault, ok := errors.AsType[*value.Fault](err); ok {
		return s.Errorf("%s", fault.Message).WithHint("%s", fault.Hint).Because(err)
	}
	return s.Errorf("%s", err.Error()).Because(err)
}

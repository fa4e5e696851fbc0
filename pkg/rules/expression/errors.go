package expression

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
	Hint  string
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
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Unwrap returns what [Names] or the budget reported, or nil.
func (e *Error) Unwrap() error { return e.cause }

// shifted returns e for a source that starts with offset more bytes.
func (e *Error) shifted(offset int) *Error {
	moved := *e
	moved.Offset += offset
	return &moved
}

func (e *Error) hint(format string, args ...any) *Error {
	e.Hint = bounded(fmt.Sprintf(format, args...))
	return e
}

// span is a piece of the source in bytes.
type span struct{ offset, length int }

func (s span) end() int { return s.offset + s.length }

func (s span) errorf(format string, args ...any) *Error {
	return &Error{Offset: s.offset, Length: s.length, Message: bounded(fmt.Sprintf(format, args...))}
}

// locate gives err, if there is one, a place. What already has one keeps it.
func (s span) locate(err error) error {
	if err == nil {
		return nil
	}
	if _, located := errors.AsType[*Error](err); located {
		return err
	}
	if fault, ok := errors.AsType[*value.Fault](err); ok {
		return &Error{Offset: s.offset, Length: s.length, Message: bounded(fault.Message), Hint: bounded(fault.Hint), cause: err}
	}
	return &Error{Offset: s.offset, Length: s.length, Message: bounded(err.Error()), cause: err}
}

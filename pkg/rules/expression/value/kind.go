package value

import (
	"fmt"
	"strings"
	"time"
)

// Kind is a set of kinds of values, so that it describes both what a value is
// and what a parameter takes.
type Kind uint32

// The kinds of values.
const (
	Nil Kind = 1 << iota
	Bool
	Int
	Float
	String
	List
	Map
	// Quantity is the kind of [Amount].
	Quantity
	// Semver is the kind of [Version].
	Semver
	// Duration is the kind of time.Duration.
	Duration
	// Time is the kind of time.Time.
	Time
	// Stamped is the kind of [Stamp].
	Stamped
	// Omission is the kind of [Omitted].
	Omission
	// Foreign is any Go value that is none of the above. It never comes from
	// Kubernetes, and no operation takes it.
	Foreign
)

const (
	// Number is an integer or a float.
	Number = Int | Float
	// Any is every value that Kubernetes can hold, nil included.
	Any = Nil | Bool | Number | String | List | Map
	// Computed is the kinds of values that only expressions have. A body holds the
	// text of such a value in its place.
	Computed = Quantity | Semver | Duration | Time
)

// Omitted is what omit() gives. Whoever lets values into a body removes it with
// [Strip].
type Omitted struct{}

// KindOf returns the one kind of v.
func KindOf(v any) Kind {
	switch v.(type) {
	case nil:
		return Nil
	case bool:
		return Bool
	case int64:
		return Int
	case float64:
		return Float
	case string:
		return String
	case []any:
		return List
	case map[string]any:
		return Map
	default:
		return kindBeyond(v)
	}
}

// kindBeyond knows the kinds that Kubernetes does not have.
func kindBeyond(v any) Kind {
	switch v.(type) {
	case Amount:
		return Quantity
	case Version:
		return Semver
	case time.Duration:
		return Duration
	case time.Time:
		return Time
	case Stamp:
		return Stamped
	case Omitted:
		return Omission
	default:
		return Foreign
	}
}

// Has reports whether k includes all of other.
func (k Kind) Has(other Kind) bool { return k&other == other }

// String names the set for a message, as "a number or a string". It leaves nil
// out of a larger set, because a parameter that also takes nil wants the rest,
// and all computed values together, because they are what one has least often.
func (k Kind) String() string {
	if k.Has(Any &^ Nil) {
		return "a value"
	}
	if k.Has(Computed) && k&Any != 0 {
		return (k &^ Computed).String()
	}
	var names []string
	add := func(one Kind, name string) {
		if k&one != 0 {
			names = append(names, name)
		}
	}
	if k == Nil {
		add(Nil, "nil")
	}
	add(Bool, "a boolean")
	if k.Has(Number) {
		names = append(names, "a number")
	} else {
		add(Int, "an integer")
		add(Float, "a float")
	}
	add(String, "a string")
	add(Quantity, "a quantity")
	add(Semver, "a version")
	add(Duration, "a duration")
	add(Time, "a time")
	add(List, "a list")
	add(Map, "a map")
	add(Stamped, "stamp()")
	add(Omission, "omit()")
	add(Foreign, "an unsupported value")
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Fault says why an operation has no result, and where possible what to write
// instead.
type Fault struct {
	Message string
	Hint    string
}

// Error returns the message and the hint on one line.
func (f *Fault) Error() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

// Faultf returns a Fault without a hint.
func Faultf(format string, args ...any) *Fault {
	return &Fault{Message: fmt.Sprintf(format, args...)}
}

// WithHint returns f with a hint.
func (f *Fault) WithHint(format string, args ...any) *Fault {
	return &Fault{Message: f.Message, Hint: fmt.Sprintf(format, args...)}
}

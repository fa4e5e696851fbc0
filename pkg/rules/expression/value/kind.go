package value

import (
	"fmt"
	"maps"
	"slices"
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

// Element returns an element of list, counted from the end where i is negative,
// or nil where there is none.
func Element(list []any, i int64) any {
	if i < 0 {
		i += int64(len(list))
	}
	if i < 0 || i >= int64(len(list)) {
		return nil
	}
	return list[i]
}

// Slice returns list[from:to], which must lie within it. Nobody can append to the
// result into the original, and it is never nil.
func Slice(list []any, from, to int) []any {
	if from >= to {
		return []any{}
	}
	return list[from:to:to]
}

// SortedKeys returns the keys of m in order.
func SortedKeys(m map[string]any, budget *Budget) ([]string, error) {
	if err := budget.Sort(len(m)); err != nil {
		return nil, err
	}
	if err := budget.List(len(m)); err != nil {
		return nil, err
	}
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys, nil
}

// Strip returns v as a body holds it: without the entries and elements that are
// [Omitted], at any depth, and with the texts of computed values. v itself may be
// Omitted, which is for the caller to act on, and a [Stamp] stays. What need not
// change is not copied. It spends what v costs once it is encoded, shared parts each
// time, so that whoever does that is bounded too.
func Strip(v any, budget *Budget) (any, error) {
	s := stripper{budget: budget}
	return s.value(v, 0)
}

type stripper struct {
	budget *Budget
	// changes counts the values that are written differently.
	changes int
}

func (s *stripper) value(v any, depth int) (any, error) {
	if depth > Depth {
		return nil, errDepth
	}
	switch v := v.(type) {
	case []any:
		return s.list(v, depth)
	case map[string]any:
		return s.mapping(v, depth)
	case string:
		return v, s.budget.Encoded(1, len(v))
	case nil, bool, int64, float64, Omitted, Stamp:
		return v, s.budget.Bytes(sizeOfNumber)
	case Amount, Version, time.Duration, time.Time:
		s.changes++
		return boxed(written(v, s.budget))
	default:
		return nil, Faultf("a value of type %T cannot be written", v)
	}
}

func (s *stripper) list(list []any, depth int) (any, error) {
	if err := s.budget.Encoded(len(list), 0); err != nil {
		return nil, err
	}
	var kept []any // Nil as long as nothing has changed.
	for i, element := range list {
		before := s.changes
		below, err := s.value(element, depth+1)
		if err != nil {
			return nil, err
		}
		if below == any(Omitted{}) {
			s.changes++
		}
		if kept == nil && s.changes > before {
			if err := s.budget.List(len(list)); err != nil {
				return nil, err
			}
			kept = append(make([]any, 0, len(list)), list[:i]...)
		}
		if kept != nil && below != any(Omitted{}) {
			kept = append(kept, below)
		}
	}
	if kept == nil {
		return list, nil
	}
	return kept, nil
}

func (s *stripper) mapping(m map[string]any, depth int) (any, error) {
	if err := s.budget.Encoded(2*len(m), 0); err != nil {
		return nil, err
	}
	var kept map[string]any // Nil as long as nothing has changed.
	for key, element := range m {
		if err := s.budget.Encoded(0, len(key)); err != nil {
			return nil, err
		}
		before := s.changes
		below, err := s.value(element, depth+1)
		if err != nil {
			return nil, err
		}
		if below == any(Omitted{}) {
			s.changes++
		}
		if s.changes == before {
			continue
		}
		if kept == nil {
			if err := s.budget.Map(len(m)); err != nil {
				return nil, err
			}
			kept = maps.Clone(m)
		}
		if below == any(Omitted{}) {
			delete(kept, key)
		} else {
			kept[key] = below
		}
	}
	if kept == nil {
		return m, nil
	}
	return kept, nil
}

// written returns the text of a computed value.
func written(v any, budget *Budget) (string, error) {
	if err := budget.Conversion(); err != nil {
		return "", err
	}
	text, ok := Text(v)
	if !ok {
		return "", errYear // Of the computed values only a time can have no text.
	}
	return text, nil
}

package value

import (
	"errors"
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

// Omitted is what omit() gives. It is never within a value; see [Append].
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

// named is what messages call a kind, and what type() does.
type named struct {
	kind          Kind
	article, name string
}

var names = []named{
	{Nil, "nil", "nil"},
	{Bool, "a boolean", "bool"},
	{Number, "a number", ""},
	{Int, "an integer", "int"},
	{Float, "a float", "float"},
	{String, "a string", "string"},
	{Quantity, "a quantity", "quantity"},
	{Semver, "a version", "semver"},
	{Duration, "a duration", "duration"},
	{Time, "a time", "time"},
	{List, "a list", "array"},
	{Map, "a map", "map"},
	{Stamped, "stamp()", ""},
	{Omission, "omit()", ""},
	{Foreign, "an unsupported value", ""},
}

// Name is what type() calls one kind.
func (k Kind) Name() string {
	return names[slices.IndexFunc(names, func(n named) bool { return n.kind == k })].name
}

// String names the set for a message, as "a number or a string". It leaves nil
// out of a larger set, because a parameter that also takes nil wants the rest,
// and all computed values together, because they are what one has least often.
func (k Kind) String() string {
	left := k
	switch {
	case k.Has(Any &^ Nil):
		return "a value"
	case k.Has(Computed) && k&Any != 0:
		left &^= Computed
	}
	if left != Nil {
		left &^= Nil
	}
	var texts []string
	for _, row := range names {
		if left.Has(row.kind) {
			texts = append(texts, row.article)
			left &^= row.kind
		}
	}
	return Either(texts)
}

// Either lists what there is to choose from: "a, b or c".
func Either(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
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

// Must ends a computation with an error, up to the [Catch] that is deferred above it.
// Most of what evaluates a function can run out of its budget, and none of it goes on
// then. No exported function of this package or of package function panics.
func Must(err error) {
	if err != nil {
		panic(thrown{err})
	}
}

// Got is [Must] for the error that came with v.
func Got[T any](v T, err error) T {
	Must(err)
	return v
}

type thrown struct{ error }

// Catch is deferred by what calls [Must], and sets the error that it returns.
func Catch(err *error) {
	switch r := recover().(type) { //nolint:revive // Catch is what is deferred.
	case nil:
	case thrown:
		*err = r.error
	default:
		panic(r)
	}
}

// Append appends v to a list that an expression makes, and Put enters it into such a map,
// unless it is [Omitted]: no value holds that.
func Append(list []any, v any) []any {
	if v == any(Omitted{}) {
		return list
	}
	return append(list, v)
}

// Put is [Append] for a map.
func Put(m map[string]any, key string, v any) {
	if v != any(Omitted{}) {
		m[key] = v
	}
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
	if err := errors.Join(budget.Sort(len(m)), budget.List(len(m))); err != nil {
		return nil, err
	}
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys, nil
}

// Strip returns v as a body holds it: with the texts of computed values, at any depth.
// v itself may be [Omitted], which is for the caller to act on, and a [Stamp] stays.
// What need not change is not copied. It spends what v costs once it is encoded,
// shared parts each time, so that whoever does that is bounded too.
func Strip(v any, budget *Budget) (stripped any, err error) {
	defer Catch(&err)
	stripped, _ = strip(v, budget, 0)
	return stripped, nil
}

func strip(v any, budget *Budget, depth int) (stripped any, changed bool) {
	if depth > Depth {
		Must(errDepth)
	}
	switch x := v.(type) {
	case []any:
		if kept, changed := stripList(x, budget, depth); changed {
			return kept, true
		}
	case map[string]any:
		if kept, changed := stripMap(x, budget, depth); changed {
			return kept, true
		}
	case string:
		Must(budget.Encoded(1, len(x)))
	case nil, bool, int64, float64, Omitted, Stamp:
		Must(budget.Bytes(sizeOfNumber))
	case Amount, Version, time.Duration, time.Time:
		return written(v, budget), true
	default:
		Must(Faultf("a value of type %T cannot be written", v))
	}
	return v, false
}

func stripList(list []any, budget *Budget, depth int) (kept []any, changed bool) {
	Must(budget.Encoded(len(list), 0))
	for i, element := range list {
		below, other := strip(element, budget, depth+1)
		if other && !changed {
			Must(budget.List(len(list)))
			kept, changed = slices.Clone(list), true
		}
		if other {
			kept[i] = below
		}
	}
	return kept, changed
}

func stripMap(m map[string]any, budget *Budget, depth int) (kept map[string]any, changed bool) {
	Must(budget.Encoded(2*len(m), 0))
	for key, element := range m {
		Must(budget.Encoded(0, len(key)))
		below, other := strip(element, budget, depth+1)
		if other && !changed {
			Must(budget.Map(len(m)))
			kept, changed = maps.Clone(m), true
		}
		if other {
			kept[key] = below
		}
	}
	return kept, changed
}

// written returns the text of a computed value.
func written(v any, budget *Budget) string {
	Must(budget.Conversion())
	text, ok := Text(v)
	if !ok {
		Must(errYear) // Of the computed values only a time can have no text.
	}
	return text
}

package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Violation is why the API server would refuse a value.
type Violation struct {
	// Path leads to the mistake: the keys of maps, and the indexes of lists as int.
	// The last of it is the unknown field, or the map that a field is missing from.
	Path    []any
	Code    document.Code
	Message string
	Hint    string
	// Field is the one that is missing, or that an unknown one most likely means; "" for
	// neither.
	Field string
}

// Writing says what becomes of what is there when a value is written.
type Writing uint8

// The ways of writing.
const (
	// Whole is a new object: what is not given is not there.
	Whole Writing = iota
	// Merged is a patch by RFC 7386: maps are laid over what is there, null removes a
	// field, lists are replaced.
	Merged
	// Applied is server-side apply of some fields: as Merged, but lists are merged too
	// where their type says how, atomic maps are replaced, and null is nothing.
	Applied
)

// Unknown stands in a value for what only an evaluation knows, such as a template.
// It fits everywhere, and may turn out to be absent.
type Unknown struct{}

// MarshalJSON returns an error: nobody may take it for a value.
func (Unknown) MarshalJSON() ([]byte, error) { return nil, errUnknown }

var errUnknown = errors.New("the value is not known")

// SomeKeys is the key of an [Unknown] in a map that may have further keys, which
// only an evaluation knows.
const SomeKeys = "\x00keys"

// mostViolations is more than anybody reads.
const mostViolations = 50

// Validate returns what the API server would find wrong with a value of JSON, nil
// where that is nothing. What is beyond its means, such as a pattern that takes
// long to match, it takes for right.
func (t *Type) Validate(v any, how Writing) []Violation {
	c := validation{how: how, steps: mostSteps, budget: value.NewBudget(0)}
	c.value(t, v, how != Whole)
	return c.found
}

// ValidatePath returns what is wrong with a path of keys, whatever is below it: a field
// that there is not.
func (t *Type) ValidatePath(path ...string) []Violation {
	var draft any = Unknown{}
	for _, key := range slices.Backward(path) {
		draft = map[string]any{key: draft}
	}
	return t.Validate(draft, Merged)
}

// validation is one walk over a value.
type validation struct {
	how      Writing
	path     []any
	found    []Violation
	steps    int // that matching patterns may still take
	patterns map[string]*pattern
	budget   *value.Budget
}

// value compares a value with its type. One that is merged is laid over what is
// there, so it may lack anything.
func (c *validation) value(t *Type, v any, merged bool) {
	kind := value.KindOf(v)
	if !t.Known() || t.Kinds == 0 || kind&value.Any == 0 || c.full() {
		return
	}
	if !t.takes(v, kind) {
		c.report(document.CodeTypeMismatch, fmt.Sprintf("want %s, have %s", t.Kinds, kind), t.conversion(v, kind))
		return
	}
	if c.enumerated(t, v) {
		c.content(t, v, merged)
	}
}

// content compares what a value of the right kind holds.
func (c *validation) content(t *Type, v any, merged bool) {
	switch v := v.(type) {
	case map[string]any:
		if t.Map != nil {
			c.fields(t, v, merged && (c.how == Merged || !t.Map.Atomic))
		}
	case []any:
		if t.List != nil {
			c.list(t, v, merged)
		}
	case string:
		c.text(t, v)
	case int64, float64:
		c.number(t, v)
	}
}

// takes reports whether the kind of a value is right. Of numbers JSON knows only
// one kind: 3.0 is an integer.
func (t *Type) takes(v any, kind value.Kind) bool {
	switch {
	case t.Kinds&kind != 0:
		return true
	case kind == value.Int:
		return t.Kinds&value.Float != 0
	case kind == value.Float:
		f, _ := v.(float64)
		_, whole := wholeNumber(f)
		return whole && t.Kinds&value.Int != 0
	default:
		return false
	}
}

// wholeNumber returns the integer that a float equals.
func wholeNumber(f float64) (i int64, ok bool) {
	if f != math.Trunc(f) || f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, false
	}
	return int64(f), true
}

// conversion is a hint how to write a value of another kind, or "".
func (t *Type) conversion(v any, kind value.Kind) string {
	text, _ := value.Text(v)
	wanted := t.Kinds &^ value.Nil
	switch {
	case wanted&(value.String|value.Map) == value.String && kind&(value.Number|value.Bool) != 0:
		return fmt.Sprintf("put it in quotes: %q", text)
	case wanted&value.String == 0 && kind == value.String && t.hasText(text):
		return "leave the quotes out: " + text
	case wanted == value.Int && kind == value.Float:
		return "write it without a fraction"
	case wanted == value.List && t.Items() != nil && t.Items().Kinds&kind != 0:
		return `write "- " before each element, or [a, b]`
	default:
		return ""
	}
}

// hasText reports whether a text would be right if it were not one.
func (t *Type) hasText(text string) bool {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return t.Kinds&value.Number != 0
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return t.Kinds&value.Float != 0
	}
	return t.Kinds&value.Bool != 0 && (text == "true" || text == "false")
}

// report adds a mistake at the place where the walk is.
func (c *validation) report(code document.Code, message, hint string) {
	c.add(Violation{Code: code, Message: message, Hint: hint})
}

func (c *validation) add(v Violation) {
	if !c.full() {
		v.Path = slices.Clone(c.path)
		c.found = append(c.found, v)
	}
}

func (c *validation) full() bool { return len(c.found) >= mostViolations }

// within walks on below a key or an index.
func (c *validation) within(step any, walk func()) {
	c.path = append(c.path, step)
	walk()
	c.path = c.path[:len(c.path)-1]
}

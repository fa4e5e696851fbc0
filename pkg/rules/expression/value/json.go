package value

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"golang.org/x/mod/semver"
)

// JSON returns v as compact JSON with sorted keys, so that equal values give
// equal texts. Computed values are strings there, in their canonical form.
func JSON(v any, budget *Budget) (string, error) {
	e := encoder{budget: budget}
	err := e.value(v, 0)
	return string(e.text), err
}

// Identity returns a text that equal values have and no others.
func Identity(v any, budget *Budget) (string, error) {
	e := encoder{budget: budget, tagged: true}
	err := e.value(v, 0)
	return string(e.text), err
}

// encoder writes a value as JSON or, tagged, as what is like JSON but tells a
// computed value from the string that it would be.
type encoder struct {
	text   []byte
	budget *Budget
	tagged bool
}

func (e *encoder) value(v any, depth int) error {
	if depth > Depth {
		return errDepth
	}
	if err := e.budget.Steps(2); err != nil {
		return err
	}
	// Growing by doubling and the copy into a string cost three times the text.
	if err := e.budget.Bytes(3 * scalarSize(v)); err != nil {
		return err
	}
	switch v := v.(type) {
	case []any:
		return e.list(v, depth)
	case map[string]any:
		return e.mapping(v, depth)
	default:
		return e.scalar(v)
	}
}

func (e *encoder) scalar(v any) error {
	switch v := v.(type) {
	case nil:
		e.text = append(e.text, "null"...)
	case bool:
		e.text = strconv.AppendBool(e.text, v)
	case int64:
		e.text = strconv.AppendInt(e.text, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Faultf("JSON has no number for %v", v)
		}
		e.text = appendFloat(e.text, v)
	case string:
		e.text = appendQuoted(e.text, v)
	case Omitted:
		return Faultf("omit() has no JSON form")
	case Stamp:
		return ErrStamp
	case Amount, Version, time.Duration, time.Time:
		return e.computed(v)
	default:
		return Faultf("a value of type %T has no JSON form", v)
	}
	return nil
}

func (e *encoder) computed(v any) error {
	if e.tagged {
		e.text = appendIdentity(e.text, v)
		return nil
	}
	text, err := written(v, e.budget)
	e.text = appendQuoted(e.text, text)
	return err
}

// appendIdentity writes what [Compare] looks at.
func appendIdentity(text []byte, v any) []byte {
	switch v := v.(type) {
	case Amount:
		return fmt.Appendf(text, "quantity(%d,%d)", v.high, v.low)
	case Version:
		return fmt.Appendf(text, "semver(%s)", semver.Canonical(v.canonical()))
	case time.Time:
		return fmt.Appendf(text, "time(%d,%d)", v.Unix(), v.Nanosecond())
	default:
		return fmt.Appendf(text, "duration(%d)", v)
	}
}

func (e *encoder) list(list []any, depth int) error {
	e.text = append(e.text, '[')
	for i, element := range list {
		if i > 0 {
			e.text = append(e.text, ',')
		}
		if err := e.value(element, depth+1); err != nil {
			return err
		}
	}
	e.text = append(e.text, ']')
	return nil
}

func (e *encoder) mapping(m map[string]any, depth int) error {
	keys, err := SortedKeys(m, e.budget)
	if err != nil {
		return err
	}
	e.text = append(e.text, '{')
	for i, key := range keys {
		if i > 0 {
			e.text = append(e.text, ',')
		}
		if err := e.budget.Bytes(3 * scalarSize(key)); err != nil {
			return err
		}
		e.text = append(appendQuoted(e.text, key), ':')
		if err := e.value(m[key], depth+1); err != nil {
			return err
		}
	}
	e.text = append(e.text, '}')
	return nil
}

// scalarSize is about how many bytes v adds to a text, brackets for a container.
// A control character takes six.
func scalarSize(v any) int {
	s, ok := v.(string)
	if !ok {
		return 8
	}
	n := len(s) + 3
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			n += 5
		}
	}
	return n
}

package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
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

// MostIndent is how many spaces [IndentedJSON] puts before a level at most.
const MostIndent = 8

// IndentedJSON is [JSON] with an element or an entry in each line, indented by so many spaces for each level, as people write it.
func IndentedJSON(v any, indent int64, budget *Budget) (string, error) {
	if indent < 1 || indent > MostIndent {
		return "", Faultf("an indent is 1 to %d spaces, have %d", MostIndent, indent)
	}
	e := encoder{budget: budget, indent: int(indent)}
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
	indent int // 0 for compact text
}

// line begins a line at a depth.
func (e *encoder) line(depth int) error {
	if e.indent == 0 {
		return nil
	}
	if err := e.budget.Bytes(3 * (1 + e.indent*depth)); err != nil {
		return err
	}
	e.text = append(append(e.text, '\n'), strings.Repeat(" ", e.indent*depth)...)
	return nil
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
		if err := e.line(depth + 1); err != nil {
			return err
		}
		if err := e.value(element, depth+1); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		if err := e.line(depth); err != nil {
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
		if err := e.line(depth + 1); err != nil {
			return err
		}
		e.text = append(appendQuoted(e.text, key), ':')
		if e.indent > 0 {
			e.text = append(e.text, ' ')
		}
		if err := e.value(m[key], depth+1); err != nil {
			return err
		}
	}
	if len(keys) > 0 {
		if err := e.line(depth); err != nil {
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

// ParseJSON returns the value that text holds. A number written as an integer
// stays one, and is an error beyond 64 bits.
func ParseJSON(text string, budget *Budget) (any, error) {
	// The decoder keeps a copy of what it has not yet read.
	if err := budget.Text(2 * len(text)); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	reader := jsonReader{decoder: decoder, budget: budget}
	v, err := reader.value(0)
	if err != nil {
		return nil, wording(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, Faultf("invalid JSON: more follows the first value")
	}
	return v, nil
}

// wording keeps what the budget and this package say and rewords the decoder.
func wording(err error) error {
	var fault *Fault
	switch {
	case errors.As(err, &fault), errors.Is(err, ErrBudget):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Faultf("invalid JSON: it ends too early")
	default:
		return Faultf("invalid JSON: %v", err)
	}
}

// jsonReader decodes token by token, because decoding in one go could allocate
// forty times the text before anybody counts.
type jsonReader struct {
	decoder *json.Decoder
	budget  *Budget
}

func (r jsonReader) value(depth int) (any, error) {
	if depth > Depth {
		return nil, errDepth
	}
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	// A token costs the decoder far more than its element later does.
	if err := r.budget.Steps(8); err != nil {
		return nil, err
	}
	if err := r.budget.Bytes(3 * sizeOfElement); err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return r.list(depth)
		}
		return r.object(depth)
	case json.Number:
		return parseNumber(string(token))
	default:
		return token, nil
	}
}

func (r jsonReader) list(depth int) (any, error) {
	list := []any{}
	for r.decoder.More() {
		if err := r.budget.Bytes(2 * sizeOfElement); err != nil {
			return nil, err
		}
		element, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	_, err := r.decoder.Token()
	return list, err
}

func (r jsonReader) object(depth int) (any, error) {
	if err := r.budget.Map(0); err != nil {
		return nil, err
	}
	m := map[string]any{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // The decoder refuses any other key.
		if err := r.budget.Bytes(2 * sizeOfEntry); err != nil {
			return nil, err
		}
		element, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		m[key] = element
	}
	_, err := r.decoder.Token()
	return m, err
}

func parseNumber(text string) (any, error) {
	if !strings.ContainsAny(text, ".eE") {
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, Faultf("%s does not fit a 64-bit integer", text)
		}
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, Faultf("%s does not fit a float", text)
	}
	return f, nil
}

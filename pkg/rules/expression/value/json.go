package value

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// JSON returns v as compact JSON with sorted keys, so that equal values give
// equal texts.
func JSON(v any, budget *Budget) (string, error) {
	text, err := appendJSON(nil, v, budget, 0)
	return string(text), err
}

func appendJSON(text []byte, v any, budget *Budget, depth int) ([]byte, error) {
	if depth > Depth {
		return nil, errDepth
	}
	if err := budget.Steps(2); err != nil {
		return nil, err
	}
	// Growing by doubling and the copy into a string cost three times the text.
	if err := budget.Bytes(3 * scalarSize(v)); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []any:
		return appendList(text, v, budget, depth)
	case map[string]any:
		return appendMap(text, v, budget, depth)
	default:
		return appendScalar(text, v)
	}
}

func appendScalar(text []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(text, "null"...), nil
	case bool:
		return strconv.AppendBool(text, v), nil
	case int64:
		return strconv.AppendInt(text, v, 10), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, Faultf("JSON has no number for %v", v)
		}
		return appendFloat(text, v), nil
	case string:
		return appendQuoted(text, v), nil
	case Omitted:
		return nil, Faultf("omit() has no JSON form")
	default:
		return nil, Faultf("a value of type %T has no JSON form", v)
	}
}

func appendList(text []byte, list []any, budget *Budget, depth int) ([]byte, error) {
	var err error
	text = append(text, '[')
	for i, element := range list {
		if i > 0 {
			text = append(text, ',')
		}
		if text, err = appendJSON(text, element, budget, depth+1); err != nil {
			return nil, err
		}
	}
	return append(text, ']'), nil
}

func appendMap(text []byte, m map[string]any, budget *Budget, depth int) ([]byte, error) {
	keys, err := SortedKeys(m, budget)
	if err != nil {
		return nil, err
	}
	text = append(text, '{')
	for i, key := range keys {
		if i > 0 {
			text = append(text, ',')
		}
		if err := budget.Bytes(3 * scalarSize(key)); err != nil {
			return nil, err
		}
		text = append(appendQuoted(text, key), ':')
		if text, err = appendJSON(text, m[key], budget, depth+1); err != nil {
			return nil, err
		}
	}
	return append(text, '}'), nil
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

package value

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

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

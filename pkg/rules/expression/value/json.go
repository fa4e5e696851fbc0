package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

// JSON returns v as compact JSON with sorted keys, so that equal values give
// equal texts. Computed values are strings there, in their canonical form.
func JSON(v any, budget *Budget) (string, error) { return (&encoder{budget: budget}).encode(v) }

// MostIndent is how many spaces [IndentedJSON] puts before a level at most.
const MostIndent = 8

// IndentedJSON is [JSON] with an element or an entry in each line, indented by so many spaces for each level, as people write it.
func IndentedJSON(v any, indent int64, budget *Budget) (string, error) {
	if indent < 1 || indent > MostIndent {
		return "", Faultf("an indent is 1 to %d spaces, have %d", MostIndent, indent)
	}
	text, err := (&encoder{budget: budget, indent: int(indent)}).encode(v)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = json.Indent(&out, []byte(text), "", strings.Repeat(" ", int(indent)))
	return out.String(), err
}

// YAML returns v as YAML, laid out as kubectl does and with sorted keys. Readers of any version of YAML make an equal value of it: what
// one of them could take for something else is in quotes.
func YAML(v any, budget *Budget) (string, error) {
	const stepsPerNode, bytesPerNode, stepsPerByte, bytesPerByte, ofEncoder = 100, 450, 3, 4, 20
	e := &encoder{budget: budget, indent: 2, nodes: ofEncoder}
	text, err := e.encode(v)
	if err == nil {
		err = budget.Spend(e.nodes*stepsPerNode+len(text)*stepsPerByte, e.nodes*bytesPerNode+len(text)*bytesPerByte)
	}
	if err != nil {
		return "", err
	}
	out, err := compare.YAML(json.RawMessage(text))
	return string(out), err //nolint:wrapcheck // What is JSON has a form in YAML.
}

// Identity returns a text that equal values have and no others.
func Identity(v any, budget *Budget) (string, error) {
	return (&encoder{budget: budget, tagged: true}).encode(v)
}

// encoder writes a value as JSON or, tagged, as what is like JSON but tells a
// computed value from the string that it would be.
type encoder struct {
	text   []byte
	budget *Budget
	tagged bool
	indent int // what each line will be indented by, for each level
	nodes  int // the values and keys that are written
}

func (e *encoder) encode(v any) (text string, err error) {
	defer Catch(&err)
	e.value(v, 0)
	return string(e.text), nil
}

func (e *encoder) value(v any, depth int) {
	if depth > Depth {
		Must(errDepth)
	}
	Must(e.budget.Steps(2))
	e.nodes++
	// Growing by doubling and the copy into a string cost three times the text.
	Must(e.budget.Bytes(3 * scalarSize(v)))
	if e.indent > 0 { // The value has a line, and so may the bracket that closes it. In YAML a text has its own lines.
		text, _ := v.(string)
		Must(e.budget.Bytes(4 * (scalarSize(v) + (2+strings.Count(text, "\n"))*e.indent*depth)))
	}
	switch v := v.(type) {
	case []any:
		e.text = append(e.text, '[')
		for i, element := range v {
			if i > 0 {
				e.text = append(e.text, ',')
			}
			e.value(element, depth+1)
		}
		e.text = append(e.text, ']')
	case map[string]any:
		e.text = append(e.text, '{')
		for i, key := range Got(SortedKeys(v, e.budget)) {
			Must(e.budget.Bytes(7 * scalarSize(key)))
			e.nodes++
			if i > 0 {
				e.text = append(e.text, ',')
			}
			e.text = append(appendQuoted(e.text, key), ':')
			e.value(v[key], depth+1)
		}
		e.text = append(e.text, '}')
	case nil:
		e.text = append(e.text, "null"...)
	case string:
		e.text = appendQuoted(e.text, v)
	case bool, int64, float64:
		text, ok := Text(v)
		if !ok {
			Must(Faultf("JSON has no number for %v", v))
		}
		e.text = append(e.text, text...)
	case Amount, Version, time.Duration, time.Time:
		if e.tagged {
			e.text = appendIdentity(e.text, v)
		} else {
			e.text = appendQuoted(e.text, written(v, e.budget))
		}
	case Stamp:
		Must(ErrStamp)
	default:
		Must(Faultf("%s has no JSON form", KindOf(v)))
	}
}

// appendIdentity writes what [Compare] looks at.
func appendIdentity(text []byte, v any) []byte {
	switch v := v.(type) {
	case Amount:
		return fmt.Appendf(text, "quantity(%s)", v.identity())
	case Version:
		return fmt.Appendf(text, "semver(%s)", semver.Canonical(v.canonical()))
	case time.Time:
		return fmt.Appendf(text, "time(%d,%d)", v.Unix(), v.Nanosecond())
	default:
		return fmt.Appendf(text, "duration(%d)", v)
	}
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
func ParseJSON(text string, budget *Budget) (v any, err error) {
	defer Catch(&err)
	// The decoder keeps a copy of what it has not yet read.
	Must(budget.Text(2 * len(text)))
	r := jsonReader{decoder: json.NewDecoder(strings.NewReader(text)), budget: budget}
	r.decoder.UseNumber()
	v = r.value(0)
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, Faultf("invalid JSON: more follows the first value")
	}
	return v, nil
}

// jsonReader decodes token by token, because decoding in one go could allocate
// forty times the text before anybody counts.
type jsonReader struct {
	decoder *json.Decoder
	budget  *Budget
}

func (r jsonReader) token() json.Token {
	token, err := r.decoder.Token()
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		Must(Faultf("invalid JSON: it ends too early"))
	default:
		Must(Faultf("invalid JSON: %v", err))
	}
	return token
}

func (r jsonReader) value(depth int) any {
	if depth > Depth {
		Must(errDepth)
	}
	token := r.token()
	// A token costs the decoder far more than its element later does.
	Must(r.budget.Steps(8))
	Must(r.budget.Bytes(3 * sizeOfElement))
	switch token {
	case json.Delim('['):
		list := []any{}
		for r.decoder.More() {
			Must(r.budget.Bytes(2 * sizeOfElement))
			list = append(list, r.value(depth+1))
		}
		r.token()
		return list
	case json.Delim('{'):
		Must(r.budget.Map(0))
		m := map[string]any{}
		for r.decoder.More() {
			key, _ := r.token().(string) // The decoder refuses any other key.
			Must(r.budget.Bytes(2 * sizeOfEntry))
			m[key] = r.value(depth + 1)
		}
		r.token()
		return m
	}
	if number, ok := token.(json.Number); ok {
		return Got(parseNumber(string(number)))
	}
	return token
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

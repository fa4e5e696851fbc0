package generate

import (
	"fmt"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// YAML writes a map or a list, with the types of JSON and int64 for integers, in random styles that all mean the same:
// blocks and brackets, plain and quoted, literal and folded text, comments and empty lines in between.
func YAML(t *rapid.T, value any) string {
	w := &writer{t: t}
	w.block(value, 0)
	return strings.TrimPrefix(w.out.String(), "\n") + "\n"
}

type writer struct {
	t   *rapid.T
	out strings.Builder
	// kept says that empty lines would be part of the text before.
	kept bool
}

// place is where a value is written: so deep, of which so much below what it belongs to.
type place struct {
	indent, step int
	flow         bool
}

func (p place) pad() string { return strings.Repeat(" ", p.indent) }

// value writes a value behind the key or dash that it belongs to.
func (w *writer) value(value any, p place) {
	if length, collection := lengthOf(value); !collection {
		w.out.WriteString(" " + w.scalar(value, p))
	} else if p.flow || length == 0 || Chance(w.t, 30) {
		w.out.WriteString(" ")
		w.brackets(value, place{indent: p.indent + 1, flow: true})
	} else {
		w.block(value, p.indent)
	}
}

func lengthOf(value any) (length int, collection bool) {
	switch value := value.(type) {
	case map[string]any:
		return len(value), true
	case []any:
		return len(value), true
	default:
		return 0, false
	}
}

func (w *writer) block(value any, indent int) {
	below := place{step: Of(w.t, 2, 1, 4)}
	below.indent = indent + below.step
	if list, ok := value.([]any); ok {
		for _, element := range list {
			w.newLine(indent)
			w.out.WriteString("-")
			w.value(element, below)
		}
		return
	}
	m, _ := value.(map[string]any)
	for _, key := range sortedKeys(m) {
		w.newLine(indent)
		w.out.WriteString(w.key(key, false) + ":")
		w.value(m[key], below)
	}
}

func (w *writer) newLine(indent int) {
	if !w.kept && Chance(w.t, 5) {
		w.out.WriteString(Of(w.t, "\n", "\n# a comment", "\n\n"))
	}
	w.kept = false
	w.out.WriteString("\n" + strings.Repeat(" ", indent))
}

func (w *writer) brackets(value any, p place) {
	next := func(i int) {
		if i > 0 {
			w.out.WriteString(",")
		}
		if Chance(w.t, 10) {
			w.out.WriteString("\n" + p.pad())
		}
	}
	if list, ok := value.([]any); ok {
		w.out.WriteString("[")
		for i, element := range list {
			next(i)
			w.value(element, p)
		}
		w.out.WriteString("]")
		return
	}
	m, _ := value.(map[string]any)
	w.out.WriteString("{")
	for i, key := range sortedKeys(m) {
		next(i)
		w.out.WriteString(" " + w.key(key, true) + ":")
		w.value(m[key], p)
	}
	w.out.WriteString("}")
}

func (w *writer) key(text string, flow bool) string {
	if isPlain(text, flow) && Chance(w.t, 80) {
		return text
	}
	return w.doubleQuoted(text)
}

func (w *writer) scalar(value any, p place) string {
	switch value := value.(type) {
	case nil:
		return Of(w.t, "null", "~", "Null")
	case bool:
		return strconv.FormatBool(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		const enough = 3
		return strconv.FormatFloat(value, 'f', enough, 64)
	default:
		return w.text(fmt.Sprint(value), p)
	}
}
